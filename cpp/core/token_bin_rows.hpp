// Texts as rows of tokens, added up token by token under a table of bins.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "elementary.hpp"
#include "token_bins.hpp"

namespace candide {

// Tables of all tokens lie in memory: what a token has is fetched while this many others are worked on.
inline constexpr std::size_t kAhead = 8;
// What it takes about to add one.
inline constexpr std::size_t kTokenSteps = 32;

using Tokens = std::vector<std::size_t>;

// Where the entries of a token lie.
struct Entries {
    std::size_t begin, size;
};

// Tables are too large to be checked in every call: what is used of them is.
inline void require_inside(bool inside) {
    if (!inside) throw std::invalid_argument("tokens and their entries must lie in their table");
}

inline Entries entries_of(const TokenBins& table, std::size_t token) {
    const std::int64_t begin = table.indptr[token], end = table.indptr[token + 1];
    require_inside(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= table.n_entries);
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)};
}

// The place of a class among n ascending ones, or n.
inline std::size_t find_class(const std::int32_t* classes, std::size_t n, std::size_t n_classes, std::size_t wanted) {
    if (n == n_classes) return wanted;
    if (n == 0) return n;
    // Halves by arithmetic: of the branches of std::lower_bound half are foreseen wrongly, at three times the cost.
    const auto c = static_cast<std::int32_t>(wanted);
    std::size_t at = 0;
    for (std::size_t size = n; size > 1; size -= size / 2) at += (classes[at + size / 2] <= c) * (size / 2);
    return classes[at] == c ? at : n;
}

// The tokens of a row that some class has.
template <class Index>
void find_tokens(const Rows<Index>& rows, std::size_t row, const TokenBins& table, Tokens& tokens) {
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

// Calls `visit(token, entries)`; `fetch(token)` and `fetch_entries(begin)` prefetch what it will read.
template <class Fetch, class FetchEntries, class Visit>
void each_token(std::span<const std::size_t> tokens, const TokenBins& table, Fetch&& fetch,
                FetchEntries&& fetch_entries, Visit&& visit) {
    Steps steps;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
        steps.add(kTokenSteps);
        if (k + 2 * kAhead < tokens.size()) {
            prefetch(table.indptr + tokens[k + 2 * kAhead]);
            fetch(tokens[k + 2 * kAhead]);
        }
        if (k + kAhead < tokens.size()) fetch_entries(table.indptr[tokens[k + kAhead]]);
        visit(tokens[k], entries_of(table, tokens[k]));
    }
}

// How far evidence is along the knots, from 0 to their number less 1.
CANDIDE_INLINE Pack level_of(const Pack& evidence, const double* log_knots, std::size_t n_knots) {
    const Pack none{}, one = none + 1.0, least = none + std::numeric_limits<double>::min();
    const Pack log_evidence = logarithm(evidence > least ? evidence : least);
    Pack level{};
    for (std::size_t i = 0; i + 1 < n_knots; ++i) {
        const Pack part = (log_evidence - log_knots[i]) / (log_knots[i + 1] - log_knots[i]);
        level += part > one ? one : part > none ? part : none;
    }
    return level;
}

// out[class] += the logs for the entries of a token, of which the share `above` goes to the next bin; kinds stand side
// by side. Without such a share the bin takes nothing once more: whether there is one cannot be foreseen.
template <std::size_t Kinds>
void add_entries(const std::int32_t* classes, const double* logs, std::size_t n, std::size_t n_classes, double above,
                 double* out) {
    double* next = out + (above > 0.0 ? n_classes * Kinds : 0);
    const auto add = [&](std::size_t at, double log) {
        out[at] += (1.0 - above) * log;
        next[at] += above * log;
    };
    if (n == n_classes) {
        for (std::size_t i = 0; i < n * Kinds; ++i) add(i, logs[i]);
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<std::size_t>(classes[i]);
        if (c >= n_classes) [[unlikely]]
            require_inside(false);
        for (std::size_t kind = 0; kind < Kinds; ++kind) add(c * Kinds + kind, logs[i * Kinds + kind]);
    }
}

