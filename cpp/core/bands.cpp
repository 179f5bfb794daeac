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

// Where the entries of a token lie.
struct Entries {
    std::size_t begin, size;
};

// Tables are too large to be checked in every call: what is used of them is.
void require_inside(bool inside) {
    if (!inside) throw std::invalid_argument("the entries of a token must lie in their table");
}

Entries entries_of(const BandTable& table, std::size_t token) {
    const std::int64_t begin = table.indptr[token], end = table.indptr[token + 1];
    require_inside(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= table.n_entries);
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
}

// Calls `visit(token, entries)` for the tokens of a row that some class has; `fetch(token)` and `fetch_entries(begin)`
// ask early for what it will read.
template <class Index, class Fetch, class FetchEntries, class Visit>
void each_token(const Rows<Index>& rows, std::size_t row, const BandTable& table, Fetch&& fetch,
                FetchEntries&& fetch_entries, Visit&& visit) {
    const Index* tokens = rows.indices + rows.indptr[row];
    const std::size_t n = rows.size(row);
    const auto token = [=](std::size_t k) { return static_cast<std::size_t>(tokens[k]); };
    for (std::size_t k = 0; k < n; ++k) {
        if (k + 2 * kAhead < n) {
            prefetch(table.indptr + token(k + 2 * kAhead));
            fetch(token(k + 2 * kAhead));
        }
        if (k + kAhead < n) fetch_entries(table.indptr[token(k + kAhead)]);
        const Entries entries = entries_of(table, token(k));
        if (entries.size > 0) visit(token(k), entries);
    }
}

// out[class] += value for the entries of a token.
void add_entries(const std::int32_t* classes, const double* values, std::size_t n, std::size_t n_classes, double* out) {
    if (n == n_classes) {
        for (std::size_t c = 0; c < n; ++c) out[c] += values[c];
        return;
    }
    bool inside = true;
    for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<std::size_t>(classes[i]);
        if (c < n_classes) [[likely]]
            out[c] += values[i];
        else
            inside = false;
    }
    require_inside(inside);
}

// The sums of one row, by bands and classes.
class RowSums {
  public:
    explicit RowSums(const BandTable& table)
        : table_(table), sums_(table.n_views() * table.n_classes), tokens_(table.n_bands) {}

    void clear() {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(tokens_.begin(), tokens_.end(), 0.0);
    }

    void count_token(std::size_t band) { tokens_[band] += 1.0; }
    double* plain(std::size_t band) { return sums_.data() + band * table_.n_classes; }
    double* complement(std::size_t band) { return plain(table_.n_bands + band); }

    void write(double* scores, std::size_t to_next_view) const {
        const double scale = 1.0 / std::sqrt(1.0 + std::accumulate(tokens_.begin(), tokens_.end(), 0.0));
        const std::size_t n = table_.n_classes;
        for (std::size_t v = 0; v < table_.n_views(); ++v) {
            const bool others = v >= table_.n_bands;
            const double cost = others ? -tokens_[v - table_.n_bands] : tokens_[v];
            const double *sum = sums_.data() + v * n, *log_size = table_.log_size + others * n;
            for (std::size_t c = 0; c < n; ++c) scores[v * to_next_view + c] = scale * (sum[c] - cost * log_size[c]);
        }
    }

  private:
    const BandTable& table_;
    std::vector<double> sums_, tokens_;
};

template <class Index>
void add_new(const Rows<Index>& rows, std::size_t row, const BandTable& table, RowSums& sums) {
    const auto fetch = [&](std::size_t token) { prefetch(table.band + token); };
    const auto fetch_entries = [&](std::int64_t begin) {
        prefetch(table.classes + begin);
        prefetch(table.plain + begin);
        if (table.complement) prefetch(table.complement + begin);
    };
    each_token(rows, row, table, fetch, fetch_entries, [&](std::size_t token, const Entries& entries) {
        const auto [begin, n] = entries;
        const auto band = static_cast<std::size_t>(table.band[token]);
        require_inside(band < table.n_bands);
        sums.count_token(band);
        add_entries(table.classes + begin, table.plain + begin, n, table.n_classes, sums.plain(band));
        if (table.complement)
            add_entries(table.classes + begin, table.complement + begin, n, table.n_classes, sums.complement(band));
    });
}

