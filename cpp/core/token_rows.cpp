#include "token_rows.hpp"

#include <numeric>

#include "parallel.hpp"

namespace candide {
namespace {

// How many entries of each row have a code, and how many tokens have none.
template <class Local>
void measure(const ShardRows<Local>& rows, const std::vector<Code>& codes, std::int64_t* stored, std::int64_t* unknown) {
    for (std::size_t r = 0; r < rows.n_rows(); ++r) {
        for (std::size_t i = rows.begin(r); i < rows.end(r); ++i) {
            const Entry entry = rows.entries()[i];
            const bool known = codes[entry.code] != kUnknown;
            stored[r] += known;
            unknown[r] += known ? 0 : entry.count;
        }
    }
}

template <class Local>
void write(const ShardRows<Local>& rows, const std::vector<Code>& codes, Code* code, std::int32_t* count) {
    const std::size_t n = rows.n_rows() ? rows.end(rows.n_rows() - 1) : 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Entry entry = rows.entries()[i];
        if (codes[entry.code] == kUnknown) continue;
        *code++ = codes[entry.code];
        *count++ = static_cast<std::int32_t>(entry.count);
    }
}

TokenRows rows_of(Pass& pass, const std::vector<std::size_t>& bounds, std::size_t n_units, int n_threads) {
    TokenRows out;
    out.coding = pass.coding;
    out.indptr.resize(bounds.back() + 1);
    out.unknown.resize(bounds.back());
    const auto each_shard = [&](auto&& visit) {
        parallel_for(pass.shards.size(), n_units, n_threads, [&](std::size_t s) {
            std::visit([&](const auto& rows) { visit(rows, pass.codes[s], bounds[s]); }, pass.shards[s]);
        });
    };
    each_shard([&](const auto& rows, const auto& codes, std::size_t first) {
        measure(rows, codes, out.indptr.data() + first + 1, out.unknown.data() + first);
    });
    std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
    out.codes.resize(static_cast<std::size_t>(out.indptr.back()));
    out.counts.resize(out.codes.size());
    each_shard([&](const auto& rows, const auto& codes, std::size_t first) {
        const std::int64_t begin = out.indptr[first];
        write(rows, codes, out.codes.data() + begin, out.counts.data() + begin);
    });
    return out;
}

}  // namespace

std::vector<TokenRows> count_tokens(Texts texts, const Looks& looks, bool grow, int n_threads) {
    const auto bounds = pass_bounds(texts);
    auto passes = pass_over(texts, bounds, looks, grow, n_threads, [](const Shard&, AnyShardRows&) {});
    std::vector<TokenRows> out;
    for (Pass& pass : passes) out.push_back(rows_of(pass, bounds, total_units(texts), n_threads));
    return out;
}

}  // namespace candide
