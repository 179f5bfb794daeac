#include <iterator>
#include <numeric>
#include <span>

#include "token_bin_rows.hpp"
#include "totals.hpp"

namespace candide {
namespace {

// Entries whose logarithms are made at once.
constexpr std::int64_t kBlock = 1024;
// Places of codes that no class has, and of the first code that was seen.
constexpr std::int32_t kUnknown = -1, kMet = -2;

// Entries of some tokens: what is left of them, of their tokens in all, and what their classes would have by chance;
// and what follows from these. In whole packs.
struct Block {
    std::vector<double> left, all, expected;
    std::vector<double> plain, by_others, terms;

    void resize(std::size_t n) {
        for (auto* numbers : {&left, &all, &expected, &plain, &by_others, &terms}) numbers->resize(padded(n), 1.0);
    }
};

CANDIDE_CLONES void make_logs(std::size_t n, double alpha, bool both, Block& block) {
    const Pack none{}, one = none + 1.0;
    for (std::size_t k = 0; k < n; k += kPack) {
        const Pack left = loaded<Pack>(&block.left[k]), all = loaded<Pack>(&block.all[k]);
        const Pack ratio = left > none ? left / loaded<Pack>(&block.expected[k]) : one, others = all - left;
        store(&block.terms[k], left * logarithm(ratio));
        store(&block.plain[k], logarithm((left + alpha) / alpha));
        if (both) store(&block.by_others[k], -logarithm(((others > none ? others : none) + alpha) / (all + alpha)));
    }
}

CANDIDE_CLONES void make_levels(const double* log_knots, std::size_t n_knots, std::vector<double>& evidence) {
    for (std::size_t k = 0; k < evidence.size(); k += kPack)
        store(&evidence[k], level_of(loaded<Pack>(&evidence[k]), log_knots, n_knots));
}

// The table without the rows of a fold, for the tokens that these rows hold: they read no others that have changed.
class FoldTable {
  public:
    FoldTable(const TokenBins& whole, const TokenBinSums& sums, std::size_t n_codes)
        : whole_(whole),
          sums_(sums),
          place_(whole.place, whole.place + n_codes),
          share_(whole.n_classes),
          lonely_(whole.n_classes),
          log_size_(whole.n_kinds * whole.n_classes) {
        for (first_light_ = whole.n_tokens; first_light_ > 0 && sums.weight[first_light_ - 1] < 2.0;) --first_light_;
    }

    template <class Index>
    const TokenBins& without(const Members<Rows<Index>>& members, std::span<const std::size_t> fold) {
        clear();
        // Of rows that weigh at least 1, no two hold a token that weighs less than 2.
        const auto heavy = [&](std::size_t r) { return members.weight(r) >= 1.0; };
        first_lonely_ = std::all_of(fold.begin(), fold.end(), heavy) ? first_light_ : whole_.n_tokens;
        Steps steps;
        for (const std::size_t r : fold) {
            gather(members.rows, r, members.own(r), members.weight(r));
            steps.add(8 * members.rows.size(r));
        }
        copy_entries();
        table_ = view();
        for (std::size_t i = 0; i < fold.size(); ++i) remove(i, members.own(fold[i]), members.weight(fold[i]));
        finish_counts();
        finish_sizes();
        finish_entries();
        return table_;
    }

    // Of the fold's row i, as they were found.
    std::span<const std::size_t> tokens(std::size_t i) const {
        return std::span(held_).subspan(ends_[i], ends_[i + 1] - ends_[i]);
    }
    bool known(std::size_t token) const { return all_[token] > 0.0; }

  private:
    void clear() {
        for (std::size_t token = 0; token < codes_.size(); ++token)
            place_[codes_[token]] = static_cast<std::int32_t>(tokens_[token]);
        codes_.clear();
        tokens_.clear();
        held_.clear();
        ends_.assign(1, 0);
        indptr_.assign(1, 0);
        classes_.clear();
        count_.clear();
        lonely_.assign(whole_.n_classes, 0.0);
    }

    template <class Index>
    void gather(const Rows<Index>& rows, std::size_t row, std::size_t own, double weight) {
        rows.check_bounds(row);
        rows.check_columns(row);
        const Index* codes = rows.indices + rows.indptr[row];
        const std::size_t n = rows.size(row);
        for (std::size_t k = 0; k < n; ++k) {
            if (k + kAhead < n) prefetch(place_.data() + codes[k + kAhead]);
            std::int32_t& place = place_[codes[k]];
            if (place == kUnknown) continue;
            if (is_lonely(place, weight)) {
                lonely_[own] += sums_.weight[place];
                continue;
            }
            if (place >= 0) place = met(static_cast<std::size_t>(codes[k]), static_cast<std::size_t>(place));
            held_.push_back(static_cast<std::size_t>(kMet - place));
            require_inside(held_.back() < codes_.size());
        }
        ends_.push_back(held_.size());
    }

