// Doubles as whole numbers in the same order, whose first twelve bits name the binade; -0.0 is 0.0.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "table.hpp"
#include "types.hpp"

namespace candide {

inline constexpr unsigned kMantissaBits = 52;
inline constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kInfinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
inline constexpr std::uint64_t kMissingKey = ~std::uint64_t{0};

// The other bits of a negative number, and the sign: without asking, as signs cannot be foretold.
inline std::uint64_t key_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
    return bits ^ ((bits & kSign ? kMissingKey : 0) | kSign);
}

// The keys of some rows of a column; kMissingKey for all that is missing or infinite. Returns whether anything was
// infinite.
inline bool read_keys(const Column& column, std::size_t begin, std::size_t end, std::uint64_t* out) {
    return with_type(column.type, [&](auto kind) {
        const std::byte* at = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
        bool infinite = false;
        for (std::size_t i = 0; i < end - begin; ++i, at += column.stride) {
            const auto x = static_cast<double>(read<decltype(kind)>(at));
            const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(x) & ~kSign;
            infinite |= magnitude == kInfinity;
            out[i] = magnitude >= kInfinity ? kMissingKey : key_of(x);
        }
        return infinite;
    });
}

}  // namespace candide
