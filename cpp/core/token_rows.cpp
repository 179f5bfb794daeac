#include "token_rows.hpp"

#include <algorithm>
#include <numeric>

#include "row_keeper.hpp"
#include "token_pass.hpp"

namespace candide {
namespace {

// How many tokens of each row have a code, and how many occurrences have none (of rows without counts, tokens).
void measure(const ShardRows& rows, std::int64_t* stored, std::int64_t* unknown) {
    const bool all_known = std::find(rows.codes->begin(), rows.codes->end(), kUnknown) == rows.codes->end();
    Steps steps;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        steps.add(rows.end(r) - rows.begin(r));
        if (all_known) {
            stored[r] = static_cast<std::int64_t>(rows.end(r) - rows.begin(r));
            continue;
        }
        for (std::size_t i = rows.begin(r); i < rows.end(r); ++i) {
            const bool known = rows.code(i) != kUnknown;
            stored[r] += known;
            if (!known) unknown[r] += rows.counts.empty() ? 1 : rows.counts[i];
        }
    }
}

void write(const ShardRows& rows, Code* code, std::int32_t* count) {
    for (const auto [begin, end] : Ranges(rows.tokens.size())) {
        for (std::size_t i = begin; i < end; ++i) {
            if (rows.code(i) == kUnknown) continue;
            *code++ = rows.code(i);
            if (count) *count++ = static_cast<std::int32_t>(rows.counts[i]);
        }
    }
}

// Shards are freed as they are written: all of both would take twice the room.
TokenRows rows_of(std::vector<ShardRows>& shards, const std::vector<std::size_t>& bounds, bool counts,
                  std::size_t n_units, int n_threads) {
    TokenRows out;
    out.indptr.resize(bounds.back() + 1);
    out.unknown.resize(bounds.back());
    parallel_for(shards.size(), n_units, n_threads, [&](std::size_t s) {
        measure(shards[s], out.indptr.data() + bounds[s] + 1, out.unknown.data() + bounds[s]);
    });
    std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
    out.codes.resize(static_cast<std::size_t>(out.indptr.back()));
    if (counts) out.counts.resize(out.codes.size());
    parallel_for(shards.size(), n_units, n_threads, [&](std::size_t s) {
        const std::int64_t begin = out.indptr[bounds[s]];
        write(shards[s], out.codes.data() + begin, counts ? out.counts.data() + begin : nullptr);
        shards[s] = {};
    });
    return out;
}

}  // namespace

std::vector<TokenRows> count_tokens(Texts texts, const FeatureList& features, bool grow, bool counts, int n_threads) {
    const auto bounds = pass_bounds(texts);
    std::vector<std::vector<ShardRows>> shards(features.size(), std::vector<ShardRows>(bounds.size() - 1));
    const auto keep_in = [&](std::size_t feature) {
        return RowKeeper(
            counts, [&, feature](std::size_t shard, ShardRows& rows) { shards[feature][shard] = std::move(rows); });
    };
    const auto passes = pass_over<decltype(keep_in(0))>(texts, bounds, features, grow, n_threads, keep_in);
    std::vector<TokenRows> out;
    for (std::size_t k = 0; k < features.size(); ++k) {
        out.push_back(rows_of(shards[k], bounds, counts, total_units(texts), n_threads));
        out[k].coding = passes[k].coding;
    }
    return out;
}

}  // namespace candide