    // Whether no other row holds the token, of which nothing is left then. Such tokens are light, and the last of all.
    bool is_lonely(std::int32_t place, double weight) const {
        if (place < 0 || static_cast<std::size_t>(place) < first_lonely_) return false;
        require_inside(static_cast<std::size_t>(place) < whole_.n_tokens);
        return rest_of(sums_.weight[place], weight) == 0.0;
    }

    std::int32_t met(std::size_t code, std::size_t token) {
        require_inside(token < whole_.n_tokens);
        codes_.push_back(code);
        tokens_.push_back(token);
        return kMet - static_cast<std::int32_t>(codes_.size() - 1);
    }

    void copy_entries() {
        const auto fetch = [](std::size_t) {};
        const auto fetch_entries = [&](std::int64_t begin) {
            prefetch(whole_.classes + begin);
            prefetch(sums_.count + begin);
        };
        each_token(tokens_, whole_, fetch, fetch_entries, [&](std::size_t, const Entries& entries) {
            const auto [begin, n] = entries;
            require_inside(all_below(whole_.classes + begin, n, whole_.n_classes));
            classes_.insert(classes_.end(), whole_.classes + begin, whole_.classes + begin + n);
            count_.insert(count_.end(), sums_.count + begin, sums_.count + begin + n);
            indptr_.push_back(static_cast<std::int64_t>(classes_.size()));
        });
        const std::size_t n_tokens = tokens_.size(), n_entries = classes_.size();
        removed_.assign(n_entries, 0.0);
        logs_.resize(n_entries * whole_.n_kinds);
        all_.resize(n_tokens);
        level_.assign(padded(n_tokens), 0.0);
    }

    TokenBins view() const {
        return {whole_.n_classes, whole_.n_bins,   whole_.n_kinds, tokens_.size(), classes_.size(), nullptr,
                indptr_.data(),   classes_.data(), level_.data(),  logs_.data(),   log_size_.data()};
    }

    void remove(std::size_t i, std::size_t own, double weight) {
        const auto fetch = [](std::size_t) {};
        const auto fetch_entries = [&](std::int64_t begin) {
            prefetch(classes_.data() + begin);
            prefetch(removed_.data() + begin);
        };
        each_token(tokens(i), table_, fetch, fetch_entries, [&](std::size_t, const Entries& entries) {
            const auto [begin, n] = entries;
            const std::size_t place = find_class(classes_.data() + begin, n, whole_.n_classes, own);
            if (place < n) removed_[begin + place] += weight;
        });
    }

    // What is left of each entry and token, and of all tokens of each class. Tokens that no other row holds are
    // unknown.
    void finish_counts() {
        size_.assign(sums_.size, sums_.size + whole_.n_classes);
        for (std::size_t c = 0; c < size_.size(); ++c) size_[c] -= lonely_[c];
        Steps steps;
        for (std::size_t token = 0; token < tokens_.size(); ++token) {
            const auto [begin, n] = entries_of(table_, token);
            steps.add(8 * n);
            double before = 0.0, after = 0.0;
            for (std::size_t e = begin; e < begin + n; ++e) {
                const double left = rest_of(count_[e], removed_[e]);
                removed_[e] = count_[e] - left;
                before += count_[e];
                after += count_[e] = left;
            }
            all_[token] = rest_of(before, before - after);
            if (!known(token))
                for (std::size_t e = begin; e < begin + n; ++e) removed_[e] += count_[e];
            for (std::size_t e = begin; e < begin + n; ++e) size_[static_cast<std::size_t>(classes_[e])] -= removed_[e];
        }
    }

    static double rest_of(double count, double removed) {
        return count - removed <= kRest * count ? 0.0 : count - removed;
    }

    void finish_sizes() {
        const std::size_t n = whole_.n_classes;
        for (std::size_t c = 0; c < n; ++c) size_[c] = rest_of(sums_.size[c], sums_.size[c] - size_[c]);
        const double all = std::accumulate(size_.begin(), size_.end(), 0.0);
        // Tokens that vanish still are part of what texts may hold.
        for (std::size_t c = 0; c < n; ++c) {
            share_[c] = all > 0.0 ? size_[c] / all : 0.0;
            log_size_[c] = std::log(size_[c] + sums_.spare);
            if (whole_.n_kinds == 2) log_size_[n + c] = std::log(std::max(all - size_[c], 0.0) + sums_.spare);
        }
    }

    void finish_entries() {
        Steps steps;
        for (std::size_t begin = 0, end; begin < tokens_.size(); begin = end) {
            steps.add(32 * kBlock);
            for (end = begin + 1; end < tokens_.size() && indptr_[end] - indptr_[begin] < kBlock; ++end) {
            }
            finish_block(begin, end);
        }
        make_levels(sums_.log_knots, whole_.n_bins, level_);
    }

