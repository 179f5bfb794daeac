// The distinct words between white spaces of one text after the other. Most words of a text occurred before, in it or
// in others: what is made of a word can be kept under its number, and taken as often as the word stands in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "normal_text.hpp"
#include "vocabulary.hpp"

namespace candide {

struct BlankWord {
    const Byte* at;  // in the text
    std::size_t size;
    std::size_t number;  // in the order in which words first occurred
    std::uint32_t times;
};

class BlankWords {
  public:
    void read(const NormalText& text);

    // Those of the text that was read last, in the order in which they first appear.
    const std::vector<BlankWord>& words() const { return words_; }

    // Numbers begin at 0 again with the next text.
    void forget() {
        numbers_ = {};
        marks_.clear();
    }

  private:
    // In which text a word was last seen, counted from 1, and its place there.
    struct Mark {
        std::size_t text = 0, place = 0;
    };

    Vocabulary numbers_;
    std::vector<Mark> marks_;
    std::vector<BlankWord> words_;
    std::size_t text_ = 0;

    // Words whose numbers are looked up together, when prefetched memory has arrived.
    static constexpr std::size_t kWaiting = 8;
    Token waiting_[kWaiting];
    std::size_t n_waiting_ = 0;

    void add(const Byte* at, std::size_t size) {
        waiting_[n_waiting_] = Token(at, size);
        numbers_.prefetch(waiting_[n_waiting_]);
        if (++n_waiting_ == kWaiting) flush();
    }
    void flush();
    void count(const Token& word);
};

}  // namespace candide
