// The tokens of a shard of texts as rows of counts, under codes that are the shard's own: a small table that stays in
// the cache, and no other thread's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "buckets.hpp"
#include "vocabulary.hpp"

namespace candide {

struct Entry {
    std::uint32_t code, count;
};

template <class Local>
class ShardRows {
  public:
    explicit ShardRows(Local local) : local_(std::move(local)) {}

    const Local& local() const { return local_; }
    std::size_t n_rows() const { return ends_.size(); }
    std::size_t begin(std::size_t row) const { return row ? ends_[row - 1] : 0; }
    std::size_t end(std::size_t row) const { return ends_[row]; }
    const Entry* entries() const { return entries_.data(); }

    // A token of the current row. Its bytes must stay until the row ends.
    void add(const Byte* at, std::size_t n) {
        waiting_[n_waiting_] = Token(at, n);
        local_.prefetch(waiting_[n_waiting_]);
        if (++n_waiting_ == kWaiting) count_waiting();
    }

    void end_row() {
        count_waiting();
        ends_.push_back(entries_.size());
    }

    // Frees the rows.
    void drop_rows() {
        entries_ = {};
        ends_ = {};
        marks_ = {};
    }

  private:
    // Enough for what was asked for to arrive.
    static constexpr std::size_t kWaiting = 16;

    // In which row a token was last seen, counted from 1, and its entry there.
    struct Mark {
        std::size_t row = 0, entry = 0;
    };

    Local local_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> ends_;
    std::vector<Mark> marks_;
    Token waiting_[kWaiting];
    std::size_t n_waiting_ = 0;

    void count_waiting() {
        for (std::size_t i = 0; i < n_waiting_; ++i) count(local_.find_or_add(waiting_[i]));
        n_waiting_ = 0;
    }

    void count(Code code) {
        const auto at = static_cast<std::size_t>(code);
        if (at == marks_.size()) marks_.push_back({});
        Mark& mark = marks_[at];
        if (mark.row == ends_.size() + 1) {
            ++entries_[mark.entry].count;
            return;
        }
        mark = {ends_.size() + 1, entries_.size()};
        entries_.push_back({static_cast<std::uint32_t>(code), 1});
    }
};

}  // namespace candide
