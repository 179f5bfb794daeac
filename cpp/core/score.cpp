#include "score.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "gather.hpp"
#include "lanes.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

// Rows are scored sixteen abreast: the cells of a tile stand column by column, so the inner loop runs over rows, needs
// no sum across lanes, and adds the columns of a row in the same order whatever the vector width.
constexpr std::size_t kHeight = 16;
constexpr std::size_t kTilesPerTask = 64;
constexpr std::size_t kColumnBlock = 256;

struct Block {
    const double* x;  // (n_columns, kHeight)
    std::size_t n_columns;
    std::size_t stride;  // from one class to the next in the tables
};

// Sums of `Wide` classes for the sixteen rows of a tile. Two classes at a time keep the adders busy: each sum waits for
// the one before it.
template <int Wide, class Cell>
CANDIDE_INLINE void add_classes(const Block& block, double* scores, Cell&& cell) {
    Lanes8 sum[2 * Wide], x[2];
    for (int i = 0; i < 2 * Wide; ++i) load(sum[i], scores + 8 * i);
    for (std::size_t j = 0; j < block.n_columns; ++j) {
        load(x[0], block.x + j * kHeight);
        load(x[1], block.x + j * kHeight + 8);
        for (int i = 0; i < 2 * Wide; ++i) sum[i] += cell(static_cast<std::size_t>(i / 2) * block.stride + j, x[i % 2]);
    }
    for (int i = 0; i < 2 * Wide; ++i) store(scores + 8 * i, sum[i]);
}

CANDIDE_CLONES void add_linear(const Block& block, const double* weights, std::size_t n_classes, double* scores) {
    auto cell = [&](std::size_t at, const Lanes8& x) CANDIDE_INLINE_LAMBDA { return weights[at] * x; };
    std::size_t c = 0;
    for (; c + 2 <= n_classes; c += 2, weights += 2 * block.stride) add_classes<2>(block, scores + c * kHeight, cell);
    if (c < n_classes) add_classes<1>(block, scores + c * kHeight, cell);
}

CANDIDE_CLONES void add_quadratic(const Block& block, const double* precision, const double* mean,
                                  std::size_t n_classes, double* scores) {
    auto cell = [&](std::size_t at, const Lanes8& x) CANDIDE_INLINE_LAMBDA {
        const Lanes8 deviation = x - mean[at];
        // In this order a cell without a density (precision 0) stays 0 however far it lies.
        return -(precision[at] * deviation) * deviation;
    };
    std::size_t c = 0;
    for (; c + 2 <= n_classes; c += 2, precision += 2 * block.stride, mean += 2 * block.stride)
        add_classes<2>(block, scores + c * kHeight, cell);
    if (c < n_classes) add_classes<1>(block, scores + c * kHeight, cell);
}

CANDIDE_CLONES bool finite_block(const double* x, std::size_t n) { return all_finite(x, n); }
CANDIDE_CLONES bool negative_block(const double* x, std::size_t n) { return any_negative(x, n); }
bool any_infinite(const double* x, std::size_t n) {
    return std::any_of(x, x + n, [](double value) { return std::isinf(value); });
}

CANDIDE_CLONES void binarize(double* x, std::size_t n, double threshold) {
    for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > threshold ? 1.0 : (x[i] == x[i] ? 0.0 : x[i]);
}

// Cells that are not finite, found by reading the tile once more; such tiles are rare or the data are full of gaps.
template <class AddCell>
void add_with_gaps(const Block& block, std::size_t n_classes, double* scores, AddCell&& add_cell) {
    for (std::size_t c = 0; c < n_classes; ++c)
        for (std::size_t j = 0; j < block.n_columns; ++j)
            for (std::size_t r = 0; r < kHeight; ++r)
                add_cell(scores[c * kHeight + r], block.x[j * kHeight + r], c * block.stride + j);
}

