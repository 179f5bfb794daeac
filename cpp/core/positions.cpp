#include "positions.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "simd.hpp"

namespace candide {
namespace {

// Masks of the position's own width: the compiler makes vectors of this loop. A negative one is a large unsigned one.
template <class Index>
CANDIDE_INLINE bool all_small(const Index* at, std::size_t n, std::size_t limit) {
    using Unsigned = std::make_unsigned_t<Index>;
    const std::size_t most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (limit == 0) return n == 0;
    const auto last = static_cast<Unsigned>(std::min(limit - 1, most));
    Unsigned outside = 0;
    for (std::size_t k = 0; k < n; ++k) outside |= static_cast<Unsigned>(at[k]) > last ? 1 : 0;
    return outside == 0;
}

}  // namespace

CANDIDE_CLONES bool all_below(const std::int32_t* at, std::size_t n, std::size_t limit) {
    return all_small(at, n, limit);
}
CANDIDE_CLONES bool all_below(const std::int64_t* at, std::size_t n, std::size_t limit) {
    return all_small(at, n, limit);
}

}  // namespace candide
