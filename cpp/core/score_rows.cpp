#include "score_rows.hpp"

#include <algorithm>
#include <vector>

#include "gather.hpp"
#include "parallel.hpp"
#include "values.hpp"

namespace candide {
namespace {

constexpr std::size_t kRowsPerTask = 512;

struct Scratch {
    std::vector<double> values, sums;
};

// The cells of one row, with the threshold applied.
template <class Index>
struct Cells {
    std::size_t n;
    const Index* at;
    const double* x;
    Findings found;

    Cells(const Rows<Index>& rows, std::size_t row, std::optional<double> threshold, std::vector<double>& scratch) {
        rows.check_bounds(row);
        rows.check_columns(row);
        n = rows.size(row);
        at = rows.indices + rows.indptr[row];
        x = rows.values(row, scratch);
        found = inspect(x, n, !threshold);
        if (!threshold) return;
        if (x != scratch.data()) scratch.assign(x, x + n);
        x = scratch.data();
        binarize(scratch.data(), n, *threshold);
    }
};

// Calls `score_row(row, cells, scratch)` for every row.
template <class Index, class ScoreRow>
Findings score_rows(const Rows<Index>& rows, std::size_t n_classes, std::optional<double> threshold, int n_threads,
                    ScoreRow&& score_row) {
    const std::size_t n_tasks = (rows.n_rows + kRowsPerTask - 1) / kRowsPerTask;
    std::vector<Findings> found(n_tasks);
    parallel_for(n_tasks, (rows.stored() + rows.n_rows) * n_classes, n_threads, [&](std::size_t task) {
        Scratch scratch;
        const std::size_t end = std::min(rows.n_rows, (task + 1) * kRowsPerTask);
        for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
            const Cells<Index> cells(rows, r, threshold, scratch.values);
            score_row(r, cells, scratch.sums);
            found[task].add(cells.found);
        }
    });
    return join(found);
}

}  // namespace

template <class Index>
Findings linear_row_scores(const Rows<Index>& rows, const double* weights, std::size_t stride, const double* base,
                           const double* absent, std::size_t n_classes, std::optional<double> threshold, int n_threads,
                           double* scores) {
    auto score_row = [&](std::size_t r, const Cells<Index>& cells, std::vector<double>& sum) {
        sum.assign(stride, 0.0);
        std::copy(base, base + n_classes, sum.begin());
        if (cells.found.finite()) {
            add_picked(cells.at, cells.x, cells.n, weights, stride, sum.data());
        } else {
            for (std::size_t k = 0; k < cells.n; ++k) {
                if (cells.x[k] == cells.x[k])
                    add_picked(cells.at + k, cells.x + k, 1, weights, stride, sum.data());
                else if (absent)
                    add_picked(cells.at + k, nullptr, 1, absent, stride, sum.data());
            }
        }
        std::copy_n(sum.begin(), n_classes, scores + r * n_classes);
    };
    return score_rows(rows, n_classes, threshold, n_threads, score_row);
}

template <class Index>
Findings factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                             std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    auto score_row = [&](std::size_t r, const Cells<Index>& cells, std::vector<double>&) {
        double* out = scores + r * n_classes;
        double shared = 0.0, length = 0.0;
        std::fill(out, out + n_classes, 0.0);
        for (std::size_t k = 0; k < cells.n; ++k) {
            const double value = cells.x[k];
            if (value != value || value == 0.0) continue;
            const auto j = static_cast<std::size_t>(cells.at[k]);
            shared += value * weights.shared[j];
            length += value;
            weights.add_column(j, value, n_classes, out);
        }
        for (std::size_t c = 0; c < n_classes; ++c) out[c] += base[c] + shared + length * weights.slope[c];
    };
    return score_rows(rows, n_classes, threshold, n_threads, score_row);
}

#define CANDIDE_INSTANTIATE(Index)                                                                                    \
    template Findings linear_row_scores(const Rows<Index>&, const double*, std::size_t, const double*, const double*, \
                                        std::size_t, std::optional<double>, int, double*);                            \
    template Findings factored_row_scores(const Rows<Index>&, const FactoredWeights&, const double*, std::size_t,     \
                                          std::optional<double>, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
