// Linear scores of rows under every class, and under their own class with the row left out. Both
// read a range of rows while it is in the cache.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "each_row.hpp"
#include "own.hpp"
#include "score.hpp"
#include "score_rows.hpp"

namespace candide {

// Of dense rows the tables are (n_classes, n_columns); of sparse ones those of LinearRows.
struct LinearTables {
    const double* weights;
    std::size_t stride;
    const double* base;
    const double* absent;
    std::size_t n_classes;
    std::optional<double> threshold;

    Reading reading() const { return {!threshold, threshold}; }
};

// scores: (n_rows, n_classes); `own(row, cells, scratch)` follows as soon as a row is scored.
template <class Own>
Findings left_out_scores(const Table& table, const LinearTables& tables, int n_threads, double* scores,
                         const Own& own) {
    // About so many cells stay in the second-level cache between one reading and the next.
    constexpr std::size_t kCellsAtOnce = 1 << 15;
    const std::size_t height = std::max(kHeight, kCellsAtOnce / std::max<std::size_t>(1, table.n_columns));
    const std::size_t n_stretches = (table.n_rows + height - 1) / height, n_classes = tables.n_classes;
    std::vector<Findings> found(n_stretches);
    parallel_for(n_stretches, count_cells(table) * (n_classes + 8), n_threads, [&](std::size_t s) {
        const std::size_t begin = s * height, end = std::min(table.n_rows, begin + height);
        const Table rows = table.slice(begin, end);
        found[s] = linear_scores(rows, tables.weights, tables.base, tables.absent, n_classes, tables.threshold, 1,
                                 scores + begin * n_classes);
        using Scratch = typename Own::Scratch;
        each_row<Scratch>(rows, 1, tables.reading(), 1,
                          [&](std::size_t r, const auto& cells, Scratch& scratch) { own(begin + r, cells, scratch); });
    });
    return join(found);
}

template <class Index, class Own>
Findings left_out_scores(const Rows<Index>& rows, const LinearTables& tables, int n_threads, double* scores,
                         const Own& own) {
    const LinearRows all{tables.weights, tables.stride, tables.base, tables.absent, tables.n_classes};
    using Scratch = std::pair<std::vector<double>, typename Own::Scratch>;
    auto visit = [&](std::size_t r, const auto& cells, Scratch& scratch) {
        all.score(cells, scratch.first, scores + r * all.n_classes);
        own(r, cells, scratch.second);
    };
    return each_row<Scratch>(rows, all.n_classes + 8, tables.reading(), n_threads, visit);
}

}  // namespace candide
