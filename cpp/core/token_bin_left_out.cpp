#include <numeric>

#include "token_bin_rows.hpp"
#include "totals.hpp"

namespace candide {
namespace {

// What the tokens of one row count in its class and in all, and what becomes of that without the row; in whole packs.
struct Leaving {
    std::vector<Entries> entries;
    std::vector<std::size_t> place;  // of the own class among the entries, or their number
    std::vector<double> own, all, evidence;
    std::vector<double> left, level, plain, by_others;
    std::vector<double> logs;  // of one token

    void clear() {
        entries.clear();
        place.clear();
        own.clear();
        all.clear();
        evidence.clear();
    }

    void add(const Entries& found, std::size_t own_place, double own_count, double weight, double g2) {
        entries.push_back(found);
        place.push_back(own_place);
        own.push_back(own_count);
        all.push_back(weight);
        evidence.push_back(g2);
    }

    void pad() {
        const std::size_t n = padded(entries.size());
        for (auto* numbers : {&own, &all, &evidence}) numbers->resize(n, 1.0);
        for (auto* numbers : {&left, &level, &plain, &by_others}) numbers->resize(n);
    }
};

CANDIDE_INLINE Pack rest_of(const Pack& count, const Pack& removed) {
    const Pack left = count - removed;
    return left <= kRest * count ? Pack{} : left;
}

struct Leave {
    double weight, share, alpha;
    const double* log_knots;
    std::size_t n_knots;
};

// With counts t of the own class and T of all that become t' and T', evidence changes by
// 2 [(t - t') log(T share / t) + T' log(T / T') - t' log(t / t')]: no difference of large logarithms.
CANDIDE_CLONES void leave(const Leave& how, Leaving& tokens) {
    const Pack none{}, one = none + 1.0;
    for (std::size_t k = 0; k < tokens.entries.size(); k += kPack) {
        const Pack t = loaded<Pack>(&tokens.own[k]), total = loaded<Pack>(&tokens.all[k]);
        const Pack rest = rest_of(t, none + how.weight), removed = t - rest;
        const Pack total_rest = rest_of(total, removed), others = total - t;
        const Pack expected = logarithm(t > none ? total * how.share / t : one);
        const Pack all_change = total_rest * logarithm(total_rest > none ? total / total_rest : one);
        const Pack own_change = rest * logarithm(rest > none ? t / rest : one);
        const Pack g2 = loaded<Pack>(&tokens.evidence[k]) + 2.0 * (removed * expected + (all_change - own_change));
        store(&tokens.left[k], total_rest);
        store(&tokens.level[k], level_of(g2, how.log_knots, how.n_knots));
        store(&tokens.plain[k], logarithm((rest + how.alpha) / how.alpha));
        store(&tokens.by_others[k],
              -logarithm(((others > none ? others : none) + how.alpha) / (total_rest + how.alpha)));
    }
}

// Both kinds for the entries of a token of which `all` is left: the plain one of the table, and by all other classes
// -log((all - count + alpha) / (all + alpha)).
CANDIDE_CLONES void both_logs(const double* logs, const double* count, std::size_t n, double all, double alpha,
                              double* out) {
    const Pack none{};
    const double whole = 1.0 / (all + alpha);
    each_pack(count, n, [&](std::size_t first, const Pack& own) CANDIDE_INLINE_LAMBDA {
        const Pack others = all - own;
        double by_others[kPack];
        store(by_others, logarithm(((others > none ? others : none) + alpha) * whole));
        for (std::size_t i = first; i < std::min(first + kPack, n); ++i) {
            out[2 * i] = logs[2 * i];
            out[2 * i + 1] = -by_others[i - first];
        }
    });
}

void find_counts(const Tokens& tokens, std::size_t own, const TokenBins& table, const TokenBinSums& sums,
                 Leaving& found) {
    const auto fetch = [&](std::size_t token) {
        prefetch(sums.weight + token);
        prefetch(sums.evidence + token);
    };
    const auto fetch_entries = [&](std::int64_t begin) {
        prefetch(table.classes + begin);
        prefetch(sums.count + begin);
        prefetch(table.logs + begin * table.n_kinds);
    };
    found.clear();
    each_token(tokens, table, fetch, fetch_entries, [&](std::size_t token, const Entries& entries) {
        const std::size_t place = find_class(table.classes + entries.begin, entries.size, table.n_classes, own);
        const double count = place < entries.size ? sums.count[entries.begin + place] : 0.0;
        found.add(entries, place, count, sums.weight[token], sums.evidence[token]);
    });
    found.pad();
}

// Those of the table, but for the own class, and by all other classes for every class.
void make_logs(const TokenBins& table, const TokenBinSums& sums, std::size_t k, Leaving& tokens) {
    const auto [begin, n] = tokens.entries[k];
    const double* logs = table.logs + begin * table.n_kinds;
    tokens.logs.resize(n * table.n_kinds);
    if (table.n_kinds == 1)
        std::copy_n(logs, n, tokens.logs.begin());
    else
        both_logs(logs, sums.count + begin, n, tokens.left[k], sums.alpha, tokens.logs.data());
    if (tokens.place[k] == n) return;
    double* own = tokens.logs.data() + tokens.place[k] * table.n_kinds;
    own[0] = tokens.plain[k];
    if (table.n_kinds == 2) own[1] = tokens.by_others[k];
}

void add_left(const TokenBins& table, const TokenBinSums& made_of, Leaving& tokens, RowSums& sums) {
    Steps steps;
    for (std::size_t k = 0; k < tokens.entries.size(); ++k) {
        steps.add(kTokenSteps);
        if (tokens.left[k] == 0.0) continue;
        make_logs(table, made_of, k, tokens);
        const auto [begin, n] = tokens.entries[k];
        sums.add_token(tokens.level[k], table.classes + begin, tokens.logs.data(), n);
    }
}

}  // namespace

template <class Index>
void token_bin_left_out(const Members<Rows<Index>>& members, const TokenBins& table, const TokenBinSums& sums,
                        int n_threads, double* scores) {
    const double all = std::accumulate(sums.size, sums.size + table.n_classes, 0.0);
    auto add = [&](std::size_t r, const Tokens& tokens, RowSums& row, Leaving& counts) {
        const double weight = members.weight(r);
        if (weight == 0.0) return add_new(tokens, table, row);
        const std::size_t own = members.own(r);
        find_counts(tokens, own, table, sums, counts);
        leave({weight, all > 0.0 ? sums.size[own] / all : 0.0, sums.alpha, sums.log_knots, table.n_bins}, counts);
        add_left(table, sums, counts, row);
    };
    each_text<Leaving>(members.rows, table, n_threads, scores, add);
}

#define CANDIDE_INSTANTIATE(Index) \
    template void token_bin_left_out(const Members<Rows<Index>>&, const TokenBins&, const TokenBinSums&, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