// Drives tiles of rows and blocks of columns through `add(block, clean, first column, scores)`.
template <class AddBlock>
Odd score_tiles(const Table& table, const double* base, std::size_t n_classes, bool counts,
                std::optional<double> threshold, int n_threads, double* scores, AddBlock&& add) {
    std::atomic<bool> infinite{false}, negative{false};
    const std::size_t n_tiles = (table.n_rows + kHeight - 1) / kHeight;
    const std::size_t n_tasks = (n_tiles + kTilesPerTask - 1) / kTilesPerTask;
    const std::size_t block_columns = std::min(kColumnBlock, table.n_columns);
    parallel_for(n_tasks, table.n_rows * table.n_columns * n_classes, n_threads, [&](std::size_t task) {
        std::vector<double> x(block_columns * kHeight), sum(n_classes * kHeight);
        const std::size_t last_tile = std::min(n_tiles, (task + 1) * kTilesPerTask);
        for (std::size_t t = task * kTilesPerTask; t < last_tile; ++t) {
            const std::size_t begin = t * kHeight, end = std::min(begin + kHeight, table.n_rows);
            for (std::size_t c = 0; c < n_classes; ++c) std::fill_n(sum.begin() + static_cast<std::ptrdiff_t>(c * kHeight), kHeight, base[c]);
            for (std::size_t first = 0; first < table.n_columns; first += block_columns) {
                const std::size_t last = std::min(first + block_columns, table.n_columns);
                table.tile(begin, end, first, last, kHeight, x.data());
                const std::size_t n = (last - first) * kHeight;
                const bool clean = finite_block(x.data(), n);
                if (!clean && any_infinite(x.data(), n)) infinite = true;
                if (counts && negative_block(x.data(), n)) negative = true;
                if (threshold) binarize(x.data(), n, *threshold);
                add(Block{x.data(), last - first, table.n_columns}, clean, first, sum.data());
            }
            for (std::size_t r = begin; r < end; ++r)
                for (std::size_t c = 0; c < n_classes; ++c) scores[r * n_classes + c] = sum[c * kHeight + (r - begin)];
        }
    });
    return {infinite, negative};
}

// One sparse row's values, with the threshold applied; what it found along the way.
struct Cells {
    const double* x;
    bool finite;
    Odd odd;
};
template <class Index>
Cells cells(const Rows<Index>& rows, std::size_t row, std::optional<double> threshold, std::vector<double>& scratch) {
    rows.check_bounds(row);
    rows.check_columns(row);
    const std::size_t n = rows.size(row);
    const double* x = rows.values(row, scratch);
    Cells out{x, finite_block(x, n), {false, false}};
    out.odd = {!out.finite && any_infinite(x, n), !threshold && negative_block(x, n)};
    if (threshold) {
        if (x != scratch.data()) {
            scratch.assign(x, x + n);
            out.x = scratch.data();
        }
        binarize(scratch.data(), n, *threshold);
    }
    return out;
}

constexpr std::size_t kRowsPerTask = 512;

struct Scratch {
    std::vector<double> values, sums;
};

template <class Index, class ScoreRow>
Odd score_rows(const Rows<Index>& rows, std::size_t n_classes, int n_threads, ScoreRow&& score_row) {
    std::atomic<bool> infinite{false}, negative{false};
    const std::size_t stored = rows.n_rows ? static_cast<std::size_t>(rows.indptr[rows.n_rows] - rows.indptr[0]) : 0;
    parallel_for((rows.n_rows + kRowsPerTask - 1) / kRowsPerTask, (stored + rows.n_rows) * n_classes, n_threads,
                 [&](std::size_t task) {
                     Scratch scratch;
                     const std::size_t end = std::min(rows.n_rows, (task + 1) * kRowsPerTask);
                     for (std::size_t r = task * kRowsPerTask; r < end; ++r) {
                         const Odd odd = score_row(r, scratch);
                         if (odd.infinite) infinite = true;
                         if (odd.negative) negative = true;
                     }
                 });
    return {infinite, negative};
}

}  // namespace

