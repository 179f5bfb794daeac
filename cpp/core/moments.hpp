// Weight, mean and scatter (sum of squared deviations from the mean) per class and column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table.hpp"

namespace candide {

// weight, mean, scatter: (n_classes, n_columns), zeroed by the caller. NaN cells are left out, cell by cell. An
// infinite value, or one too large to square, makes the mean or scatter of its column non-finite, which the caller
// checks.
void moments(const Table& table, const std::int32_t* classes, const double* row_weight, std::size_t n_classes,
             int n_threads, double* weight, double* mean, double* scatter);

}  // namespace candide
