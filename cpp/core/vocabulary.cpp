#include "vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "stop.hpp"

namespace candide {

Vocabulary::Vocabulary(Bytes bytes, std::span<const std::int64_t> ends) {
    if (ends.size() > static_cast<std::size_t>(std::numeric_limits<Code>::max()))
        throw std::length_error("more than 2^31 - 1 distinct tokens");
    expect(ends.size());
    arena_.resize(bytes.size() + Token::kShort);
    std::ranges::copy(bytes, arena_.begin());
    ends_.insert(ends_.end(), ends.begin(), ends.end());
    // Several at a time: where they belong is on its way from memory while the next are hashed.
    std::vector<Token> some;
    Steps steps;
    for (std::size_t begin = 0; begin < ends.size(); begin += some.size()) {
        steps.add(32 * kAtOnce);
        some.clear();
        for (std::size_t i = begin; i < std::min(begin + kAtOnce, ends.size()); ++i) {
            some.push_back(token(i));
            prefetch(some.back());
        }
        for (std::size_t i = 0; i < some.size(); ++i) {
            Slot& slot = slots_[place_of(some[i])];
            if (slot.code != kUnknown) {
                ends_.resize(begin + i + 1);
                return;
            }
            slot = {some[i].key, static_cast<std::uint32_t>(some[i].length), static_cast<Code>(begin + i)};
        }
    }
}

Code Vocabulary::add(const Token& token, std::size_t place) {
    if (size() == static_cast<std::size_t>(std::numeric_limits<Code>::max()))
        throw std::length_error("more than 2^31 - 1 distinct tokens");
    if (token.length > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("a token of more than 4 GB");
    const auto code = static_cast<Code>(size());
    const std::size_t used = n_bytes();
    if (used + token.length + Token::kShort > arena_.capacity()) arena_.reserve(2 * (used + token.length) + 4096);
    arena_.resize(used + token.length + Token::kShort);
    if (token.length) std::memcpy(arena_.data() + used, token.at, token.length);
    ends_.push_back(static_cast<std::int64_t>(used + token.length));
    slots_[place] = {token.key, static_cast<std::uint32_t>(token.length), code};
    if (8 * size() > 5 * slots_.size()) grow();
    return code;
}

void Vocabulary::expect(std::size_t n_tokens) {
    unsigned bits = kFirstBits;
    while (bits < kMostBits && 8 * n_tokens > 5 * (std::size_t{1} << bits)) ++bits;
    slots_.assign(std::size_t{1} << bits, Slot{});
    shift_ = 64 - bits;
}

void Vocabulary::grow() {
    std::vector<Slot> wider(slots_.size() * 2);
    Steps steps;
    for (const Slot& slot : slots_) {
        steps.add(8);
        if (slot.code == kUnknown) continue;
        std::size_t at = Token::hash_of(slot.key, slot.length) >> (shift_ - 1);
        while (wider[at].code != kUnknown) at = (at + 1) & (wider.size() - 1);
        wider[at] = slot;
    }
    // Only now: a call that ends half-way leaves all as it was.
    slots_.swap(wider);
    --shift_;
}

TokenList Vocabulary::since(std::size_t code) const {
    TokenList list{{arena_.begin() + ends_[code], arena_.end()}, {}};
    for (std::size_t i = code; i < size(); ++i) list.ends.push_back(end(i) - begin(code));
    return list;
}

}  // namespace candide
