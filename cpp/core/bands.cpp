#include "bands.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "elementary.hpp"
#include "totals.hpp"

namespace candide {
namespace {

constexpr std::size_t kTileRows = 64;
// Tables of all tokens lie in memory: what a token has is fetched while this many others are worked on.
constexpr std::size_t kAhead = 8;

using Tokens = std::vector<std::size_t>;

// Where the entries of a token lie.
struct Entries {
    std::size_t begin, size;
};

// Tables are too large to be checked in every call: what is used of them is.
void require_inside(bool inside) {
    if (!inside) throw std::invalid_argument("tokens and their entries must lie in their table");
}

Entries entries_of(const BandTable& table, std::size_t token) {
    const std::int64_t begin = table.indptr[token], end = table.indptr[token + 1];
    require_inside(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= table.n_entries);
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
}

// The tokens of a row that some class has.
template <class Index>
void find_tokens(const Rows<Index>& rows, std::size_t row, const BandTable& table, Tokens& tokens) {
    const Index* codes = rows.indices + rows.indptr[row];
    const std::size_t n = rows.size(row);
    tokens.clear();
    for (std::size_t k = 0; k < n; ++k) {
        if (k + 2 * kAhead < n) prefetch(table.place + codes[k + 2 * kAhead]);
        const std::int32_t token = table.place[codes[k]];
        if (token < 0) continue;
        require_inside(static_cast<std::size_t>(token) < table.n_tokens);
        tokens.push_back(static_cast<std::size_t>(token));
    }
}

// Calls `visit(token, entries)`; `fetch(token)` and `fetch_entries(begin)` ask early for what it will read.
template <class Fetch, class FetchEntries, class Visit>
void each_token(const Tokens& tokens, const BandTable& table, Fetch&& fetch, FetchEntries&& fetch_entries,
                Visit&& visit) {
    for (std::size_t k = 0; k < tokens.size(); ++k) {
        if (k + 2 * kAhead < tokens.size()) {
            prefetch(table.indptr + tokens[k + 2 * kAhead]);
            fetch(tokens[k + 2 * kAhead]);
        }
        if (k + kAhead < tokens.size()) fetch_entries(table.indptr[tokens[k + kAhead]]);
        visit(tokens[k], entries_of(table, tokens[k]));
    }
}

// out[class] += logs for the entries of a token; kinds stand side by side.
template <std::size_t Kinds>
void add_entries(const std::int32_t* classes, const double* logs, std::size_t n, std::size_t n_classes, double* out) {
    if (n == n_classes) {
        for (std::size_t i = 0; i < n * Kinds; ++i) out[i] += logs[i];
        return;
    }
    bool inside = true;
    for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<std::size_t>(classes[i]);
        inside = inside && c < n_classes;
        if (!inside) [[unlikely]] break;
        for (std::size_t kind = 0; kind < Kinds; ++kind) out[c * Kinds + kind] += logs[i * Kinds + kind];
    }
    require_inside(inside);
}

// The sums of one row: (n_bands, n_classes, n_kinds).
class RowSums {
  public:
    explicit RowSums(const BandTable& table)
        : table_(table), sums_(table.n_bands * table.n_classes * table.n_kinds), tokens_(table.n_bands) {}

    void clear() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(tokens_.begin(), tokens_.end(), 0.0);
    }

    // One token more, and where its logarithms belong.
    double* add_token(std::size_t band) {
        tokens_[band] += 1.0;
        return sums_.data() + band * table_.n_classes * table_.n_kinds;
    }

    void write(double* scores, std::size_t to_next_view) const {
        for (std::size_t kind = 0; kind < table_.n_kinds; ++kind)
            for (std::size_t band = 0; band < table_.n_bands; ++band, scores += to_next_view)
                write_view(kind, band, scores);
    }

