// The types of number that arrays hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace candide {

enum class Type : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };

// Resolves a type once, outside the loops: `visit` gets a number of it.
template <class Visit>
auto with_type(Type type, Visit&& visit) {
    switch (type) {
        case Type::f64: return visit(double{});
        case Type::f32: return visit(float{});
        case Type::i64: return visit(std::int64_t{});
        case Type::i32: return visit(std::int32_t{});
        case Type::i16: return visit(std::int16_t{});
        case Type::i8: return visit(std::int8_t{});
        case Type::u64: return visit(std::uint64_t{});
        case Type::u32: return visit(std::uint32_t{});
        case Type::u16: return visit(std::uint16_t{});
        default: return visit(std::uint8_t{});
    }
}

// A number as int64: fractions are cut off, numbers out of range become the nearest bound, and NaN becomes -1.
template <class From>
std::int64_t to_int64(From value) {
    using Limits = std::numeric_limits<std::int64_t>;
    if constexpr (std::is_floating_point_v<From>) {
        constexpr From kBound = static_cast<From>(9223372036854775808.0);  // 2^63, the least that is out of range
        if (value >= -kBound && value < kBound) [[likely]]
            return static_cast<std::int64_t>(value);
        return value != value ? -1 : value < 0 ? Limits::min() : Limits::max();
    } else if constexpr (std::is_same_v<From, std::uint64_t>) {
        return value > static_cast<std::uint64_t>(Limits::max()) ? Limits::max() : static_cast<std::int64_t>(value);
    } else {
        return static_cast<std::int64_t>(value);
    }
}

// memcpy because a strided view need not be aligned; compilers turn it into one load.
template <class From>
From read(const std::byte* at) {
    From value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace candide
