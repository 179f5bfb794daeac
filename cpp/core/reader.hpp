// Reads texts in the ways that several recipes want; what they have in common is done once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "recipe.hpp"
#include "tokenise.hpp"
#include "word_memo.hpp"

namespace candide {

// Tokens are numbered by a vocabulary, or by 2^bits buckets.
struct Coding {
    std::optional<SharedVocabulary> vocabulary;
    unsigned bits = 0;

    std::size_t size() const { return vocabulary ? vocabulary->size() : std::size_t{1} << bits; }
};

// One way to look at texts.
struct Look {
    Recipe recipe;
    Coding coding;
};

using Looks = std::vector<Look>;

class Reader {
  public:
    explicit Reader(const Looks& looks);

    void open(const Text& text);

    // The tokens of the open text by one of the recipes.
    template <class Sink>
    void each_token(std::size_t look, Sink&& sink) {
        tokeniser_.each_token(looks_[look].recipe, bytes_, normal_texts_[normal_of_[look]], sink);
    }

    bool is_within_words(std::size_t look) const { return looks_[look].recipe.analyzer == Analyzer::within_words; }

    // Word by word the codes of the tokens within it, where that is the recipe; of a new word by `code_of(token)`.
    // `take(codes)` comes some time after `expect(codes)`.
    template <class CodeOf, class Expect, class Take>
    void each_word(std::size_t look, WordMemo& memo, CodeOf&& code_of, Expect&& expect, Take&& take) {
        const auto make = [&](const Token& word, std::vector<Code>& made) {
            tokeniser_.each_within(looks_[look].recipe, word.at, word.length, [&](const Byte* at, std::size_t n) {
                made.push_back(code_of(Token(at, n)));
            });
        };
        Tokeniser::each_blank_word(normal_texts_[normal_of_[look]], [&](const Byte* at, std::size_t n) {
            if (memo.add(at, n)) memo.take(make, expect, take);
        });
        memo.take(make, expect, take);
    }

  private:
    const Looks& looks_;
    std::vector<Normal> normals_;
    std::vector<std::size_t> normal_of_;
    std::vector<NormalText> normal_texts_;
    std::vector<Byte> scratch_;
    Bytes bytes_;
    Tokeniser tokeniser_;
};

}  // namespace candide