  private:
    void write_view(std::size_t kind, std::size_t band, double* scores) const {
        const std::size_t n = table_.n_classes;
        const double scale = 1.0 / std::sqrt(1.0 + std::accumulate(tokens_.begin(), tokens_.end(), 0.0));
        const double cost = kind == 0 ? tokens_[band] : -tokens_[band];
        const double *sum = sums_.data() + band * n * table_.n_kinds + kind, *log_size = table_.log_size + kind * n;
        for (std::size_t c = 0; c < n; ++c) scores[c] = scale * (sum[c * table_.n_kinds] - cost * log_size[c]);
    }

    const BandTable& table_;
    std::vector<double> sums_, tokens_;
};

void add_new(const Tokens& tokens, const BandTable& table, RowSums& sums) {
    const auto add = table.n_kinds == 1 ? add_entries<1> : add_entries<2>;
    const auto fetch = [&](std::size_t token) { prefetch(table.band + token); };
    const auto fetch_entries = [&](std::int64_t begin) {
        prefetch(table.classes + begin);
        prefetch(table.logs + begin * table.n_kinds);
    };
    each_token(tokens, table, fetch, fetch_entries, [&](std::size_t token, const Entries& entries) {
        const auto [begin, n] = entries;
        const auto band = static_cast<std::size_t>(table.band[token]);
        require_inside(band < table.n_bands);
        add(table.classes + begin, table.logs + begin * table.n_kinds, n, table.n_classes, sums.add_token(band));
    });
}

// What the tokens of one row count in its class and in all, and what becomes of that without the row; in whole packs.
struct Leaving {
    std::vector<Entries> entries;
    std::vector<double> own, all, evidence;
    std::vector<double> left, band, plain, by_others;

    void clear() {
        entries.clear();
        own.clear();
        all.clear();
        evidence.clear();
    }

    void add(const Entries& found, double own_count, double weight, double g2) {
        entries.push_back(found);
        own.push_back(own_count);
        all.push_back(weight);
        evidence.push_back(g2);
    }

    void pad() {
        const std::size_t n = padded(entries.size());
        for (auto* numbers : {&own, &all, &evidence}) numbers->resize(n, 1.0);
        for (auto* numbers : {&left, &band, &plain, &by_others}) numbers->resize(n);
    }
};

CANDIDE_INLINE Pack rest_of(const Pack& count, const Pack& removed) {
    const Pack left = count - removed;
    return left <= kRest * count ? Pack{} : left;
}

struct Leave {
    double weight, share, alpha;
    const double* reach;
    std::size_t n_cuts;
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
        Pack reached{};
        for (std::size_t i = 0; i < how.n_cuts; ++i) reached += g2 >= none + how.reach[i] ? one : none;
        store(&tokens.left[k], total_rest);
        store(&tokens.band[k], reached);
        store(&tokens.plain[k], logarithm((rest + how.alpha) / how.alpha));
        store(&tokens.by_others[k], -logarithm(((others > none ? others : none) + how.alpha) / (total_rest + how.alpha)));
    }
}

// Both kinds for the entries of a token of which `all` is left: the plain one of the table, and by all other classes
// -log((all - count + alpha) / (all + alpha)).
CANDIDE_CLONES bool add_both(const std::int32_t* classes, const double* logs, const double* count, std::size_t n,
                             double all, double alpha, std::size_t n_classes, double* out) {
    const Pack none{};
    const double whole = 1.0 / (all + alpha);
    bool inside = true;
    each_pack(count, n, [&](std::size_t first, const Pack& own) CANDIDE_INLINE_LAMBDA {
        const Pack others = all - own;
        double by_others[kPack];
        store(by_others, logarithm(((others > none ? others : none) + alpha) * whole));
        for (std::size_t i = first; i < std::min(first + kPack, n); ++i) {
            const auto c = static_cast<std::size_t>(classes[i]);
            inside = inside && c < n_classes;
            if (!inside) [[unlikely]] return;
            out[2 * c] += logs[2 * i];
            out[2 * c + 1] -= by_others[i - first];
        }
    });
    return inside;
}

