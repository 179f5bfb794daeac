// Whole-number labels to positions, without sorting the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace candide {

// The distinct labels in order, and for each row the position of its label. False if the labels spread too widely for a
// table of positions; the caller then sorts.
bool encode_labels(const Table& labels, int n_threads, std::vector<std::int64_t>& distinct, std::int32_t* positions);

}  // namespace candide
