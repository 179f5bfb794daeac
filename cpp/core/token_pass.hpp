// One pass over texts for several tokenizers.
//
// Every thread numbers tokens in its own way. When a shard is read, its new tokens are joined to those of all shards,
// in the order of the shards: so codes follow the first appearance in the texts, whichever thread read them. That works
// since a thread reads its shards in rising order, and the thread that reads a token's first appearance has not seen it
// before. Numbers of a thread that is alone are those of all.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "ordered_commit.hpp"
#include "parallel.hpp"
#include "reader.hpp"
#include "token_stream.hpp"

namespace candide {

AnyTokenStream stream_for(const Coding& coding);

// One thread's tokens by one config, and what it keeps of them.
template <class Keeper>
struct Worker {
    AnyTokenStream stream;
    Keeper keeper;
    std::vector<Code> codes;   // what the thread's codes become; kUnknown where there is none
    std::size_t n_joined = 0;  // tokens that were handed over

    Worker(const Coding& coding, Keeper made) : stream(stream_for(coding)), keeper(std::move(made)) {}
};

// What the pass leaves of one config.
template <class Keeper>
struct Pass {
    std::vector<std::unique_ptr<Worker<Keeper>>> workers;
    Coding coding;  // with the new tokens, if it may grow
};

// Larger shards hand over fewer tokens twice; smaller ones let a thousand messages use two threads.
inline std::vector<std::size_t> pass_bounds(Texts texts) { return shard_bounds(texts, std::size_t{1} << 15, 64); }

// New tokens of a thread, and where what they become is to be appended.
struct HandedOver {
    TokenList tokens;
    std::vector<Code>* codes;
};

// Those that are new since some were handed over; none of buckets, which are codes already.
TokenList new_tokens(const AnyTokenStream& stream, std::size_t& n_joined);

// The tokens of all shards, in the order of the shards.
class Joined {
  public:
    Joined(std::size_t n_features, std::size_t n_shards) : all_(n_features), waiting_(n_shards), commits_(n_shards) {}

    // What each config found in a shard; it is joined in its turn.
    void hand_over(std::size_t shard, std::vector<HandedOver> found);

    Vocabulary& tokens(std::size_t feature) { return all_[feature]; }

  private:
    std::vector<Vocabulary> all_;
    std::vector<std::vector<HandedOver>> waiting_;
    OrderedCommit commits_;
};

// The tokens of a thread that was alone, in their order; none of buckets.
Vocabulary take_tokens(AnyTokenStream& stream);

// For each token of the pass its code in the end; the vocabulary grows, if it may.
std::vector<Code> settle(Coding& coding, Vocabulary&& all, bool grow);

// The buckets that occurred; null where there are tokens.
const std::vector<Code>* met_buckets(const AnyTokenStream& stream);

// From codes among the tokens of the pass to those in the end; or from a thread's numbers to those of buckets.
void translate(const AnyTokenStream& stream, const Coding& coding, const std::vector<Code>& settled,
               std::vector<Code>& codes);

template <class Keeper>
void read_text(Reader& reader, std::size_t feature, std::size_t row, Worker<Keeper>& worker) {
    Keeper& keeper = worker.keeper;
    keeper.begin_text(row);
    std::visit(
        [&](auto& stream) {
            if (reader.is_within_words(feature)) {
                const auto ask = [&](const Token& token) { stream.ask(token); };
                const auto code_of = [&](const Token& token) { return stream.code_of(token); };
                const auto expect = [&](std::span<const Code> codes) {
                    for (const Code code : codes) keeper.expect(code);
                };
                reader.each_word(feature, ask, code_of, expect, [&](std::span<const Code> codes, std::uint32_t times) {
                    for (const Code code : codes) keeper.add(code, times);
                });
            } else {
                reader.each_token(feature, [&](const Byte* at, std::size_t n) { stream.add(at, n, keeper); });
                stream.flush(keeper);
            }
        },
        worker.stream);
}

// Reads the shards that fall to one thread. `joined` is null for a thread that is alone.
template <class Keeper, class Next>
void read_shards(Texts texts, const std::vector<std::size_t>& bounds, const FeatureList& features,
                 const std::vector<Worker<Keeper>*>& workers, Joined* joined, Next&& next) {
    Reader reader(features);
    for (std::size_t shard; next(shard);) {
        for (std::size_t row = bounds[shard]; row < bounds[shard + 1]; ++row) {
            reader.open(texts[row]);
            for (std::size_t k = 0; k < features.size(); ++k) read_text(reader, k, row, *workers[k]);
        }
        for (Worker<Keeper>* worker : workers) worker->keeper.end_shard(shard, worker->codes);
        if (!joined) continue;
        std::vector<HandedOver> found;
        for (Worker<Keeper>* worker : workers)
            found.push_back({new_tokens(worker->stream, worker->n_joined), &worker->codes});
        joined->hand_over(shard, std::move(found));
    }
}

// `make_keeper(feature)` makes what keeps a thread's codes: it has begin_text(row), expect(code), which comes
// some time before add(code, times), and end_shard(shard, codes), where `codes` will hold what they mean.
template <class Keeper, class Make>
std::vector<Pass<Keeper>> pass_over(Texts texts, const std::vector<std::size_t>& bounds, const FeatureList& features,
                                    bool grow, int n_threads, Make&& make_keeper) {
    const std::size_t n_shards = bounds.size() - 1, work = total_units(texts) * features.size();
    const bool alone = workers_for(n_shards, work, n_threads) <= 1;
    std::vector<Pass<Keeper>> passes(features.size());
    Joined joined(features.size(), n_shards);
    std::mutex lock;
    parallel_loops(n_shards, work, n_threads, [&](auto&& next) {
        std::vector<Worker<Keeper>*> mine;
        for (std::size_t k = 0; k < features.size(); ++k) {
            const std::lock_guard<std::mutex> guard(lock);
            passes[k].workers.push_back(std::make_unique<Worker<Keeper>>(features[k].coding, make_keeper(k)));
            mine.push_back(passes[k].workers.back().get());
        }
        read_shards(texts, bounds, features, mine, alone ? nullptr : &joined, next);
    });
    for (std::size_t k = 0; k < features.size(); ++k) {
        passes[k].coding = features[k].coding;
        Vocabulary& tokens = joined.tokens(k);
        if (alone) {
            Worker<Keeper>& worker = *passes[k].workers.front();
            tokens = take_tokens(worker.stream);
            worker.codes.resize(tokens.size());
            std::iota(worker.codes.begin(), worker.codes.end(), 0);
        }
        const auto settled = settle(passes[k].coding, std::move(tokens), grow);
        if (grow && passes[k].coding.some) {
            // Where some buckets alone have numbers, these get some too.
            std::vector<const std::vector<Code>*> met;
            for (auto& worker : passes[k].workers) met.push_back(met_buckets(worker->stream));
            passes[k].coding.some = std::make_shared<BucketList>(passes[k].coding.some->with(std::move(met)));
        }
        for (auto& worker : passes[k].workers) translate(worker->stream, passes[k].coding, settled, worker->codes);
    }
    return passes;
}

}  // namespace candide
