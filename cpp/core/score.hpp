// Log-scores of dense rows under every class: sums over cells.
#pragma once

#include <cstddef>
#include <optional>

#include "findings.hpp"
#include "table.hpp"

namespace candide {

// scores[r, c] = base[c] + sum over columns j of weights[c, j] * cell, where cell is the value or, with a threshold,
// 1 if it lies above. A missing cell (NaN) adds absent[c, j] instead (null: nothing). scores: (n_rows, n_classes).
Findings linear_scores(const Table& table, const double* weights, const double* base, const double* absent,
                       std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores);

// scores[r, c] = base[c] - sum over j of precision[c, j] * (x - mean[c, j])^2; a missing cell subtracts
// constant[c, j] instead, the share of the base that belongs to it.
Findings quadratic_scores(const Table& table, const double* precision, const double* mean, const double* constant,
                          const double* base, std::size_t n_classes, int n_threads, double* scores);

// Student's t, each table (n_classes, n_columns).
struct StudentTable {
    const double* location;
    const double* spread;
    const double* power;
    const double* constant;
};

// scores[r, c] = base[c] - sum over j of power * log(1 + spread * (x - location)^2); a missing cell subtracts the
// constant instead, the share of the base that belongs to it.
Findings student_scores(const Table& table, const StudentTable& student, const double* base, std::size_t n_classes,
                        int n_threads, double* scores);

}  // namespace candide
