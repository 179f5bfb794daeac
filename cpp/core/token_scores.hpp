// Scores of texts that are sums over their tokens: rows are never made.
#pragma once

#include <cstdint>
#include <vector>

#include "reader.hpp"

namespace candide {

// What a token adds: `width` numbers for each code, side by side.
struct TokenTable {
    const void* cells = nullptr;  // null for none
    std::size_t width = 0;
    bool wide = true;  // doubles, else floats
};

// Results of one tokenizer for each text; null for what is not requested.
struct TokenScores {
    TokenTable each, once;  // added for every occurrence of a token; once for every token of a text
    double *scores = nullptr, *once_scores = nullptr;
    std::int64_t *known = nullptr, *unknown = nullptr;  // tokens with and without a code
    std::int64_t* distinct = nullptr;                   // different tokens with a code
};

// A vocabulary does not grow here; unknown tokens add nothing.
void score_tokens(Texts texts, const FeatureList& features, const std::vector<TokenScores>& scores, int n_threads);

}  // namespace candide
