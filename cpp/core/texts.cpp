#include "texts.hpp"

#include <algorithm>
#include <array>

#include "parallel.hpp"
#include "token_hash.hpp"

namespace candide {
namespace {

template <class Unit>
Bytes encoded(const Text& text, std::vector<Byte>& scratch) {
    const auto* units = static_cast<const Unit*>(text.data);
    scratch.resize(4 * text.units);
    Byte* out = scratch.data();
    for (const auto [begin, end] : Ranges(text.units)) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto character = static_cast<char32_t>(units[i]);
            out = encode(character >> 11 == 0x1B ? kReplacement : character, out);
        }
    }
    return {scratch.data(), out};
}

// Whether the next eight bytes are ASCII.
bool are_ascii(const Byte* at, const Byte* end) {
    constexpr std::uint64_t kBeyond = 0x8080808080808080;
    return end - at >= 8 && !(eight_bytes(at) & kBeyond);
}

bool is_valid(Bytes bytes) {
    const Byte *at = bytes.data(), *end = at + bytes.size();
    for (const auto part : Ranges(bytes.size())) {
        for (const Byte* stop = bytes.data() + part.end; at < stop;) {
            if (are_ascii(at, end)) {
                at += 8;
                continue;
            }
            const Decoded found = decode(at, end);
            if (found.character == kReplacement &&
                !(found.length == 3 && at[0] == 0xEF && at[1] == 0xBF && at[2] == 0xBD))
                return false;
            at += found.length;
        }
    }
    return true;
}

// As `utf8_of`, with what is no UTF-8 replaced.
Bytes valid_utf8(const Text& text, std::vector<Byte>& scratch) {
    const Bytes bytes = utf8_of(text, scratch);
    if (text.storage != Storage::utf8 || is_valid(bytes)) return bytes;
    scratch.resize(3 * bytes.size() + 4);
    Byte* out = scratch.data();
    Steps steps;
    for (const Byte *at = bytes.data(), *end = at + bytes.size(); at < end;) {
        const Decoded found = decode(at, end);
        steps.add(found.length);
        out = encode(found.character, out);
        at += found.length;
    }
    return {scratch.data(), out};
}

std::uint64_t hash_of(Bytes bytes) {
    std::uint64_t h = hash_start(bytes.size());
    std::size_t left = bytes.size();
    const Byte* at = bytes.data();
    for (; left > 8; left -= 8, at += 8) h = hash_step(h, eight_bytes(at));
    std::array<Byte, 8> last{};
    std::copy_n(at, left, last.data());
    return hash_end(hash_step(h, eight_bytes(last.data())));
}

template <class Each>
void each_text(Texts texts, int n_threads, Each&& each) {
    constexpr std::size_t kTexts = 256;
    parallel_for((texts.size() + kTexts - 1) / kTexts, total_units(texts), n_threads, [&](std::size_t part) {
        std::vector<Byte> scratch;
        Steps steps;
        for (std::size_t i = part * kTexts; i < std::min(texts.size(), (part + 1) * kTexts); ++i) {
            each(i, valid_utf8(texts[i], scratch));
            steps.add(texts[i].units);
        }
    });
}

}  // namespace

void text_sizes(Texts texts, int n_threads, std::int64_t* sizes) {
    each_text(texts, n_threads,
              [&](std::size_t i, Bytes bytes) { sizes[i] = static_cast<std::int64_t>(bytes.size()); });
}

void text_hashes(Texts texts, int n_threads, std::uint64_t* hashes) {
    each_text(texts, n_threads, [&](std::size_t i, Bytes bytes) {
        const std::uint64_t h = hash_of(bytes);
        hashes[i] = (texts[i].missing() ? ~h : h) >> 1;
    });
}

void pack_texts(Texts texts, std::vector<Byte>& bytes, std::int64_t* ends) {
    std::vector<Byte> scratch;
    bytes.reserve(total_units(texts));
    Steps steps;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const Bytes text = valid_utf8(texts[i], scratch);
        steps.add(text.size());
        bytes.insert(bytes.end(), text.begin(), text.end());
        ends[i] = static_cast<std::int64_t>(bytes.size());
    }
}

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
