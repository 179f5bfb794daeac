// Numbers as positions among cuts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table.hpp"

namespace candide {

// codes[r, j]: how many of the cuts of column j, which ascend, are at most the cell; missing cells are -1. Those of
// column j are cuts[offsets[j]] ... cuts[offsets[j + 1] - 1]. Returns whether a cell was infinite.
bool cell_codes(const Table& table, const double* cuts, const std::int64_t* offsets, int n_threads,
                std::int32_t* codes);

}  // namespace candide
