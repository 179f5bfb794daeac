// Characters in UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "unicode.hpp"

namespace candide {

using Byte = std::uint8_t;

struct Decoded {
    char32_t character;
    std::size_t length;
};

inline bool continues(Byte byte) { return (byte & 0xC0) == 0x80; }

// The character that begins at a byte. What is no UTF-8 is replaced as Python replaces it: each longest beginning of
// a character by one U+FFFD.
inline Decoded decode(const Byte* at, const Byte* end) {
    const Byte lead = *at;
    if (lead < 0x80) return {lead, 1};
    const std::size_t wanted = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    if (wanted == 1) return {kReplacement, 1};
    // The second byte reveals overlong forms, surrogates and numbers beyond Unicode.
    const Byte low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const Byte high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at + 1 == end || at[1] < low || at[1] > high) return {kReplacement, 1};
    char32_t character = (lead & (0x7Fu >> wanted)) << 6 | (at[1] & 0x3Fu);
    for (std::size_t i = 2; i < wanted; ++i) {
        if (at + i == end || !continues(at[i])) return {kReplacement, i};
        character = character << 6 | (at[i] & 0x3Fu);
    }
    return {character, wanted};
}

// The character that ends before a byte.
inline Decoded decode_before(const Byte* begin, const Byte* at) {
    const Byte* lead = at - 1;
    while (lead > begin && at - lead < 4 && continues(*lead)) --lead;
    const Decoded found = decode(lead, at);
    return lead + found.length == at ? found : Decoded{kReplacement, 1};
}

// Writes a character and returns where the next one goes; there must be room for four bytes.
inline Byte* encode(char32_t character, Byte* out) {
    if (character < 0x80) {
        *out++ = static_cast<Byte>(character);
        return out;
    }
    if (character < 0x800) {
        *out++ = static_cast<Byte>(0xC0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *out++ = static_cast<Byte>(0xE0 | character >> 12);
        } else {
            *out++ = static_cast<Byte>(0xF0 | character >> 18);
            *out++ = static_cast<Byte>(0x80 | (character >> 12 & 0x3F));
        }
        *out++ = static_cast<Byte>(0x80 | (character >> 6 & 0x3F));
    }
    *out++ = static_cast<Byte>(0x80 | (character & 0x3F));
    return out;
}

}  // namespace candide
