// The types of number that arrays hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// memcpy because a strided view need not be aligned; compilers turn it into one load.
template <class From>
From read(const std::byte* at) {
    From value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace candide
