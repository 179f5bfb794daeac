// The codes of the tokens within a word, made once for each word: most words of a text were met before.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

class WordMemo {
  public:
    // A word whose codes are wanted soon. Returns whether enough are waiting. Its bytes must stay until `take`.
    bool add(const Byte* at, std::size_t n) {
        waiting_[n_waiting_] = Token(at, n);
        words_.prefetch(waiting_[n_waiting_]);
        return ++n_waiting_ == kWaiting;
    }

    // Calls `expect(codes)` for each word that waits, then `take(codes)` for each; `make(word, codes)` appends those of
    // a word that is new.
    template <class Make, class Expect, class Take>
    void take(Make&& make, Expect&& expect, Take&& take) {
        if (codes_.size() > kMost) forget();
        std::size_t places[kWaiting];
        for (std::size_t i = 0; i < n_waiting_; ++i) places[i] = place_of(waiting_[i], make);
        for (std::size_t i = 0; i < n_waiting_; ++i) expect(codes(places[i]));
        for (std::size_t i = 0; i < n_waiting_; ++i) take(codes(places[i]));
        n_waiting_ = 0;
    }

  private:
    // Words of which all that is needed has arrived when the last one is added.
    static constexpr std::size_t kWaiting = 8;

    // Rare words would fill the memory: all are forgotten now and then.
    static constexpr std::size_t kMost = std::size_t{1} << 22;

    Vocabulary words_;
    std::vector<std::size_t> begins_{0};
    std::vector<Code> codes_;
    Token waiting_[kWaiting];
    std::size_t n_waiting_ = 0;

    void forget() {
        words_ = {};
        begins_ = {0};
        codes_.clear();
    }

    template <class Make>
    std::size_t place_of(const Token& word, Make&& make) {
        const auto place = static_cast<std::size_t>(words_.find_or_add(word));
        if (place + 1 == begins_.size()) {
            make(word, codes_);
            begins_.push_back(codes_.size());
        }
        prefetch(codes_.data() + begins_[place]);
        return place;
    }

    std::span<const Code> codes(std::size_t place) const {
        return {codes_.data() + begins_[place], begins_[place + 1] - begins_[place]};
    }
};

}  // namespace candide