Odd linear_scores(const Table& table, const double* weights, const double* base, const double* absent,
                   std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    auto add = [&](const Block& block, bool clean, std::size_t first, double* sum) {
        if (clean) return add_linear(block, weights + first, n_classes, sum);
        add_with_gaps(block, n_classes, sum, [&](double& score, double x, std::size_t at) {
            if (x == x)
                score += weights[first + at] * x;
            else if (absent)
                score += absent[first + at];
        });
    };
    return score_tiles(table, base, n_classes, !threshold, threshold, n_threads, scores, add);
}

Odd quadratic_scores(const Table& table, const double* precision, const double* mean, const double* constant,
                      const double* base, std::size_t n_classes, int n_threads, double* scores) {
    auto add = [&](const Block& block, bool clean, std::size_t first, double* sum) {
        if (clean) return add_quadratic(block, precision + first, mean + first, n_classes, sum);
        add_with_gaps(block, n_classes, sum, [&](double& score, double x, std::size_t at) {
            const double deviation = x - mean[first + at];
            score -= x == x ? (precision[first + at] * deviation) * deviation : constant[first + at];
        });
    };
    return score_tiles(table, base, n_classes, false, std::nullopt, n_threads, scores, add);
}

template <class Index>
Odd linear_row_scores(const Rows<Index>& rows, const double* weights, std::size_t stride, const double* base,
                       const double* absent, std::size_t n_classes, std::optional<double> threshold, int n_threads,
                       double* scores) {
    return score_rows(rows, n_classes, n_threads, [&](std::size_t r, Scratch& scratch) {
        const Cells row = cells(rows, r, threshold, scratch.values);
        const Index* at = rows.indices + rows.indptr[r];
        auto& sum = scratch.sums;
        sum.assign(stride, 0.0);
        std::copy(base, base + n_classes, sum.begin());
        if (row.finite) {
            add_picked(at, row.x, rows.size(r), weights, stride, sum.data());
        } else {
            for (std::size_t k = 0; k < rows.size(r); ++k) {
                if (row.x[k] == row.x[k])
                    add_picked(at + k, row.x + k, 1, weights, stride, sum.data());
                else if (absent)
                    add_picked(at + k, nullptr, 1, absent, stride, sum.data());
            }
        }
        std::copy(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(n_classes), scores + r * n_classes);
        return row.odd;
    });
}

template <class Index>
Odd factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                         std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    return score_rows(rows, n_classes, n_threads, [&](std::size_t r, Scratch& scratch) {
        const Cells row = cells(rows, r, threshold, scratch.values);
        const Index* at = rows.indices + rows.indptr[r];
        double* out = scores + r * n_classes;
        double shared = 0.0, length = 0.0;
        std::fill(out, out + n_classes, 0.0);
        for (std::size_t k = 0; k < rows.size(r); ++k) {
            const double value = row.x[k];
            if (value != value || value == 0.0) continue;
            const auto j = static_cast<std::size_t>(at[k]);
            shared += value * weights.shared[j];
            length += value;
            weights.check_column(j, n_classes);
            for (std::int64_t i = weights.indptr[j]; i < weights.indptr[j + 1]; ++i)
                out[weights.classes[i]] += value * weights.values[i];
        }
        for (std::size_t c = 0; c < n_classes; ++c) out[c] += base[c] + shared + length * weights.slope[c];
        return row.odd;
    });
}

#define CANDIDE_INSTANTIATE(Index)                                                                                    \
    template Odd linear_row_scores(const Rows<Index>&, const double*, std::size_t, const double*, const double*,     \
                                    std::size_t, std::optional<double>, int, double*);                                \
    template Odd factored_row_scores(const Rows<Index>&, const FactoredWeights&, const double*, std::size_t,         \
                                      std::optional<double>, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
