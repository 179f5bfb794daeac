// The common core of sparse rows and of category codes: rows of a table, picked by position, scaled and added up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// out[c] += x[k] * table[at[k], c] for all k; x may be null (all 1). The table's rows are `stride` doubles apart,
// padded with zeros to a multiple of four; out has `stride` places too.
void add_picked(const std::int32_t* at, const double* x, std::size_t n, const double* table, std::size_t stride,
                double* out);
void add_picked(const std::int64_t* at, const double* x, std::size_t n, const double* table, std::size_t stride,
                double* out);

}  // namespace candide
