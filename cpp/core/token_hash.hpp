// The hash of a token's bytes. It is part of what a model with buckets is: the same on all machines, for ever.
//
// h = (length + 1) · K0; for each eight bytes as a little-endian number x, the last ones padded with zeros:
// h = fold((h ^ x) · K1); at last fold((h ^ K2) · K0), where fold is the upper half of a 128-bit product ^ its lower
// half.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "prefetch.hpp"
#include "utf8.hpp"

namespace candide {

inline constexpr std::uint64_t kHash0 = 0x9E3779B97F4A7C15u, kHash1 = 0xD6E8FEB86659FD93u, kHash2 = 0xA0761D6478BD642Fu;

inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
#if defined(_MSC_VER)
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return high ^ low;
#else
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
#endif
}

inline std::uint64_t eight_bytes(const Byte* at) {
    std::uint64_t x;
    std::memcpy(&x, at, 8);
    if constexpr (std::endian::native == std::endian::big) {
        std::uint64_t swapped = 0;
        for (int i = 0; i < 8; ++i) swapped |= (x >> 8 * i & 0xFF) << (56 - 8 * i);
        return swapped;
    }
    return x;
}

// The first `length` of eight bytes, all of which can be read; zeros for the others.
inline std::uint64_t first_bytes(const Byte* at, std::size_t length) {
    return length == 0 ? 0 : eight_bytes(at) & ~std::uint64_t{0} >> (64 - 8 * length);
}

inline std::uint64_t hash_start(std::size_t length) { return (length + 1) * kHash0; }
inline std::uint64_t hash_step(std::uint64_t h, std::uint64_t x) { return folded_product(h ^ x, kHash1); }
inline std::uint64_t hash_end(std::uint64_t h) { return folded_product(h ^ kHash2, kHash0); }

// Whether two runs of more than eight bytes are equal; eight bytes behind each must be readable.
inline bool equal_bytes(const Byte* one, const Byte* other, std::size_t n) {
    for (; n > 8; n -= 8, one += 8, other += 8)
        if (eight_bytes(one) != eight_bytes(other)) return false;
    return first_bytes(one, n) == first_bytes(other, n);
}

// A token with its hash. Short ones are known by their bytes alone, which fit into the key.
struct Token {
    static constexpr std::size_t kShort = 8;

    const Byte* at;
    std::size_t length;
    std::uint64_t key, hash;

    // Eight bytes behind the token must be readable. Inline, for a token that comes back through memory is waited for
    // longer than its hash takes.
    CANDIDE_INLINE Token(const Byte* bytes, std::size_t n) : at(bytes), length(n) {
        std::uint64_t h = hash_start(n);
        for (; n > kShort; n -= kShort, bytes += kShort) h = hash_step(h, eight_bytes(bytes));
        const std::uint64_t rest = first_bytes(bytes, n);
        hash = hash_end(hash_step(h, rest));
        key = length <= kShort ? rest : hash;
    }
    Token() = default;

    bool is_short() const { return length <= kShort; }
    static std::uint64_t hash_of(std::uint64_t key, std::size_t length) {
        return length <= kShort ? hash_end(hash_step(hash_start(length), key)) : key;
    }
};

}  // namespace candide
