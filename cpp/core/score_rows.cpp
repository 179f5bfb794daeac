#include "score_rows.hpp"

#include <algorithm>

#include "gather.hpp"

namespace candide {

template <class Index>
void LinearRows::score(const Cells<Index>& cells, std::vector<double>& sum, double* scores) const {
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
    std::copy_n(sum.begin(), n_classes, scores);
}

template <class Index>
Findings linear_row_scores(const Rows<Index>& rows, const LinearRows& table, std::optional<double> threshold,
                           int n_threads, double* scores) {
    const Reading reading{!threshold, threshold};
    return each_row(rows, table.n_classes, reading, n_threads, [&](std::size_t r, const auto& cells, auto& sum) {
        table.score(cells, sum, scores + r * table.n_classes);
    });
}

template <class Index>
Findings factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                             std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    const Reading reading{!threshold, threshold};
    return each_row(rows, n_classes, reading, n_threads, [&](std::size_t r, const auto& cells, auto&) {
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
    });
}

#define CANDIDE_INSTANTIATE(Index)                                                                                   \
    template void LinearRows::score(const Cells<Index>&, std::vector<double>&, double*) const;                       \
    template Findings linear_row_scores(const Rows<Index>&, const LinearRows&, std::optional<double>, int, double*); \
    template Findings factored_row_scores(const Rows<Index>&, const FactoredWeights&, const double*, std::size_t,    \
                                          std::optional<double>, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
