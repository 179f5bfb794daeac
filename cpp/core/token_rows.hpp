// Texts as compressed rows of token counts.
#pragma once

#include <cstdint>
#include <vector>

#include "reader.hpp"

namespace candide {

struct TokenRows {
    std::vector<std::int64_t> indptr;
    std::vector<Code> codes;            // of each row in the order in which its tokens first appear
    std::vector<std::int32_t> counts;   // if requested
    std::vector<std::int64_t> unknown;  // of each row, tokens that have no code
    Coding coding;
};

std::vector<TokenRows> count_tokens(Texts texts, const FeatureList& features, bool grow, bool counts, int n_threads);

}  // namespace candide
