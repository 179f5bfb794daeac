// Weighted sums of the cells of dense rows per class and column: the statistic of all count models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "findings.hpp"
#include "table.hpp"

namespace candide {

// total[c, j] += weight * cell, where cell is the value or, with a threshold, 1 if the value lies above it.
// missing[c, j] += weight where the value is NaN; both tables (n_classes, n_columns), zeroed by the caller.
Findings tally(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
               std::optional<double> threshold, int n_threads, double* total, double* missing);

}  // namespace candide
