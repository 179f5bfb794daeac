#include "normal_text.hpp"

#include <algorithm>
#include <cstring>

#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::size_t kBlock = 64;

// Which bytes of a block are word characters, and which are not ASCII; bit for bit.
struct BlockBits {
    std::uint64_t words, beyond;
};

// Eight bytes that are 0 or 1 as bits.
std::uint64_t gather(const Byte* flags) {
    std::uint64_t eight;
    std::memcpy(&eight, flags, 8);
    if constexpr (std::endian::native == std::endian::big) return (eight * 0x8040201008040201u) >> 56;
    return (eight * 0x0102040810204080u) >> 56;
}

std::uint64_t gather_block(const Byte* flags) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i) bits |= gather(flags + 8 * i) << 8 * i;
    return bits;
}

// `to_lower` is what a capital letter gains, `to_zero` what a digit keeps of its place in 0 ... 9.
CANDIDE_CLONES BlockBits read_ascii(const Byte* in, Byte to_lower, Byte to_zero, Byte* out) {
    Byte words[kBlock], beyond[kBlock];
    Byte any = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
        const Byte c = in[i];
        const bool capital = static_cast<Byte>(c - 'A') < 26, small = static_cast<Byte>(c - 'a') < 26;
        const bool digit = static_cast<Byte>(c - '0') < 10;
        out[i] = static_cast<Byte>(c + (capital ? to_lower : 0) - (digit ? (c - '0') & to_zero : 0));
        words[i] = static_cast<Byte>(capital | small | digit | (c == '_'));
        beyond[i] = static_cast<Byte>(c >> 7);
        any |= c;
    }
    return {gather_block(words), any >> 7 ? gather_block(beyond) : 0};
}

std::uint64_t low_bits(std::size_t n) { return n < 64 ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0}; }

constexpr char32_t kCapitalSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;

// Whether a capital sigma at a place ends a word: a letter before it and none after it, marks aside.
bool ends_word(Bytes text, const Byte* at) {
    const Byte *begin = text.data(), *end = begin + text.size();
    const Byte* before = at;
    std::uint8_t flags = kIgnorable;
    while (before > begin && flags & kIgnorable) {
        const Decoded found = decode_before(begin, before);
        flags = kFlags[found.character];
        before -= found.length;
    }
    if (!(flags & kCased)) return false;
    flags = kIgnorable;
    for (const Byte* after = at + 2; after < end && flags & kIgnorable;) {
        const Decoded found = decode(after, end);
        flags = kFlags[found.character];
        after += found.length;
    }
    return !(flags & kCased);
}

}  // namespace

void NormalText::read(Bytes text, const Normal& how) {
    size_ = 0;
    ascii_ = true;
    const Byte *at = text.data(), *end = at + text.size();
    Steps steps;
    while (at < end) {
        at = read_block(at, end, how);
        steps.add(kBlock);
        for (; at < end && *at >= 0x80; steps.add(8)) at = read_character(text, at, how);
    }
    make_room(0);
    put_bits(0, 64);
}

// ASCII up to the end of a block or to the first byte that is not.
const Byte* NormalText::read_block(const Byte* at, const Byte* end, const Normal& how) {
    make_room(kBlock);
    Byte last[kBlock] = {};
    const std::size_t n = std::min<std::size_t>(kBlock, static_cast<std::size_t>(end - at));
    if (n < kBlock) std::memcpy(last, at, n);
    const BlockBits bits =
        read_ascii(n < kBlock ? last : at, how.lowercase ? 32 : 0, how.fold_numbers ? 0xFF : 0, bytes_.data() + size_);
    const std::size_t good = std::min<std::size_t>(n, static_cast<std::size_t>(std::countr_zero(bits.beyond)));
    put_bits(bits.words & low_bits(good), good);
    size_ += good;
    return at + good;
}

const Byte* NormalText::read_character(Bytes text, const Byte* at, const Normal& how) {
    make_room(kBlock);
    ascii_ = false;
    const Decoded found = decode(at, text.data() + text.size());
    if (!how.lowercase)
        put(found.character, how);
    else if (found.character == kCapitalSigma)
        put(ends_word(text, at) ? kFinalSigma : kSmallSigma, how);
    else
        each_lower(found.character, [&](char32_t character) { put(character, how); });
    return at + found.length;
}

void NormalText::put(char32_t character, const Normal& how) {
    const auto write = [&](char32_t c) {
        if (how.accents == Accents::ascii && c >= 0x80) return;
        const std::uint8_t flags = kFlags[c];
        const char32_t written = how.fold_numbers && flags & kDigit ? U'0' : c;
        make_room(4);
        const auto n = static_cast<std::size_t>(encode(written, bytes_.data() + size_) - (bytes_.data() + size_));
        put_bits(flags & kWord ? low_bits(n) : 0, n);
        size_ += n;
    };
    if (how.accents == Accents::keep) return write(character);
    each_bare(character, write);
}

// Bits of the next bytes; later words of the bit map are written for the first time when they are reached.
void NormalText::put_bits(std::uint64_t bits, std::size_t n) {
    const std::size_t word = size_ / 64, shift = size_ % 64;
    if (shift == 0) {
        words_[word] = bits;
        return;
    }
    words_[word] |= bits << shift;
    if (shift + n > 64) words_[word + 1] = bits >> (64 - shift);
}

void NormalText::make_room(std::size_t n) {
    const std::size_t wanted = size_ + n + kPadding;
    if (bytes_.size() >= wanted) return;
    bytes_.resize(std::max(wanted, 2 * bytes_.size()));
    words_.resize(bytes_.size() / 64 + 2);
}

// A word begins and ends where two neighboring bits differ.
void NormalText::word_runs(std::vector<Run>& runs) const {
    runs.clear();
    std::uint64_t carry = 0;
    bool open = false;
    for (const auto [begin, end] : Ranges(size_ / 64 + 1)) {
        for (std::size_t at = begin; at < end; ++at) {
            std::uint64_t edges = words_[at] ^ (words_[at] << 1 | carry);
            carry = words_[at] >> 63;
            for (; edges; edges &= edges - 1, open = !open) {
                const std::size_t place = 64 * at + static_cast<std::size_t>(std::countr_zero(edges));
                if (open)
                    runs.back().end = place;
                else
                    runs.push_back({place, 0});
            }
        }
    }
}

}  // namespace candide