double own_count(const BandTable& table, const double* count, const Entries& entries, std::size_t own) {
    const auto [begin, n] = entries;
    if (n == 0) return 0.0;
    if (n == table.n_classes) return count[begin + own];
    // Halves by arithmetic: of the branches of std::lower_bound half are foreseen wrongly, at three times the cost.
    const std::int32_t *at = table.classes + begin, wanted = static_cast<std::int32_t>(own);
    for (std::size_t size = n; size > 1; size -= size / 2) at += (at[size / 2] <= wanted) * (size / 2);
    return *at == wanted ? count[at - table.classes] : 0.0;
}

void find_counts(const Tokens& tokens, std::size_t own, const BandTable& table, const BandSums& sums, Leaving& found) {
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
        found.add(entries, own_count(table, sums.count, entries, own), sums.weight[token], sums.evidence[token]);
    });
    found.pad();
}

// All entries are added, and that of the own class, which may be none, is put in its place.
void add_left(const BandTable& table, const BandSums& made_of, std::size_t own, const Leaving& tokens, RowSums& sums) {
    const std::size_t n_kinds = table.n_kinds;
    for (std::size_t k = 0; k < tokens.entries.size(); ++k) {
        if (tokens.left[k] == 0.0) continue;
        const auto [begin, n] = tokens.entries[k];
        const std::int32_t* classes = table.classes + begin;
        double *out = sums.add_token(static_cast<std::size_t>(tokens.band[k])), *own_out = out + own * n_kinds;
        const double before[] = {own_out[0], own_out[n_kinds - 1]};
        if (n_kinds == 1) {
            add_entries<1>(classes, table.logs + begin, n, table.n_classes, out);
        } else {
            require_inside(add_both(classes, table.logs + 2 * begin, made_of.count + begin, n, tokens.left[k],
                                    made_of.alpha, table.n_classes, out));
            own_out[1] = before[1] + tokens.by_others[k];
        }
        own_out[0] = before[0] + tokens.plain[k];
    }
}

// Calls `add(row, tokens, sums, scratch)` for every row, and writes what it summed up.
template <class Scratch, class Index, class Add>
void each_text(const Rows<Index>& rows, const BandTable& table, int n_threads, double* scores, Add&& add) {
    const std::size_t n_tiles = (rows.n_rows + kTileRows - 1) / kTileRows;
    const std::size_t work = 16 * rows.stored() + rows.n_rows * table.n_bands * table.n_kinds * table.n_classes;
    parallel_for(n_tiles, work, n_threads, [&](std::size_t tile) {
        RowSums sums(table);
        Tokens tokens;
        Scratch scratch;
        for (std::size_t r = tile * kTileRows; r < std::min(rows.n_rows, (tile + 1) * kTileRows); ++r) {
            rows.check_bounds(r);
            rows.check_columns(r);
            find_tokens(rows, r, table, tokens);
            sums.clear();
            add(r, tokens, sums, scratch);
            sums.write(scores + r * table.n_classes, rows.n_rows * table.n_classes);
        }
    });
}

}  // namespace

template <class Index>
void band_scores(const Rows<Index>& rows, const BandTable& table, int n_threads, double* scores) {
    struct Nothing {};
    each_text<Nothing>(rows, table, n_threads, scores,
                       [&](std::size_t, const Tokens& tokens, RowSums& row, Nothing&) { add_new(tokens, table, row); });
}

template <class Index>
void band_left_out(const Members<Rows<Index>>& members, const BandTable& table, const BandSums& sums, int n_threads,
                   double* scores) {
    auto add = [&](std::size_t r, const Tokens& tokens, RowSums& row, Leaving& counts) {
        const double weight = members.weight(r);
        if (weight == 0.0) return add_new(tokens, table, row);
        const std::size_t own = members.own(r);
        find_counts(tokens, own, table, sums, counts);
        leave({weight, sums.share[own], sums.alpha, sums.reach, table.n_bands - 1}, counts);
        add_left(table, sums, own, counts, row);
    };
    each_text<Leaving>(members.rows, table, n_threads, scores, add);
}

#define CANDIDE_INSTANTIATE(Index)                                                                 \
    template void band_scores(const Rows<Index>&, const BandTable&, int, double*);                 \
    template void band_left_out(const Members<Rows<Index>>&, const BandTable&, const BandSums&, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
