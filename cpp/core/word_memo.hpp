// The codes of the tokens within a word, made once for each word.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

class WordMemo {
  public:
    // Sees to it that a word is known by its number; new words come in the order of their numbers, and `make(codes)`
    // appends theirs.
    template <class Make>
    void learn(std::size_t number, Make&& make) {
        if (number + 1 == begins_.size()) {
            make(codes_);
            begins_.push_back(codes_.size());
        }
        prefetch(codes_.data() + begins_[number]);
    }

    // Of a word that is known; they stay until the next one is learned.
    std::span<const Code> codes(std::size_t number) const {
        return {codes_.data() + begins_[number], begins_[number + 1] - begins_[number]};
    }

    // Rare words would fill the memory: all should be forgotten now and then.
    bool full() const { return codes_.size() > kMost; }

  private:
    static constexpr std::size_t kMost = std::size_t{1} << 22;

    std::vector<std::size_t> begins_{0};
    std::vector<Code> codes_;
};

}  // namespace candide
