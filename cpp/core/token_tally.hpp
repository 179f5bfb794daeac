// Occurrences of tokens, and texts that hold them, by class; rows of counts are never kept.
#pragma once

#include "class_sums.hpp"
#include "reader.hpp"

namespace candide {

struct TokenTally {
    ClassSums sums;
    Coding coding;
};

// `weight` is one per text, or null.
std::vector<TokenTally> tally_tokens(Texts texts, const std::int32_t* classes, const double* weight,
                                     std::size_t n_classes, const FeatureList& features, bool grow, int n_threads);

}  // namespace candide