// The tokens of one row, what they count in its class and in all, and what becomes of that without the row; in whole
// packs.
struct Leaving {
    std::vector<Entries> entries;
    std::vector<double> own, all, evidence;
    std::vector<double> left, band, plain, complement;

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
        for (auto* numbers : {&left, &band, &plain, &complement}) numbers->resize(n);
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
CANDIDE_CLONES void leave(const Leave& how, std::size_t n, const double* own, const double* all, const double* evidence,
                          double* left, double* band, double* plain, double* complement) {
    const Pack none{}, one = none + 1.0;
    for (std::size_t k = 0; k < n; k += kPack) {
        const Pack t = loaded<Pack>(own + k), total = loaded<Pack>(all + k), rest = rest_of(t, none + how.weight);
        const Pack removed = t - rest, total_rest = rest_of(total, removed), others = total - t;
        const Pack expected = logarithm(t > none ? total * how.share / t : one);
        const Pack all_change = total_rest * logarithm(total_rest > none ? total / total_rest : one);
        const Pack own_change = rest * logarithm(rest > none ? t / rest : one);
        const Pack g2 = loaded<Pack>(evidence + k) + 2.0 * (removed * expected + (all_change - own_change));
        Pack reached{};
        for (std::size_t i = 0; i < how.n_cuts; ++i) reached += g2 >= none + how.reach[i] ? one : none;
        store(left + k, total_rest);
        store(band + k, reached);
        store(plain + k, logarithm((rest + how.alpha) / how.alpha));
        store(complement + k, -logarithm(((others > none ? others : none) + how.alpha) / (total_rest + how.alpha)));
    }
}

// out[class] -= log((all - count + alpha) / (all + alpha)) for the entries of a token.
CANDIDE_CLONES bool add_complement(const std::int32_t* classes, const double* count, std::size_t n, double all,
                                   double alpha, std::size_t n_classes, double* out) {
    const Pack none{};
    const double whole = 1.0 / (all + alpha);
    bool inside = true;
    each_pack(count, n, [&](std::size_t first, const Pack& own) CANDIDE_INLINE_LAMBDA {
        const Pack others = all - own;
        double logs[kPack];
        store(logs, logarithm(((others > none ? others : none) + alpha) * whole));
        for (std::size_t i = 0; i < std::min(kPack, n - first); ++i) {
            const auto c = static_cast<std::size_t>(classes[first + i]);
            if (c < n_classes) [[likely]]
                out[c] -= logs[i];
            else
                inside = false;
        }
    });
    return inside;
}

double own_count(const BandTable& table, const double* count, const Entries& entries, std::size_t own) {
    const auto [begin, n] = entries;
    if (n == table.n_classes) return count[begin + own];
    const std::int32_t *first = table.classes + begin, *last = first + n;
    const std::int32_t* at = std::lower_bound(first, last, static_cast<std::int32_t>(own));
    return at < last && static_cast<std::size_t>(*at) == own ? count[at - table.classes] : 0.0;
}

template <class Index>
void find_tokens(const Rows<Index>& rows, std::size_t row, std::size_t own, const BandTable& table,
                 const BandSums& sums, Leaving& found) {
    const auto fetch = [&](std::size_t token) {
        prefetch(sums.weight + token);
        prefetch(sums.evidence + token);
    };
    const auto fetch_entries = [&](std::int64_t begin) {
        prefetch(table.classes + begin);
        prefetch(sums.count + begin);
        prefetch(table.plain + begin);
    };
    found.clear();
    each_token(rows, row, table, fetch, fetch_entries, [&](std::size_t token, const Entries& entries) {
        found.add(entries, own_count(table, sums.count, entries, own), sums.weight[token], sums.evidence[token]);
    });
    found.pad();
}

// All entries are added, and that of the own class, which may be none, is put in its place.
void add_left(const BandTable& table, const BandSums& made_of, std::size_t own, const Leaving& tokens, RowSums& sums) {
    for (std::size_t k = 0; k < tokens.entries.size(); ++k) {
        if (tokens.left[k] == 0.0) continue;
        const auto [begin, n] = tokens.entries[k];
        const auto band = static_cast<std::size_t>(tokens.band[k]);
        sums.count_token(band);
        double* plain = sums.plain(band);
        const double before = plain[own];
        add_entries(table.classes + begin, table.plain + begin, n, table.n_classes, plain);
        plain[own] = before + tokens.plain[k];
        if (!table.complement) continue;
        double* complement = sums.complement(band);
        const double before_others = complement[own];
        require_inside(add_complement(table.classes + begin, made_of.count + begin, n, tokens.left[k], made_of.alpha,
                                      table.n_classes, complement));
        complement[own] = before_others + tokens.complement[k];
    }
}

// Calls `add(row, sums, scratch)` for every row, and writes what it summed up.
template <class Scratch, class Index, class Add>
void each_text(const Rows<Index>& rows, const BandTable& table, int n_threads, double* scores, Add&& add) {
    const std::size_t n_tiles = (rows.n_rows + kTileRows - 1) / kTileRows;
    const std::size_t work = 16 * rows.stored() + rows.n_rows * table.n_views() * table.n_classes;
    parallel_for(n_tiles, work, n_threads, [&](std::size_t tile) {
        RowSums sums(table);
        Scratch scratch;
        for (std::size_t r = tile * kTileRows; r < std::min(rows.n_rows, (tile + 1) * kTileRows); ++r) {
            rows.check_bounds(r);
            rows.check_columns(r);
            sums.clear();
            add(r, sums, scratch);
            sums.write(scores + r * table.n_classes, rows.n_rows * table.n_classes);
        }
    });
}

}  // namespace

template <class Index>
void band_scores(const Rows<Index>& rows, const BandTable& table, int n_threads, double* scores) {
    struct Nothing {};
    each_text<Nothing>(rows, table, n_threads, scores,
                       [&](std::size_t r, RowSums& row, Nothing&) { add_new(rows, r, table, row); });
}

template <class Index>
void band_left_out(const Members<Rows<Index>>& members, const BandTable& table, const BandSums& sums, int n_threads,
                   double* scores) {
    each_text<Leaving>(members.rows, table, n_threads, scores, [&](std::size_t r, RowSums& row, Leaving& tokens) {
        const double weight = members.weight(r);
        if (weight == 0.0) return add_new(members.rows, r, table, row);
        const std::size_t own = members.own(r);
        find_tokens(members.rows, r, own, table, sums, tokens);
        leave({weight, sums.share[own], sums.alpha, sums.reach, table.n_bands - 1}, tokens.entries.size(),
              tokens.own.data(), tokens.all.data(), tokens.evidence.data(), tokens.left.data(), tokens.band.data(),
              tokens.plain.data(), tokens.complement.data());
        add_left(table, sums, own, tokens, row);
    });
}

#define CANDIDE_INSTANTIATE(Index)                                                                 \
    template void band_scores(const Rows<Index>&, const BandTable&, int, double*);                 \
    template void band_left_out(const Members<Rows<Index>>&, const BandTable&, const BandSums&, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
