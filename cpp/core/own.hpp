// Scores of rows under their own class alone, at the cost of one class; where totals contain the row, without it.
// Tables are (n_classes, n_columns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "findings.hpp"
#include "members.hpp"
#include "rows.hpp"
#include "totals.hpp"

namespace candide {

// The linear score (score.hpp).
template <class Data>
Findings own_linear_scores(const Members<Data>& members, const double* weights, const double* base,
                           const double* absent, std::optional<double> threshold, int n_threads, double* scores);

// Sums of x * log(count - weight * x + pseudo), of the x whose logarithm is that of 0, and of all x.
struct LogSum {
    double sum, zeros, cells;
};

// Of one row and the totals beside it.
LogSum log_sum_row(const double* x, const Totals& own, double weight, std::size_t n);

// sums[r] = sum over columns of x * log(count - weight * x + pseudo); cells whose logarithm is that of 0 are added to
// zeros[r] instead. cells[r] is the sum of the row. Missing cells say nothing.
template <class Data>
Findings own_log_sums(const Members<Data>& members, const Totals& totals, int n_threads, double* sums, double* zeros,
                      double* cells);

}  // namespace candide
