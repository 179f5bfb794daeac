// A text to tokens, in the order in which scikit-learn's CountVectorizer makes them.
#pragma once

#include <algorithm>
#include <vector>

#include "pieces.hpp"
#include "tokenizer_config.hpp"
#include "words.hpp"

namespace candide {

class Tokenizer {
  public:
    // Call it before the tokens of another text.
    void begin_text() { read_from_ = nullptr; }

    // Calls `sink(bytes, length)` for each token; eight bytes behind it can be read. All stay until the next text. Not
    // for characters within words, which are made word by word.
    template <class Sink>
    void each_token(const TokenizerConfig& config, Bytes text, const NormalText& normal, Sink&& sink) {
        switch (config.analyzer) {
            case Analyzer::word: return words(config, normal, sink);
            case Analyzer::character: return characters(config, normal, sink);
            case Analyzer::place: return places(config, normal, sink);
            case Analyzer::given: return given(config, text, sink);
            case Analyzer::within_words: return;
        }
    }

    // Every n characters in a row of a word between two blanks; they stay until the next word. A word too short for
    // that is one token, once.
    template <class Sink>
    void each_within(const TokenizerConfig& config, const Byte* at, std::size_t n_bytes, Sink&& sink) {
        collect_padded_word(at, n_bytes);
        for (std::size_t n = config.low; n <= config.high; ++n) {
            ngrams(std::min(n, pieces_.count()), sink);
            if (n >= pieces_.count()) break;
        }
    }

  private:
    std::vector<Run> runs_;
    Pieces pieces_;
    Words words_;
    // What the words are of, and by which rule; configs that differ in neither share them.
    const NormalText* read_from_ = nullptr;
    const WordRule* read_by_ = nullptr;

    static bool wanted(const WordRule& rule, const Byte* at, std::size_t n) {
        return !rule.stop_words || !is_stop_word(rule, at, n);
    }
    static bool is_stop_word(const WordRule& rule, const Byte* at, std::size_t n);

    // Runs of word characters that are long enough and no stop words; and punctuation marks, if requested.
    template <class Visit>
    void each_word(const WordRule& rule, const NormalText& text, Visit&& visit) {
        text.word_runs(runs_);
        const Byte* behind = text.data();  // the last run
        for (const Run run : runs_) {
            const Byte* at = text.data() + run.begin;
            const std::size_t n = run.end - run.begin;
            if (rule.marks) each_mark(rule, behind, at, visit);
            if (n >= rule.min_length && (text.ascii() || long_enough(at, n, rule.min_length)) && wanted(rule, at, n))
                visit(at, n);
            behind = at + n;
        }
        if (rule.marks) each_mark(rule, behind, text.data() + text.size(), visit);
    }

    // The characters between two words that are no white space.
    template <class Visit>
    static void each_mark(const WordRule& rule, const Byte* at, const Byte* end, Visit&& visit) {
        while (at < end) {
            const Decoded found = decode(at, end);
            if (!(kFlags[found.character] & kSpace) && wanted(rule, at, found.length)) visit(at, found.length);
            at += found.length;
        }
    }

    static bool long_enough(const Byte* at, std::size_t n, std::size_t least) {
        if (n >= 4 * least) return true;
        std::size_t characters = 0;
        for (std::size_t i = 0; i < n; ++i) characters += !continues(at[i]);
        return characters >= least;
    }

    template <class Sink>
    void words(const TokenizerConfig& config, const NormalText& text, Sink&& sink) {
        if (config.high == 1) return each_word(config.words, text, sink);
        read_words(config.words, text);
        words_.each_joined(config.low, config.high, config.ends, sink);
    }

    template <class Sink>
    void places(const TokenizerConfig& config, const NormalText& text, Sink&& sink) {
        read_words(config.words, text);
        words_.each_place(sink);
    }

    void read_words(const WordRule& rule, const NormalText& text);

    template <class Sink>
    void given(const TokenizerConfig& config, Bytes text, Sink&& sink) {
        read_given(config.words, text);
        words_.each_joined(config.low, config.high, config.ends, sink);
    }

    void read_given(const WordRule& rule, Bytes text);

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
    void characters(const TokenizerConfig& config, const NormalText& text, Sink&& sink) {
        collect_characters(text);
        for (std::size_t n = config.low; n <= config.high && n <= pieces_.count(); ++n) ngrams(n, sink);
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