    void finish_block(std::size_t begin, std::size_t end) {
        const auto first = static_cast<std::size_t>(indptr_[begin]), last = static_cast<std::size_t>(indptr_[end]);
        block_.resize(last - first);
        std::copy(count_.begin() + indptr_[begin], count_.begin() + indptr_[end], block_.left.begin());
        each_entry(begin, end, [&](std::size_t token, std::size_t e) {
            const double expected = all_[token] * share_[static_cast<std::size_t>(classes_[e])];
            block_.all[e - first] = all_[token];
            block_.expected[e - first] = std::max(expected, std::numeric_limits<double>::min());
        });
        make_logs(last - first, sums_.alpha, whole_.n_kinds == 2, block_);
        each_entry(begin, end, [&](std::size_t token, std::size_t e) {
            level_[token] += 2.0 * block_.terms[e - first];
            logs_[e * whole_.n_kinds] = block_.plain[e - first];
            if (whole_.n_kinds == 2) logs_[e * 2 + 1] = block_.by_others[e - first];
        });
    }

    // Calls `visit(token, entry)` for all entries of some tokens.
    template <class Visit>
    void each_entry(std::size_t begin, std::size_t end, Visit&& visit) const {
        auto e = static_cast<std::size_t>(indptr_[begin]);
        for (std::size_t token = begin; token < end; ++token)
            for (const auto stop = static_cast<std::size_t>(indptr_[token + 1]); e < stop; ++e) visit(token, e);
    }

    const TokenBins& whole_;
    const TokenBinSums& sums_;
    std::vector<std::int32_t>
        place_;  // of each code, its token in the whole table; once seen, kMet less that in this one
    std::vector<double> share_, size_, lonely_, log_size_;
    std::size_t first_light_, first_lonely_ = 0;  // of the tokens that weigh less than 2; that may be of one row alone

    // Of each token its code, and its number in the whole table; then the tokens of the rows, and where those of each
    // end.
    std::vector<std::size_t> codes_, tokens_, held_, ends_;
    std::vector<std::int64_t> indptr_;
    std::vector<std::int32_t> classes_;
    std::vector<double> count_, removed_, all_;
    std::vector<double> level_, logs_;
    Block block_;
    TokenBins table_{};
};

// The rows of each fold, one fold after the other.
class FoldRows {
  public:
    FoldRows(const std::int32_t* folds, std::size_t n_rows) : begin_(n_rows + 1), rows_(n_rows) {
        for (std::size_t r = 0; r < n_rows; ++r) ++begin_[static_cast<std::size_t>(folds[r]) + 1];
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        std::vector<std::size_t> next = begin_;
        for (std::size_t r = 0; r < n_rows; ++r) rows_[next[static_cast<std::size_t>(folds[r])]++] = r;
    }

    // As many as rows; some may be empty.
    std::size_t n_folds() const { return rows_.size(); }
    std::span<const std::size_t> of(std::size_t fold) const {
        return std::span(rows_).subspan(begin_[fold], begin_[fold + 1] - begin_[fold]);
    }

  private:
    std::vector<std::size_t> begin_, rows_;
};

}  // namespace

template <class Index>
void token_bin_fold_scores(const Members<Rows<Index>>& members, const std::int32_t* folds, const TokenBins& table,
                           const TokenBinSums& sums, int n_threads, double* scores) {
    const auto& rows = members.rows;
    const FoldRows by_fold(folds, rows.n_rows);
    parallel_loops(by_fold.n_folds(), work_of(rows, table), n_threads, [&](auto&& next) {
        FoldTable rest(table, sums, rows.n_columns);
        Tokens tokens;
        for (std::size_t fold; next(fold);) {
            if (by_fold.of(fold).empty()) continue;
            const TokenBins& without = rest.without(members, by_fold.of(fold));
            RowSums row(without);
            Steps steps;
            for (std::size_t i = 0; const std::size_t r : by_fold.of(fold)) {
                steps.add(rest.tokens(i).size() + table.n_bins * table.n_kinds * table.n_classes);
                tokens.clear();
                std::ranges::copy_if(rest.tokens(i++), std::back_inserter(tokens),
                                     [&](std::size_t token) { return rest.known(token); });
                row.clear();
                add_new(tokens, without, row);
                row.write(scores + r * table.n_classes, rows.n_rows * table.n_classes);
            }
        }
    });
}

#define CANDIDE_INSTANTIATE(Index)                                                                          \
    template void token_bin_fold_scores(const Members<Rows<Index>>&, const std::int32_t*, const TokenBins&, \
                                        const TokenBinSums&, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
