// Properties of characters, as in Python. The tables are made by tools/unicode_tables.py when the core is built.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// A cell for every character; equal pages of 128 are kept once.
template <class Cell>
struct TwoLevels {
    const std::uint16_t* pages;
    const Cell* cells;

    Cell operator[](char32_t character) const {
        return cells[static_cast<std::size_t>(pages[character >> 7]) << 7 | (character & 127)];
    }
};

enum CharacterFlag : std::uint8_t {
    kWord = 1,       // \w
    kSpace = 2,      // \s
    kDigit = 4,      // \d
    kIgnorable = 8,  // skipped when a capital sigma is checked for the end of a word
    kCased = 16,     // a letter to such a sigma
};

extern const TwoLevels<std::uint8_t> kFlags;
// Where in the pool the characters stand that one becomes, their number first; 0 if it stays as it is.
extern const TwoLevels<std::uint16_t> kLowerPlaces, kBarePlaces;
extern const char32_t kLowerPool[], kBarePool[];
extern const char* const kUnicodeVersion;

inline constexpr char32_t kReplacement = 0xFFFD;

// Calls `visit` with each character that one becomes.
template <class Visit>
void each_lower(char32_t character, Visit&& visit) {
    const char32_t* pool = kLowerPool + kLowerPlaces[character];
    if (pool == kLowerPool) return visit(character);
    for (char32_t i = 1; i <= *pool; ++i) visit(pool[i]);
}

// Without accents: the compatibility decomposition, combining marks left out.
template <class Visit>
void each_bare(char32_t character, Visit&& visit) {
    constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
    if (character >= kSyllables && character < kSyllables + 11172) {
        const char32_t at = character - kSyllables;
        visit(kLeads + at / 588);
        visit(kVowels + at % 588 / 28);
        if (at % 28) visit(kTails + at % 28);
        return;
    }
    const char32_t* pool = kBarePool + kBarePlaces[character];
    if (pool == kBarePool) return visit(character);
    for (char32_t i = 1; i <= *pool; ++i) visit(pool[i]);
}

}  // namespace candide
