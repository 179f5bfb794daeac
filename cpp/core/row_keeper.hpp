// Keeps the tokens of a shard of texts as rows of counts, under a thread's own codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

// Rows of a shard, each in the order in which its tokens first appear.
struct ShardRows {
    std::vector<std::uint32_t> tokens;
    std::vector<std::uint32_t> counts;  // of each token in its row, if requested
    std::vector<std::size_t> begins;
    std::size_t n_codes = 0;                   // so far
    const std::vector<Code>* codes = nullptr;  // what the tokens are, when the pass is over

    std::size_t size() const { return begins.size(); }
    std::size_t begin(std::size_t row) const { return begins[row]; }
    std::size_t end(std::size_t row) const { return row + 1 < size() ? begins[row + 1] : tokens.size(); }
    Code code(std::size_t i) const { return (*codes)[tokens[i]]; }
};

// `finish(shard, rows)` is called when a shard is complete, and may take the rows away.
template <class Finish>
class RowKeeper {
  public:
    RowKeeper(bool counts, Finish finish) : counts_(counts), finish_(std::move(finish)) {}

    void begin_text(std::size_t) {
        rows_.begins.push_back(size_);
        ++text_;
    }

    void expect(Code code) {
        const auto at = static_cast<std::size_t>(code);
        if (at >= marks_.size()) marks_.resize(at + 1);
        prefetch(&marks_[at]);
    }

    void add(Code code, std::uint32_t times) {
        Mark& mark = marks_[static_cast<std::size_t>(code)];
        if (mark.text == text_) {
            if (counts_) rows_.counts[rows_.begins.back() + mark.place] += times;
            return;
        }
        mark = {text_, static_cast<std::uint32_t>(size_ - rows_.begins.back())};
        if (size_ == rows_.tokens.size()) resize(std::max(2 * size_, kLeast));
        rows_.tokens[size_] = static_cast<std::uint32_t>(code);
        if (counts_) rows_.counts[size_] = times;
        ++size_;
    }

    void end_shard(std::size_t shard, const std::vector<Code>& codes) {
        resize(size_);
        rows_.n_codes = marks_.size();
        rows_.codes = &codes;
        finish_(shard, rows_);
        rows_.begins.clear();
        size_ = 0;
    }

  private:
    // In which text a token was last seen, counted from 1, and its place there. Small, as they are looked up at random;
    // no list of texts is as long, and no text, as these numbers reach.
    struct Mark {
        std::uint32_t text = 0, place = 0;
    };

    static constexpr std::size_t kLeast = 1 << 12;

    bool counts_;
    Finish finish_;
    ShardRows rows_;        // with room for more tokens than there are
    std::size_t size_ = 0;  // how many there are
    std::vector<Mark> marks_;
    std::uint32_t text_ = 0;

    void resize(std::size_t n) {
        rows_.tokens.resize(n);
        if (counts_) rows_.counts.resize(n);
    }
};

}  // namespace candide
