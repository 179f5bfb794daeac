#include "texts.hpp"

#include <algorithm>

namespace candide {
namespace {

template <class Unit>
Bytes encoded(const Text& text, std::vector<Byte>& scratch) {
    const auto* units = static_cast<const Unit*>(text.data);
    scratch.resize(4 * text.units);
    Byte* out = scratch.data();
    for (std::size_t i = 0; i < text.units; ++i) {
        const auto character = static_cast<char32_t>(units[i]);
        out = encode(character >> 11 == 0x1B ? kReplacement : character, out);
    }
    return {scratch.data(), out};
}

}  // namespace

Bytes utf8_of(const Text& text, std::vector<Byte>& scratch) {
    switch (text.storage) {
        case Storage::utf8: return {static_cast<const Byte*>(text.data), text.units};
        case Storage::one: return encoded<std::uint8_t>(text, scratch);
        case Storage::two: return encoded<std::uint16_t>(text, scratch);
        case Storage::four: return encoded<std::uint32_t>(text, scratch);
        default: return {};
    }
}

std::size_t total_units(Texts texts) {
    std::size_t total = 0;
    for (const Text& text : texts) total += text.units;
    return total;
}

std::vector<std::size_t> shard_bounds(Texts texts, std::size_t least, std::size_t most) {
    const std::size_t size = std::max(least, total_units(texts) / most + 1);
    std::vector<std::size_t> bounds{0};
    std::size_t units = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        units += texts[i].units;
        if (units < size || i + 1 == texts.size()) continue;
        bounds.push_back(i + 1);
        units = 0;
    }
    bounds.push_back(texts.size());
    return bounds;
}

}  // namespace candide
