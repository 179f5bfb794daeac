// Distinct tokens, numbered in the order in which they were added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "texts.hpp"
#include "token_hash.hpp"

namespace candide {

using Code = std::int32_t;
inline constexpr Code kUnknown = -1;

// Tokens one after the other, padded so that each can be hashed.
struct TokenList {
    std::vector<Byte> bytes;
    std::vector<std::size_t> ends;

    Token token(std::size_t i) const {
        const std::size_t begin = i ? ends[i - 1] : 0;
        return {bytes.data() + begin, ends[i] - begin};
    }
};

// Open addressing over the hash; the bytes of all tokens stand one after the other.
class Vocabulary {
  public:
    std::size_t size() const { return ends_.size() - 1; }
    Bytes bytes(std::size_t code) const { return {arena_.data() + begin(code), end(code) - begin(code)}; }
    Token token(std::size_t code) const { return {arena_.data() + begin(code), end(code) - begin(code)}; }
    std::size_t n_bytes() const { return static_cast<std::size_t>(ends_.back()); }
    const Byte* arena() const { return arena_.data(); }
    const std::vector<std::int64_t>& ends() const { return ends_; }

    void prefetch(const Token& token) const { candide::prefetch(&slots_[token.hash >> shift_]); }

    Code find(const Token& token) const { return slots_[place_of(token)].code; }

    Code find_or_add(const Token& token) {
        const std::size_t place = place_of(token);
        return slots_[place].code != kUnknown ? slots_[place].code : add(token, place);
    }

    // Tokens that stand one after the other already. Where two are equal, it ends with the second.
    Vocabulary(Bytes bytes, std::span<const std::int64_t> ends);
    Vocabulary() = default;

    // A copy of the tokens from one on.
    TokenList since(std::size_t code) const;

  private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t length = 0;
        Code code = kUnknown;
    };

    static constexpr unsigned kFirstBits = 8, kMostBits = 32;
    static constexpr std::size_t kAtOnce = 64;

    std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << kFirstBits);
    unsigned shift_ = 64 - kFirstBits;
    std::vector<Byte> arena_ = std::vector<Byte>(Token::kShort);  // padded, so that every token can be hashed
    std::vector<std::int64_t> ends_{0};

    std::size_t begin(std::size_t code) const { return static_cast<std::size_t>(ends_[code]); }
    std::size_t end(std::size_t code) const { return static_cast<std::size_t>(ends_[code + 1]); }

    bool holds(const Slot& slot, const Token& token) const {
        if (slot.key != token.key || slot.length != token.length) return false;
        return token.is_short() ||
               equal_bytes(arena_.data() + begin(static_cast<std::size_t>(slot.code)), token.at, token.length);
    }

    // Where the token stands, or the empty slot where it belongs.
    std::size_t place_of(const Token& token) const {
        std::size_t at = token.hash >> shift_;
        while (slots_[at].code != kUnknown && !holds(slots_[at], token)) at = (at + 1) & (slots_.size() - 1);
        return at;
    }

    // Room for so many tokens; only while there is none.
    void expect(std::size_t n_tokens);
    Code add(const Token& token, std::size_t place);
    void grow();
};

}  // namespace candide