// The sums of one row: (n_bins, n_classes, n_kinds).
class RowSums {
  public:
    explicit RowSums(const TokenBins& table)
        : table_(table),
          add_(table.n_kinds == 1 ? add_entries<1> : add_entries<2>),
          sums_(table.n_bins * table.n_classes * table.n_kinds),
          tokens_(table.n_bins + 1) {}

    void clear() {
        n_tokens_ = 0.0;
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(tokens_.begin(), tokens_.end(), 0.0);
    }

    // The n entries of a token, shared out to the two bins that its level lies between.
    void add_token(double level, const std::int32_t* classes, const double* logs, std::size_t n) {
        require_inside(level >= 0.0 && level <= static_cast<double>(table_.n_bins - 1));
        const auto bin = static_cast<std::size_t>(level);
        const double above = level - static_cast<double>(bin);
        n_tokens_ += 1.0;
        tokens_[bin] += 1.0 - above;
        tokens_[bin + 1] += above;
        add_(classes, logs, n, table_.n_classes, above, sums_.data() + bin * table_.n_classes * table_.n_kinds);
    }

    void write(double* scores, std::size_t to_next_view) const {
        for (std::size_t kind = 0; kind < table_.n_kinds; ++kind)
            for (std::size_t bin = 0; bin < table_.n_bins; ++bin, scores += to_next_view) write_view(kind, bin, scores);
    }

  private:
    void write_view(std::size_t kind, std::size_t bin, double* scores) const {
        const std::size_t n = table_.n_classes;
        const double scale = 1.0 / std::sqrt(1.0 + n_tokens_);
        const double cost = kind == 0 ? tokens_[bin] : -tokens_[bin];
        const double *sum = sums_.data() + bin * n * table_.n_kinds + kind, *log_size = table_.log_size + kind * n;
        for (std::size_t c = 0; c < n; ++c) scores[c] = scale * (sum[c * table_.n_kinds] - cost * log_size[c]);
    }

    const TokenBins& table_;
    decltype(&add_entries<1>) add_;
    double n_tokens_ = 0.0;
    std::vector<double> sums_;
    std::vector<double> tokens_;  // of each bin, and none of one behind the last
};

// A row's tokens as the table has them.
inline void add_new(const Tokens& tokens, const TokenBins& table, RowSums& sums) {
    const auto fetch = [&](std::size_t token) { prefetch(table.level + token); };
    const auto fetch_entries = [&](std::int64_t begin) {
        prefetch(table.classes + begin);
        prefetch(table.logs + begin * table.n_kinds);
    };
    each_token(tokens, table, fetch, fetch_entries, [&](std::size_t token, const Entries& entries) {
        const auto [begin, n] = entries;
        sums.add_token(table.level[token], table.classes + begin, table.logs + begin * table.n_kinds, n);
    });
}

// A measure of the work on all rows.
template <class Index>
std::size_t work_of(const Rows<Index>& rows, const TokenBins& table) {
    return 16 * rows.stored() + rows.n_rows * table.n_bins * table.n_kinds * table.n_classes;
}

// Calls `add(row, tokens, sums, scratch)` for every row, and writes what it summed up.
template <class Scratch, class Index, class Add>
void each_text(const Rows<Index>& rows, const TokenBins& table, int n_threads, double* scores, Add&& add) {
    constexpr std::size_t tile_rows = 64;
    const std::size_t n_tiles = (rows.n_rows + tile_rows - 1) / tile_rows;
    parallel_for(n_tiles, work_of(rows, table), n_threads, [&](std::size_t tile) {
        RowSums sums(table);
        Tokens tokens;
        Scratch scratch;
        Steps steps;
        for (std::size_t r = tile * tile_rows; r < std::min(rows.n_rows, (tile + 1) * tile_rows); ++r) {
            rows.check_bounds(r);
            steps.add(16 * rows.size(r) + table.n_bins * table.n_kinds * table.n_classes);
            rows.check_columns(r);
            find_tokens(rows, r, table, tokens);
            sums.clear();
            add(r, tokens, sums, scratch);
            sums.write(scores + r * table.n_classes, rows.n_rows * table.n_classes);
        }
    });
}

}  // namespace candide
