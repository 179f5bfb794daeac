#include "complement.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "each_row.hpp"
#include "elementary.hpp"
#include "entries.hpp"
#include "levels.hpp"
#include "own.hpp"

namespace candide {
namespace {

// One cell under every class. (Passed as Totals, by reference or by value, it takes up to half as long again.)
CANDIDE_CLONES void add_cell(const double* count, const double* pseudo, double even, double x, double weight,
                             std::size_t n_classes, double* sum, double* zeros) {
    const Totals others{count, pseudo, even};
    const Pack none{}, removed = none + weight * x;
    for (std::size_t c = 0; c < n_classes; c += kPack) {
        const Pack left = others.without(c, removed);
        store(sum + c, loaded<Pack>(sum + c) + x * logarithm(left > none ? left : none + 1.0));
        store(zeros + c, loaded<Pack>(zeros + c) + (left > none ? none : none + x));
    }
}

// log(count + pseudo) of all cells, where there are enough rows to need them; empty where one is that of 0.
std::vector<double> logs_of(const Totals& totals, std::size_t n, std::size_t n_asked, int n_threads) {
    constexpr std::size_t kStretch = 1 << 14;
    std::vector<double> logs(n <= n_asked ? n : 0);
    std::atomic<bool> nothing{false};
    parallel_for((logs.size() + kStretch - 1) / kStretch, 8 * logs.size(), n_threads, [&](std::size_t s) {
        for (std::size_t i = s * kStretch; i < std::min(n, (s + 1) * kStretch); ++i) {
            const double all = totals.count[i] + (totals.pseudo ? totals.pseudo[i] : totals.even);
            if (!(all > 0.0)) nothing = true;
            logs[i] = std::log(all);
        }
    });
    return nothing ? std::vector<double>{} : logs;
}

struct Scratch {
    std::vector<double> sums, zeros, column;
    TotalsScratch own;
    std::vector<std::int64_t> found;
};

}  // namespace

template <class Data>
Findings left_out_complement(const Members<Data>& members, const Totals& others, int n_threads, double* sums,
                             double* zeros, double* cells) {
    const std::size_t n = members.n_classes, n_columns = members.rows.n_columns, n_cells = count_cells(members.rows);
    const ByColumn columns(others.count, others.pseudo, n, n_columns, n_cells, n_threads);
    auto add = [&others, n, width = columns.width()](const double* column, double x, double weight, double* sum,
                                                     double* lost) {
        add_cell(column, others.pseudo ? column + width : nullptr, others.even, x, weight, n, sum, lost);
    };
    auto make = [=, width = columns.width()](const double* column, double x, double* sum, std::vector<double>& lost) {
        lost.assign(width, 0.0);
        add(column, x, 1.0, sum, lost.data());
        return std::all_of(lost.data(), lost.data() + n, [](double zero) { return zero == 0.0; });
    };
    // Of rows that weigh 1, where every class keeps something.
    const Levels levels(columns, n, n_columns, members.weights ? 0 : n_cells, n_threads, make);
    const std::vector<double> logs = logs_of(others, n * n_columns, n_cells, n_threads);
    const auto own = own_totals(members.rows, logs.empty() ? others : Totals{}, n, n_threads);
    const auto own_logs = entries_of(members.rows, logs.empty() ? nullptr : logs.data(), n, n_threads);
    auto score = [&](std::size_t r, const auto& row, Scratch& scratch) {
        scratch.sums.assign(columns.width(), 0.0);
        scratch.zeros.assign(columns.width(), 0.0);
        scratch.found.clear();
        double length = 0.0;
        for (std::size_t k = 0; k < row.n; ++k) {
            const double x = row.x[k];
            if (!(x > 0.0)) continue;
            length += x;
            const std::size_t j = row.column(k);
            const std::int64_t at = levels.find(j, x);
            if (at >= 0)
                scratch.found.push_back(at);
            else
                add(columns.column(j, scratch.column), x, members.weight(r), scratch.sums.data(), scratch.zeros.data());
        }
        levels.add(scratch.found, scratch.sums.data());
        const std::size_t c = members.own(r);
        const LogSum kept =
            logs.empty()
                ? log_sum_row(row.x, own.of(c, row, scratch.own), 0.0, row.n)
                : LogSum{linear_row(row.x, own_logs.of(c, row, scratch.own.first), nullptr, row.n), 0.0, length};
        std::copy_n(scratch.sums.begin(), n, sums + r * n);
        std::copy_n(scratch.zeros.begin(), n, zeros + r * n);
        sums[r * n + c] = kept.sum;
        zeros[r * n + c] = kept.zeros;
        cells[r] = kept.cells;
    };
    return each_row<Scratch>(members.rows, 8 * n, {true, {}}, n_threads, score);
}

#define CANDIDE_INSTANTIATE(Data) \
    template Findings left_out_complement(const Members<Data>&, const Totals&, int, double*, double*, double*);
CANDIDE_INSTANTIATE(Table)
CANDIDE_INSTANTIATE(Rows<std::int32_t>)
CANDIDE_INSTANTIATE(Rows<std::int64_t>)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
