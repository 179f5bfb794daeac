// The codes of the tokens within a word, made once for each word: most words of a text were met before.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

class WordMemo {
  public:
    // `make(codes)` appends the codes of a word that is new.
    template <class Make>
    std::span<const Code> codes(const Token& word, Make&& make) {
        if (codes_.size() > kMost) *this = {};
        const auto at = static_cast<std::size_t>(words_.find_or_add(word));
        if (at + 1 == begins_.size()) {
            make(codes_);
            begins_.push_back(codes_.size());
        }
        return {codes_.data() + begins_[at], begins_[at + 1] - begins_[at]};
    }

  private:
    // Rare words would drive the frequent ones out of the cache: all are forgotten now and then.
    static constexpr std::size_t kMost = std::size_t{1} << 20;

    Vocabulary words_;
    std::vector<std::size_t> begins_{0};
    std::vector<Code> codes_;
};

}  // namespace candide
