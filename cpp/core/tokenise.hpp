// A text to tokens, in the order in which scikit-learn's CountVectorizer makes them.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "recipe.hpp"

namespace candide {

// Pieces (words, characters) one after the other in a buffer that is padded for hashing.
class Pieces {
  public:
    void clear(std::size_t room) {
        if (bytes_.size() < room + NormalText::kPadding) bytes_.resize(room + NormalText::kPadding);
        starts_.clear();
        size_ = 0;
    }
    void begin() { starts_.push_back(size_); }
    void add(Byte byte) { bytes_[size_++] = byte; }
    void add(const Byte* from, std::size_t n) {
        if (n) std::memcpy(bytes_.data() + size_, from, n);
        size_ += n;
    }

    void drop_last() {
        size_ = starts_.back();
        starts_.pop_back();
    }

    std::size_t count() const { return starts_.size(); }
    std::size_t start(std::size_t i) const { return i < starts_.size() ? starts_[i] : size_; }
    const Byte* at(std::size_t i) const { return bytes_.data() + start(i); }

  private:
    std::vector<Byte> bytes_;
    std::vector<std::size_t> starts_;
    std::size_t size_ = 0;
};

class Tokeniser {
  public:
    // Calls `sink(bytes, length)` for each token; eight bytes behind it can be read. All stay until the next text. Not
    // for characters within words, which are made word by word.
    template <class Sink>
    void each_token(const Recipe& recipe, Bytes text, const NormalText& normal, Sink&& sink) {
        switch (recipe.analyzer) {
            case Analyzer::word: return words(recipe, normal, sink);
            case Analyzer::character: return characters(recipe, normal, sink);
            case Analyzer::given: return given(recipe, text, sink);
            case Analyzer::within_words: return;
        }
    }

    // The words between white spaces.
    template <class Visit>
    static void each_blank_word(const NormalText& text, Visit&& visit) {
        const Byte *at = text.data(), *end = at + text.size(), *begin = nullptr;
        while (at < end) {
            const Decoded found = decode(at, end);
            if (!(kFlags[found.character] & kSpace)) {
                if (!begin) begin = at;
            } else if (begin) {
                visit(begin, static_cast<std::size_t>(at - begin));
                begin = nullptr;
            }
            at += found.length;
        }
        if (begin) visit(begin, static_cast<std::size_t>(end - begin));
    }

    // Every n characters in a row of a word between two blanks; they stay until the next word. A word too short for
    // that is one token, once.
    template <class Sink>
    void each_within(const Recipe& recipe, const Byte* at, std::size_t n_bytes, Sink&& sink) {
        collect_padded_word(at, n_bytes);
        for (std::size_t n = recipe.low; n <= recipe.high; ++n) {
            ngrams(std::min(n, pieces_.count()), sink);
            if (n >= pieces_.count()) break;
        }
    }

  private:
    std::vector<Run> runs_;
    Pieces pieces_;

    static bool wanted(const Recipe& recipe, const Byte* at, std::size_t n) {
        return !recipe.stop_words || recipe.stop_words->find(Token(at, n)) == kUnknown;
    }

    // Runs of word characters that are long enough and no stop words.
    template <class Visit>
    void each_word(const Recipe& recipe, const NormalText& text, Visit&& visit) {
        text.word_runs(runs_);
        for (const Run run : runs_) {
            const Byte* at = text.data() + run.begin;
            const std::size_t n = run.end - run.begin;
            if (n >= recipe.min_length && (text.ascii() || long_enough(at, n, recipe.min_length)) &&
                wanted(recipe, at, n))
                visit(at, n);
        }
    }

    static bool long_enough(const Byte* at, std::size_t n, std::size_t least) {
        if (n >= 4 * least) return true;
        std::size_t characters = 0;
        for (std::size_t i = 0; i < n; ++i) characters += !continues(at[i]);
        return characters >= least;
    }

    template <class Sink>
    void words(const Recipe& recipe, const NormalText& text, Sink&& sink) {
        if (recipe.high == 1) return each_word(recipe, text, sink);
        pieces_.clear(2 * text.size() + 1);
        each_word(recipe, text, [&](const Byte* at, std::size_t n) { add_word(at, n); });
        joined_words(recipe, sink);
    }

    void add_word(const Byte* at, std::size_t n) {
        pieces_.begin();
        pieces_.add(at, n);
        pieces_.add(' ');
    }

    // Every n words in a row, a blank between them and none at the end.
    template <class Sink>
    void joined_words(const Recipe& recipe, Sink&& sink) {
        for (std::size_t n = recipe.low; n <= recipe.high && n <= pieces_.count(); ++n)
            for (std::size_t i = 0; i + n <= pieces_.count(); ++i)
                sink(pieces_.at(i), pieces_.start(i + n) - pieces_.start(i) - 1);
    }

    template <class Sink>
    void given(const Recipe& recipe, Bytes text, Sink&& sink) {
        pieces_.clear(2 * text.size() + 2);
        for (const Byte *at = text.data(), *end = at + text.size(); at < end;) {
            const auto* stop = static_cast<const Byte*>(std::memchr(at, kTokenEnd, static_cast<std::size_t>(end - at)));
            const Byte* until = stop ? stop : end;
            add_given(recipe, at, static_cast<std::size_t>(until - at));
            at = until + 1;
        }
        joined_words(recipe, sink);
    }

    // Stop words are known when the word is in the padded buffer; then it is taken back.
    void add_given(const Recipe& recipe, const Byte* at, std::size_t n);

    // Calls `visit(bytes, length, is white space)` for each character.
    template <class Visit>
    static void each_character(const NormalText& text, Visit&& visit) {
        const Byte *at = text.data(), *end = at + text.size();
        while (at < end) {
            const Decoded found = decode(at, end);
            visit(at, found.length, (kFlags[found.character] & kSpace) != 0);
            at += found.length;
        }
    }

    // Two or more white spaces in a row are one blank.
    void collect_characters(const NormalText& text);

    template <class Sink>
    void characters(const Recipe& recipe, const NormalText& text, Sink&& sink) {
        collect_characters(text);
        for (std::size_t n = recipe.low; n <= recipe.high && n <= pieces_.count(); ++n) ngrams(n, sink);
    }

    // Every n pieces in a row.
    template <class Sink>
    void ngrams(std::size_t n, Sink&& sink) {
        for (std::size_t i = 0; i + n <= pieces_.count(); ++i)
            sink(pieces_.at(i), pieces_.start(i + n) - pieces_.start(i));
    }

    void collect_padded_word(const Byte* at, std::size_t n);
};

}  // namespace candide
