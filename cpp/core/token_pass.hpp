// One pass over texts for several recipes: each shard's rows, and what their codes mean in the end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "recipe.hpp"
#include "shard_rows.hpp"
#include "tokenise.hpp"

namespace candide {

// Tokens are numbered by a vocabulary, or by 2^bits buckets.
struct Coding {
    std::optional<SharedVocabulary> vocabulary;
    unsigned bits = 0;

    std::size_t size() const { return vocabulary ? vocabulary->size() : std::size_t{1} << bits; }
};

struct Look {
    Recipe recipe;
    Coding coding;
};

using Looks = std::vector<Look>;

// Reads texts in the ways that several recipes want; what they have in common is done once.
class Reader {
  public:
    explicit Reader(const Looks& looks);

    void open(const Text& text);

    // The tokens of the open text by one of the recipes.
    template <class Sink>
    void each_token(std::size_t look, Sink&& sink) {
        tokeniser_.each_token(looks_[look].recipe, bytes_, normal_texts_[normal_of_[look]], sink);
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

using AnyShardRows = std::variant<ShardRows<Vocabulary>, ShardRows<BucketSet>>;

// What the pass leaves of one recipe.
struct Pass {
    std::vector<AnyShardRows> shards;
    std::vector<std::vector<Code>> codes;  // for each shard what its codes become; kUnknown where there is none
    Coding coding;                         // with the new tokens, if it may grow
};

struct Shard {
    std::size_t look, number, first_row;
};

// Larger shards hold fewer tokens twice, smaller ones keep theirs in the cache.
std::vector<std::size_t> pass_bounds(Texts texts);

// `finish` is called for the rows of each shard once they are complete, on the thread that made them.
using Finish = std::function<void(const Shard&, AnyShardRows&)>;

std::vector<Pass> pass_over(Texts texts, const std::vector<std::size_t>& bounds, const Looks& looks, bool grow,
                            int n_threads, const Finish& finish);

}  // namespace candide
