// Counts that contain rows, what is left of them when a row is taken out, and what a prior adds.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "entries.hpp"
#include "simd.hpp"

namespace candide {

// A count from which a row is taken that leaves no more than this part of it has become 0.
inline constexpr double kRest = 1e-12;

// (n_classes, n_columns), or what of it stands beside one row or in one column, in whole packs.
struct Totals {
    const double* count;
    const double* pseudo;  // null: `even` for all
    double even;

    // Pseudo-counts come last: added to the count before the row leaves, a tiny one would lose its digits.
    template <class Lanes>
    CANDIDE_INLINE Lanes without(std::size_t at, const Lanes& removed) const {
        const Lanes all = loaded<Lanes>(count + at), left = all - removed, none{};
        const Lanes extra = pseudo ? loaded<Lanes>(pseudo + at) : none + even;
        return (left <= kRest * all ? none : left) + extra;
    }
};

using TotalsScratch = std::pair<std::vector<double>, std::vector<double>>;

// The totals of one class that stand beside the cells of a row.
template <class Entries>
struct OwnTotals {
    Entries counts, pseudos;
    double even;
    bool is_table;

    template <class Cells>
    Totals of(std::size_t c, const Cells& cells, TotalsScratch& scratch) const {
        return {counts.of(c, cells, scratch.first), is_table ? pseudos.of(c, cells, scratch.second) : nullptr, even};
    }
};

template <class Data>
auto own_totals(const Data& rows, const Totals& totals, std::size_t n_classes, int n_threads) {
    auto counts = entries_of(rows, totals.count, n_classes, n_threads);
    return OwnTotals<decltype(counts)>{std::move(counts), entries_of(rows, totals.pseudo, n_classes, n_threads),
                                       totals.even, totals.pseudo != nullptr};
}

}  // namespace candide
