// Keeps the tokens of a shard of texts as rows of counts, under a thread's own codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

struct Entry {
    std::uint32_t code, count;
};

// Rows of a shard, each in the order in which its tokens first appear.
struct ShardRows {
    std::vector<Entry> entries;
    std::vector<std::size_t> begins;
    std::size_t n_codes = 0;                   // so far
    const std::vector<Code>* codes = nullptr;  // what the codes mean, when the pass is over

    std::size_t size() const { return begins.size(); }
    std::size_t begin(std::size_t row) const { return begins[row]; }
    std::size_t end(std::size_t row) const { return row + 1 < size() ? begins[row + 1] : entries.size(); }
};

// `finish(shard, rows)` is called when a shard is complete, and may take the rows away.
template <class Finish>
class RowKeeper {
  public:
    explicit RowKeeper(Finish finish) : finish_(std::move(finish)) {}

    void begin_text(std::size_t) {
        rows_.begins.push_back(rows_.entries.size());
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
            rows_.entries[mark.entry].count += times;
            return;
        }
        mark = {text_, rows_.entries.size()};
        rows_.entries.push_back({static_cast<std::uint32_t>(code), times});
    }

    void end_shard(std::size_t shard, const std::vector<Code>& codes) {
        rows_.n_codes = marks_.size();
        rows_.codes = &codes;
        finish_(shard, rows_);
        rows_.entries.clear();
        rows_.begins.clear();
    }

  private:
    // In which text a token was last seen, counted from 1, and its entry there.
    struct Mark {
        std::uint64_t text = 0;
        std::size_t entry = 0;
    };

    Finish finish_;
    ShardRows rows_;
    std::vector<Mark> marks_;
    std::uint64_t text_ = 0;
};

}  // namespace candide
