// Positions that point into something: classes, columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// Whether all of at[0] ... at[n - 1] lie in 0 ... limit - 1.
bool all_below(const std::int32_t* at, std::size_t n, std::size_t limit);
bool all_below(const std::int64_t* at, std::size_t n, std::size_t limit);

}  // namespace candide
