// Sums over the cells of each row of a hash of the cell and its column: what a sample of rows goes by. Part of what a
// kept sample is, so the same on all machines, for ever.
#pragma once

#include <cstdint>

#include "table.hpp"

namespace candide {

// `keys` has one for each column. Cells are hashed as doubles; -0 is 0, and there is one NaN. Modulo 2^64.
void hash_rows(const Table& table, const std::uint64_t* keys, int n_threads, std::uint64_t* sums);

}  // namespace candide
