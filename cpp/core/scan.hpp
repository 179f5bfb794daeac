// What columns of numbers hold, for deciding how to read them as categories.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table.hpp"

namespace candide {

struct Extent {
    std::int64_t low = INT64_MAX, high = INT64_MIN;  // over whole numbers; low is INT64_MIN if a huge one is negative
    std::int64_t first_fraction = -1, first_infinite = -1, first_huge = -1;  // rows, -1 for none
    std::size_t missing = 0;
};

// One extent a column.
void scan(const Table& table, int n_threads, Extent* out);

}  // namespace candide
