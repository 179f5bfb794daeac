#include "rising.hpp"

#include <algorithm>
#include <vector>

#include "each_row.hpp"
#include "elementary.hpp"
#include "entries.hpp"
#include "levels.hpp"

namespace candide {
namespace {

// Up to this many factors, none of them huge, are multiplied; their logarithm is one.
constexpr int kFew = 8;
constexpr double kHuge = 1e35;

bool is_few(double x, double start) { return x <= kFew && is_whole(x) && start < kHuge; }

// For x = 0, 1, ..., kFew.
CANDIDE_INLINE Pack log_of_few(const Pack& start, const Pack& x) {
    const Pack none{}, one = none + 1.0;
    Pack product = x > none ? start : one;
    for (int i = 1; i < kFew; ++i) {
        const Pack step = none + static_cast<double>(i);
        product *= x > step ? start + step : one;
    }
    return logarithm(product);
}

struct FewSum {
    double sum;
    bool all;  // no cell was left to the others
};

CANDIDE_CLONES FewSum sum_few(const double* x, const Totals& own, std::size_t n, double weight) {
    Pack sum{}, others{};
    each_pack(x, n, [&](std::size_t j, const Pack& cells) CANDIDE_INLINE_LAMBDA {
        const Pack none{}, count = cells > none ? cells : none, most = none + static_cast<double>(kFew);
        const Pack left = own.without(j, weight * count);
        // Adding 2^52 rounds to a whole number.
        const Pack whole = (count + 4503599627370496.0) - 4503599627370496.0 == count ? count : most + 1.0;
        const Pack small = left < none + kHuge ? whole : most + 2.0;
        sum += log_of_few(left, small > most ? none : small);
        others += small > most ? none + 1.0 : none;
    });
    return {total(sum), total(others) == 0.0};
}

// Cells that are many, or not whole.
struct Others {
    std::vector<double> x, left;

    void collect(const double* cells, const Totals& own, std::size_t n, double weight) {
        x.clear();
        left.clear();
        for (std::size_t k = 0; k < n; ++k) {
            const double rest = own.without(k, weight * cells[k]);
            if (!(cells[k] > 0.0) || is_few(cells[k], rest)) continue;
            x.push_back(cells[k]);
            left.push_back(rest);
        }
        x.resize(padded(x.size()), 0.0);
        left.resize(x.size(), 1.0);
    }
};

CANDIDE_CLONES double sum_others(const double* x, const double* left, std::size_t n) {
    Pack sum{};
    for (std::size_t k = 0; k < n; k += kPack) sum += log_rising(loaded<Pack>(left + k), loaded<Pack>(x + k));
    return total(sum);
}

struct OwnScratch {
    TotalsScratch totals;
    Others others;
};

double own_row(const double* x, const Totals& own, std::size_t n, double weight, Others& others) {
    const FewSum few = sum_few(x, own, n, weight);
    if (few.all) return few.sum;
    others.collect(x, own, n, weight);
    return few.sum + sum_others(others.x.data(), others.left.data(), others.x.size());
}

}  // namespace

template <class Data>
Findings own_rising_scores(const Members<Data>& members, const Totals& totals, int n_threads, double* scores) {
    const auto table = own_totals(members.rows, totals, members.n_classes, n_threads);
    auto score = [&](std::size_t r, const auto& cells, OwnScratch& scratch) {
        const Totals own = table.of(members.own(r), cells, scratch.totals);
        scores[r] = own_row(cells.x, own, cells.n, members.weight(r), scratch.others);
    };
    return each_row<OwnScratch>(members.rows, 8, {true, {}}, n_threads, score);
}

namespace {

// One cell under every class.
CANDIDE_CLONES void add_cell(const double* start, double x, std::size_t n_classes, double* sum) {
    const bool few = is_few(x, *std::max_element(start, start + n_classes));
    for (std::size_t c = 0; c < n_classes; c += kPack) {
        const Pack first = loaded<Pack>(start + c), cell = Pack{} + x;
        store(sum + c, loaded<Pack>(sum + c) + (few ? log_of_few(first, cell) : log_rising(first, cell)));
    }
}

struct Scratch {
    std::vector<double> sum, column;
    std::vector<std::int64_t> found;
};

}  // namespace

template <class Data>
Findings rising_scores(const Data& rows, const double* start, const double* base, std::size_t n_classes, int n_threads,
                       double* scores) {
    const std::size_t n_columns = rows.n_columns, n_cells = count_cells(rows);
    const ByColumn starts(start, nullptr, n_classes, n_columns, n_cells, n_threads);
    auto make = [n_classes](const double* column, double x, double* sum, std::vector<double>&) {
        add_cell(column, x, n_classes, sum);
        return true;
    };
    const Levels levels(starts, n_classes, n_columns, n_cells, n_threads, make);
    auto score = [&](std::size_t r, const auto& cells, Scratch& scratch) {
        scratch.sum.assign(starts.width(), 0.0);
        std::copy(base, base + n_classes, scratch.sum.begin());
        scratch.found.clear();
        for (std::size_t k = 0; k < cells.n; ++k) {
            const double x = cells.x[k];
            if (!(x > 0.0)) continue;
            const std::size_t j = cells.column(k);
            const std::int64_t at = levels.find(j, x);
            if (at >= 0)
                scratch.found.push_back(at);
            else
                add_cell(starts.column(j, scratch.column), x, n_classes, scratch.sum.data());
        }
        levels.add(scratch.found, scratch.sum.data());
        std::copy_n(scratch.sum.begin(), n_classes, scores + r * n_classes);
    };
    return each_row<Scratch>(rows, 2 * n_classes, {true, {}}, n_threads, score);
}

#define CANDIDE_INSTANTIATE(Data)                                                                          \
    template Findings rising_scores(const Data&, const double*, const double*, std::size_t, int, double*); \
    template Findings own_rising_scores(const Members<Data>&, const Totals&, int, double*);
CANDIDE_INSTANTIATE(Table)
CANDIDE_INSTANTIATE(Rows<std::int32_t>)
CANDIDE_INSTANTIATE(Rows<std::int64_t>)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
