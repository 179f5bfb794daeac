// Weighted sums of the stored cells of sparse rows, as sparse rows of classes: memory proportional to what was
// observed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cells.hpp"
#include "findings.hpp"
#include "rows.hpp"

namespace candide {

struct SparseTotals {
    std::vector<std::int64_t> indptr, indices;
    std::vector<double> values;
    Findings findings;
};

// Of kinds of cells that need no center.
template <class Index>
SparseTotals tally_rows_sparse(const Rows<Index>& rows, const std::int32_t* classes, const double* weight,
                               std::size_t n_classes, const Request& request, int n_threads);

}  // namespace candide
