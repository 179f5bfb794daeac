// One pass over texts for several recipes.
//
// Every thread numbers tokens in its own way. When a shard is read, its new tokens are joined to those of all shards,
// in the order of the shards: so codes follow the first appearance in the texts, whoever read them. That works since a
// thread reads its shards in rising order, and whoever reads a token's first appearance has not seen it before.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "parallel.hpp"
#include "reader.hpp"
#include "token_stream.hpp"
#include "turns.hpp"
#include "word_memo.hpp"

namespace candide {

// One thread's tokens by one recipe. What it keeps of them is told the thread's codes, text by text and shard by shard.
template <class Keeper>
struct Worker {
    AnyTokenStream stream;
    std::vector<Code> codes;  // what the thread's codes become; kUnknown where there is none
    Keeper keeper;
    WordMemo memo;
    std::size_t n_joined = 0;  // tokens that were handed over
};

// What the pass leaves of one recipe.
template <class Keeper>
struct Pass {
    std::vector<std::unique_ptr<Worker<Keeper>>> workers;
    Coding coding;  // with the new tokens, if it may grow
};

// Larger shards hand over fewer tokens twice, smaller ones are shared out more evenly.
inline std::vector<std::size_t> pass_bounds(Texts texts) { return shard_bounds(texts, std::size_t{1} << 20, 64); }

AnyTokenStream stream_for(const Coding& coding);

// The tokens that are new since some were handed over.
TokenList new_tokens(const AnyTokenStream& stream, std::size_t& n_joined);

// Appends the codes of new tokens among all tokens of the pass.
void join(const TokenList& tokens, Vocabulary& all, std::vector<Code>& codes);

// For each token of the pass its code in the end; the vocabulary grows, if it may.
std::vector<Code> settle(Coding& coding, Vocabulary&& all, bool grow);

// From codes among the tokens of the pass to those in the end; or from a thread's numbers to buckets.
void translate(const AnyTokenStream& stream, const std::vector<Code>& settled, std::vector<Code>& codes);

template <class Keeper, class Stream>
void read_within_words(Reader& reader, std::size_t look, Stream& stream, WordMemo& memo, Keeper& keeper) {
    reader.each_blank_word(look, [&](const Byte* at, std::size_t n) {
        const auto codes = memo.codes(Token(at, n), [&](std::vector<Code>& made) {
            reader.each_within(look, at, n, [&](const Byte* token, std::size_t size) {
                made.push_back(stream.code_of(token, size));
            });
        });
        for (const Code code : codes) keeper.prefetch(code);
        for (const Code code : codes) keeper.add(code);
    });
}

template <class Keeper>
void read_text(Reader& reader, std::size_t look, std::size_t row, bool within_words, Worker<Keeper>& worker) {
    worker.keeper.begin_text(row);
    std::visit(
        [&](auto& stream) {
            if (within_words) return read_within_words(reader, look, stream, worker.memo, worker.keeper);
            reader.each_token(look, [&](const Byte* at, std::size_t n) { stream.add(at, n, worker.keeper); });
            stream.flush(worker.keeper);
        },
        worker.stream);
}

// `make_keeper(look)` makes what keeps a thread's codes: it has begin_text(row), prefetch(code), add(code) and end_shard(shard, codes),
// where `codes` will hold what they mean.
template <class Keeper, class Make>
std::vector<Pass<Keeper>> pass_over(Texts texts, const std::vector<std::size_t>& bounds, const Looks& looks, bool grow,
                                    int n_threads, Make&& make_keeper) {
    struct HandedOver {
        Worker<Keeper>* worker;
        TokenList tokens;
    };
    const std::size_t n_shards = bounds.size() - 1;
    std::vector<Pass<Keeper>> passes(looks.size());
    std::vector<Vocabulary> all(looks.size());
    std::vector<std::vector<HandedOver>> handed_over(n_shards);
    std::mutex lock;
    Turns turns(n_shards);
    parallel_loops(n_shards, total_units(texts) * looks.size(), n_threads, [&](auto&& next) {
        Reader reader(looks);
        std::vector<Worker<Keeper>*> mine;
        for (std::size_t k = 0; k < looks.size(); ++k) {
            auto made = std::make_unique<Worker<Keeper>>(stream_for(looks[k].coding), std::vector<Code>{}, make_keeper(k), WordMemo{});
            mine.push_back(made.get());
            const std::lock_guard<std::mutex> guard(lock);
            passes[k].workers.push_back(std::move(made));
        }
        for (std::size_t s; next(s);) {
            for (std::size_t row = bounds[s]; row < bounds[s + 1]; ++row) {
                reader.open(texts[row]);
                for (std::size_t k = 0; k < looks.size(); ++k) read_text(reader, k, row, looks[k].recipe.analyzer == Analyzer::within_words, *mine[k]);
            }
            for (Worker<Keeper>* worker : mine) {
                worker->keeper.end_shard(s, worker->codes);
                handed_over[s].push_back({worker, new_tokens(worker->stream, worker->n_joined)});
            }
            turns.done(s, [&](std::size_t turn) {
                for (std::size_t k = 0; k < looks.size(); ++k)
                    join(handed_over[turn][k].tokens, all[k], handed_over[turn][k].worker->codes);
                handed_over[turn] = {};
            });
        }
    });
    for (std::size_t k = 0; k < looks.size(); ++k) {
        passes[k].coding = looks[k].coding;
        const auto settled = settle(passes[k].coding, std::move(all[k]), grow);
        for (auto& worker : passes[k].workers) translate(worker->stream, settled, worker->codes);
    }
    return passes;
}

}  // namespace candide
