#include "complement.hpp"

#include <algorithm>
#include <vector>

#include "each_row.hpp"
#include "elementary.hpp"
#include "entries.hpp"
#include "levels.hpp"
#include "own.hpp"

namespace candide {
namespace {

// One cell under every class.
CANDIDE_CLONES void add_cell(const double* others, double x, double weight, std::size_t n_classes, double* sum,
                             double* zeros) {
    for (std::size_t c = 0; c < n_classes; c += kPack) {
        const Pack all = loaded<Pack>(others + c), left = all - weight * x, none{};
        const Pack lost = left <= kRest * all ? none + x : none;
        store(sum + c, loaded<Pack>(sum + c) + x * logarithm(lost > none ? none + 1.0 : left));
        store(zeros + c, loaded<Pack>(zeros + c) + lost);
    }
}

struct Scratch {
    std::vector<double> sums, zeros, column;
    std::vector<std::int64_t> found;
};

}  // namespace

template <class Data>
Findings left_out_complement(const Members<Data>& members, const double* others, int n_threads, double* sums,
                             double* zeros, double* cells) {
    const std::size_t n = members.n_classes, n_columns = members.rows.n_columns, n_cells = count_cells(members.rows);
    const ByColumn columns(others, n, n_columns, n_cells, n_threads);
    auto make = [n, width = columns.width()](const double* column, double x, double* sum, std::vector<double>& lost) {
        lost.assign(width, 0.0);
        add_cell(column, x, 1.0, n, sum, lost.data());
        return std::all_of(lost.data(), lost.data() + n, [](double zero) { return zero == 0.0; });
    };
    // Of rows that weigh 1, where every class keeps something.
    const Levels levels(columns, n, n_columns, members.weights ? 0 : n_cells, n_threads, make);
    const auto own = entries_of(members.rows, others, n);
    auto score = [&](std::size_t r, const auto& row, Scratch& scratch) {
        scratch.sums.assign(columns.width(), 0.0);
        scratch.zeros.assign(columns.width(), 0.0);
        scratch.found.clear();
        for (std::size_t k = 0; k < row.n; ++k) {
            const double x = row.x[k];
            if (!(x > 0.0)) continue;
            const std::size_t j = row.column(k);
            const std::int64_t at = levels.find(j, x);
            if (at >= 0)
                scratch.found.push_back(at);
            else
                add_cell(columns.column(j, scratch.column), x, members.weight(r), n, scratch.sums.data(),
                         scratch.zeros.data());
        }
        levels.add(scratch.found, scratch.sums.data());
        const std::size_t c = members.own(r);
        const LogSum kept = log_sum_row(row.x, own.of(c, row, scratch.column), 0.0, row.n);
        std::copy_n(scratch.sums.begin(), n, sums + r * n);
        std::copy_n(scratch.zeros.begin(), n, zeros + r * n);
        sums[r * n + c] = kept.sum;
        zeros[r * n + c] = kept.zeros;
        cells[r] = kept.cells;
    };
    return each_row<Scratch>(members.rows, 8 * n, {true, {}}, n_threads, score);
}

#define CANDIDE_INSTANTIATE(Data) \
    template Findings left_out_complement(const Members<Data>&, const double*, int, double*, double*, double*);
CANDIDE_INSTANTIATE(Table)
CANDIDE_INSTANTIATE(Rows<std::int32_t>)
CANDIDE_INSTANTIATE(Rows<std::int64_t>)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
