// How tokens are made of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "normal_text.hpp"
#include "shared_vocabulary.hpp"

namespace candide {

// Words; characters across words; characters within words between blanks; or tokens that were made elsewhere, verbatim,
// each with a byte 0xFF behind it, which is no part of UTF-8.
enum class Analyzer : std::uint8_t { word, character, within_words, given };

inline constexpr Byte kTokenEnd = 0xFF;

struct Recipe {
    Analyzer analyzer = Analyzer::word;
    std::size_t low = 1, high = 1;  // words or characters in a token
    Normal normal;
    std::size_t min_length = 2;  // characters of a word
    std::shared_ptr<const Vocabulary> stop_words;  // left out before words are joined
};

}  // namespace candide
