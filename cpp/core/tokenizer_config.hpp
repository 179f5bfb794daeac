// How tokens are made of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "normal_text.hpp"
#include "shared_vocabulary.hpp"

namespace candide {

// Words; characters across words; characters within words between blanks; words by their places; or words that were
// made elsewhere, verbatim, each with a byte 0xFF behind it, which is no part of UTF-8.
enum class Analyzer : std::uint8_t { word, character, within_words, place, given };

inline constexpr Byte kTokenEnd = 0xFF;

// What a word is.
struct WordRule {
    std::size_t min_length = 2;                    // characters
    bool marks = false;                            // every other character that is no white space is a word too
    std::shared_ptr<const Vocabulary> stop_words;  // left out before words are joined

    bool operator==(const WordRule&) const = default;
};

struct TokenizerConfig {
    Analyzer analyzer = Analyzer::word;
    std::size_t low = 1, high = 1;  // words or characters in a token
    Normal normal;
    WordRule words;
    bool ends = false;  // an empty word before the first and behind the last is joined too
};

}  // namespace candide
