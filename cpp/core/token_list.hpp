// Texts that are tokens already.
#pragma once

#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

// The distinct ones in the order in which they come, and which of them each text is.
std::pair<Vocabulary, std::vector<Code>> distinct_tokens(Texts texts);

// The bucket of each.
std::vector<Code> token_buckets(Texts texts, unsigned bits);

}  // namespace candide
