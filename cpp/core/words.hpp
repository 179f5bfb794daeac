// The words of a text in order, and tokens that are made of them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pieces.hpp"

namespace candide {

// A blank stands behind each word, and an empty word, which no text holds, before the first and behind the last.
class Words {
  public:
    void begin_text(std::size_t n_bytes) {
        pieces_.clear(2 * n_bytes + 2);
        add(nullptr, 0);
    }
    void end_text() { add(nullptr, 0); }

    void add(const Byte* at, std::size_t n) {
        pieces_.begin();
        pieces_.add(at, n);
        pieces_.add(' ');
    }
    const Byte* last() const { return pieces_.at(pieces_.count() - 1); }
    void drop_last() { pieces_.drop_last(); }

    // Every `low` to `high` words in a row, a blank between them; with the empty words at the ends, if any is between.
    template <class Sink>
    void each_joined(std::size_t low, std::size_t high, bool ends, Sink&& sink) const {
        if (count() == 0) return;
        const std::size_t first = ends ? 0 : 1, last = pieces_.count() - first;
        for (std::size_t n = low; n <= high && n <= last - first; ++n)
            for (std::size_t i = first; i + n <= last; ++i) sink(pieces_.at(i), joined_size(i, n));
    }

    // The first and the last words with their places, then the first ones joined.
    template <class Sink>
    void each_place(Sink&& sink) {
        tag_places();
        for (std::size_t i = 0; i < tagged_.count(); ++i) sink(tagged_.at(i), tagged_.start(i + 1) - tagged_.start(i));
        for (std::size_t n = 2; n <= std::min(kFirst, count()); ++n) sink(pieces_.at(1), joined_size(1, n));
    }

  private:
    static constexpr std::size_t kFirst = 4, kLast = 3;

    Pieces pieces_;  // the empty words included
    Pieces tagged_;

    std::size_t count() const { return pieces_.count() - 2; }
    std::size_t joined_size(std::size_t i, std::size_t n) const { return pieces_.start(i + n) - pieces_.start(i) - 1; }

    void tag_places();
    void tag(std::size_t piece, bool from_end, std::size_t place);
};

}  // namespace candide
