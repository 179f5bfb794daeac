// Weighted sums of the stored cells of sparse rows per class and column, as a dense table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cells.hpp"
#include "findings.hpp"
#include "rows.hpp"

namespace candide {

// total: (n_classes, n_columns), zeroed by the caller.
template <class Index>
Findings tally_rows(const Rows<Index>& rows, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                    const Request& request, int n_threads, double* total);

}  // namespace candide
