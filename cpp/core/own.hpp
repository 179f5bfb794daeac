// Scores of rows under their own class alone, at the cost of one class; where totals contain the row, without it.
// Tables are (n_classes, n_columns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "findings.hpp"
#include "members.hpp"
#include "rows.hpp"

namespace candide {

// The linear score (score.hpp).
template <class Data>
Findings own_linear_scores(const Members<Data>& members, const double* weights, const double* base,
                           const double* absent, std::optional<double> threshold, int n_threads, double* scores);

// A total from which a row is taken that leaves no more than this part of it has become 0.
inline constexpr double kRest = 1e-12;

// Sums of x * log(part - weight * x), of the x whose logarithm is that of 0, and of all x.
struct LogSum {
    double sum, zeros, cells;
};

// Of one row; `part` is read in whole packs.
LogSum log_sum_row(const double* x, const double* part, double weight, std::size_t n);

// sums[r] = sum over columns of x * log(part - weight * x); cells whose logarithm is that of 0 are added to zeros[r]
// instead. cells[r] is the sum of the row. Missing cells say nothing.
template <class Data>
Findings own_log_sums(const Members<Data>& members, const double* part, int n_threads, double* sums, double* zeros,
                      double* cells);

}  // namespace candide
