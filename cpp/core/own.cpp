#include "own.hpp"

#include <utility>
#include <vector>

#include "each_row.hpp"
#include "elementary.hpp"
#include "entries.hpp"

namespace candide {
namespace {

CANDIDE_CLONES double linear_row(const double* x, const double* weights, const double* absent, std::size_t n) {
    Pack sum{};
    each_pack(x, n, [&](std::size_t j, const Pack& cell) CANDIDE_INLINE_LAMBDA {
        const Pack gap = absent ? loaded<Pack>(absent + j) : Pack{};
        sum += where_known(cell, cell * loaded<Pack>(weights + j), gap);
    });
    return total(sum);
}

}  // namespace

CANDIDE_CLONES LogSum log_sum_row(const double* x, const Totals& own, double weight, std::size_t n) {
    Pack sum{}, zeros{}, cells{};
    each_pack(x, n, [&](std::size_t j, const Pack& cell) CANDIDE_INLINE_LAMBDA {
        const Pack none{}, count = cell > none ? cell : none, left = own.without(j, weight * count);
        const Pack lost = left > none ? none : count;
        sum += count * logarithm(count > lost ? left : none + 1.0);
        zeros += lost;
        cells += count;
    });
    return {total(sum), total(zeros), total(cells)};
}

template <class Data>
Findings own_linear_scores(const Members<Data>& members, const double* weights, const double* base,
                           const double* absent, std::optional<double> threshold, int n_threads, double* scores) {
    const auto table = entries_of(members.rows, weights, members.n_classes);
    const auto gaps = entries_of(members.rows, absent, members.n_classes);
    using Scratch = std::pair<std::vector<double>, std::vector<double>>;
    auto score = [&](std::size_t r, const auto& cells, Scratch& scratch) {
        const std::size_t c = members.own(r);
        const double* gap = absent && !cells.found.finite() ? gaps.of(c, cells, scratch.second) : nullptr;
        scores[r] = base[c] + linear_row(cells.x, table.of(c, cells, scratch.first), gap, cells.n);
    };
    return each_row<Scratch>(members.rows, 1, {!threshold, threshold}, n_threads, score);
}

template <class Data>
Findings own_log_sums(const Members<Data>& members, const Totals& totals, int n_threads, double* sums, double* zeros,
                      double* cells) {
    const auto table = own_totals(members.rows, totals, members.n_classes);
    auto score = [&](std::size_t r, const auto& row, TotalsScratch& scratch) {
        const LogSum sum = log_sum_row(row.x, table.of(members.own(r), row, scratch), members.weight(r), row.n);
        sums[r] = sum.sum;
        zeros[r] = sum.zeros;
        cells[r] = sum.cells;
    };
    return each_row<TotalsScratch>(members.rows, 8, {true, {}}, n_threads, score);
}

#define CANDIDE_INSTANTIATE(Data)                                                                                    \
    template Findings own_linear_scores(const Members<Data>&, const double*, const double*, const double*,           \
                                        std::optional<double>, int, double*);                                        \
    template Findings own_log_sums(const Members<Data>&, const Totals&, int, double*, double*, double*);
CANDIDE_INSTANTIATE(Table)
CANDIDE_INSTANTIATE(Rows<std::int32_t>)
CANDIDE_INSTANTIATE(Rows<std::int64_t>)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
