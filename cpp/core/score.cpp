#include "score.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

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

CANDIDE_CLONES void add_linear(const Block& block, const double* weights, std::size_t n_classes, double* scores) {
    for (std::size_t c = 0; c < n_classes; ++c) {
        double sum[kHeight];
        for (std::size_t r = 0; r < kHeight; ++r) sum[r] = scores[c * kHeight + r];
        for (std::size_t j = 0; j < block.n_columns; ++j) {
            const double w = weights[c * block.stride + j];
            for (std::size_t r = 0; r < kHeight; ++r) sum[r] += w * block.x[j * kHeight + r];
        }
        for (std::size_t r = 0; r < kHeight; ++r) scores[c * kHeight + r] = sum[r];
    }
}

CANDIDE_CLONES void add_quadratic(const Block& block, const double* precision, const double* mean,
                                  std::size_t n_classes, double* scores) {
    for (std::size_t c = 0; c < n_classes; ++c) {
        double sum[kHeight];
        for (std::size_t r = 0; r < kHeight; ++r) sum[r] = scores[c * kHeight + r];
        for (std::size_t j = 0; j < block.n_columns; ++j) {
            const double p = precision[c * block.stride + j], m = mean[c * block.stride + j];
            for (std::size_t r = 0; r < kHeight; ++r) {
                const double deviation = block.x[j * kHeight + r] - m;
                sum[r] -= p * (deviation * deviation);
            }
        }
        for (std::size_t r = 0; r < kHeight; ++r) scores[c * kHeight + r] = sum[r];
    }
}

CANDIDE_CLONES bool all_finite(const double* x, std::size_t n) {
    std::int64_t odd = 0;
    for (std::size_t i = 0; i < n; ++i) odd |= (x[i] - x[i] == 0.0) ? 0 : -1;
    return odd == 0;
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
bool score_tiles(const Table& table, const double* base, std::size_t n_classes, std::optional<double> threshold,
                 int n_threads, double* scores, AddBlock&& add) {
    std::atomic<bool> infinite{false};
    const std::size_t n_tiles = (table.n_rows + kHeight - 1) / kHeight;
    const std::size_t n_tasks = (n_tiles + kTilesPerTask - 1) / kTilesPerTask;
    const std::size_t block_columns = std::min(kColumnBlock, table.n_columns);
    parallel_for(n_tasks, table.n_rows * table.n_columns * n_classes, n_threads, [&](std::size_t task) {
        std::vector<double> x(block_columns * kHeight), sum(n_classes * kHeight);
        const std::size_t last_tile = std::min(n_tiles, (task + 1) * kTilesPerTask);
        for (std::size_t t = task * kTilesPerTask; t < last_tile; ++t) {
            const std::size_t begin = t * kHeight, end = std::min(begin + kHeight, table.n_rows);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = base[i / kHeight];
            for (std::size_t first = 0; first < table.n_columns; first += block_columns) {
                const std::size_t last = std::min(first + block_columns, table.n_columns);
                table.tile(begin, end, first, last, kHeight, x.data());
                const bool clean = all_finite(x.data(), (last - first) * kHeight);
                if (!clean)
                    for (std::size_t i = 0; i < (last - first) * kHeight; ++i)
                        if (std::isinf(x[i])) infinite = true;
                if (threshold) binarize(x.data(), (last - first) * kHeight, *threshold);
                add(Block{x.data(), last - first, table.n_columns}, clean, first, sum.data());
            }
            for (std::size_t r = begin; r < end; ++r)
                for (std::size_t c = 0; c < n_classes; ++c) scores[r * n_classes + c] = sum[c * kHeight + (r - begin)];
        }
    });
    return infinite;
}

// The cells of one sparse row, all finite, added to its scores. Two functions, since clones cannot be templates.
template <class Index>
inline void add_cells_of(const double* x, const Index* at, std::size_t n, const double* weights, std::size_t n_classes,
                         double* out) {
    for (std::size_t k = 0; k < n; ++k) {
        const double value = x[k];
        const double* in = weights + static_cast<std::size_t>(at[k]) * n_classes;
        for (std::size_t c = 0; c < n_classes; ++c) out[c] += value * in[c];
    }
}
CANDIDE_CLONES void add_cells(const double* x, const std::int32_t* at, std::size_t n, const double* weights,
                              std::size_t n_classes, double* out) {
    add_cells_of(x, at, n, weights, n_classes, out);
}
CANDIDE_CLONES void add_cells(const double* x, const std::int64_t* at, std::size_t n, const double* weights,
                              std::size_t n_classes, double* out) {
    add_cells_of(x, at, n, weights, n_classes, out);
}

// One sparse row's values, with the threshold applied; what it found along the way.
struct Cells {
    const double* x;
    bool finite, infinite;
};
template <class Index>
Cells cells(const Rows<Index>& rows, std::size_t row, std::optional<double> threshold, std::vector<double>& scratch) {
    rows.check(row);
    const std::size_t n = rows.size(row);
    const double* x = rows.values(row, scratch);
    Cells out{x, true, false};
    for (std::size_t k = 0; k < n; ++k) out.finite &= x[k] - x[k] == 0.0;
    if (!out.finite)
        for (std::size_t k = 0; k < n; ++k) out.infinite |= std::isinf(x[k]);
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

template <class Index, class ScoreRow>
bool score_rows(const Rows<Index>& rows, std::size_t n_classes, int n_threads, ScoreRow&& score_row) {
    std::atomic<bool> infinite{false};
    const std::size_t stored = rows.n_rows ? static_cast<std::size_t>(rows.indptr[rows.n_rows] - rows.indptr[0]) : 0;
    parallel_for((rows.n_rows + kRowsPerTask - 1) / kRowsPerTask, (stored + rows.n_rows) * n_classes, n_threads,
                 [&](std::size_t task) {
                     std::vector<double> scratch;
                     const std::size_t end = std::min(rows.n_rows, (task + 1) * kRowsPerTask);
                     for (std::size_t r = task * kRowsPerTask; r < end; ++r)
                         if (score_row(r, scratch)) infinite = true;
                 });
    return infinite;
}

}  // namespace

bool linear_scores(const Table& table, const double* weights, const double* base, const double* absent,
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
    return score_tiles(table, base, n_classes, threshold, n_threads, scores, add);
}

bool quadratic_scores(const Table& table, const double* precision, const double* mean, const double* constant,
                      const double* base, std::size_t n_classes, int n_threads, double* scores) {
    auto add = [&](const Block& block, bool clean, std::size_t first, double* sum) {
        if (clean) return add_quadratic(block, precision + first, mean + first, n_classes, sum);
        add_with_gaps(block, n_classes, sum, [&](double& score, double x, std::size_t at) {
            const double deviation = x - mean[first + at];
            score -= x == x ? precision[first + at] * (deviation * deviation) : constant[first + at];
        });
    };
    return score_tiles(table, base, n_classes, std::nullopt, n_threads, scores, add);
}

template <class Index>
bool linear_row_scores(const Rows<Index>& rows, const double* weights, const double* base, const double* absent,
                       std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    return score_rows(rows, n_classes, n_threads, [&](std::size_t r, std::vector<double>& scratch) {
        const Cells row = cells(rows, r, threshold, scratch);
        const Index* at = rows.indices + rows.indptr[r];
        double* out = scores + r * n_classes;
        std::copy(base, base + n_classes, out);
        if (row.finite) {
            add_cells(row.x, at, rows.size(r), weights, n_classes, out);
            return false;
        }
        for (std::size_t k = 0; k < rows.size(r); ++k) {
            const bool known = row.x[k] == row.x[k];
            if (const double* table = known ? weights : absent) {
                const double* in = table + static_cast<std::size_t>(at[k]) * n_classes;
                for (std::size_t c = 0; c < n_classes; ++c) out[c] += (known ? row.x[k] : 1.0) * in[c];
            }
        }
        return row.infinite;
    });
}

template <class Index>
bool factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                         std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    return score_rows(rows, n_classes, n_threads, [&](std::size_t r, std::vector<double>& scratch) {
        const Cells row = cells(rows, r, threshold, scratch);
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
            for (std::int64_t i = weights.indptr[j]; i < weights.indptr[j + 1]; ++i)
                out[weights.classes[i]] += value * weights.values[i];
        }
        for (std::size_t c = 0; c < n_classes; ++c) out[c] += base[c] + shared + length * weights.slope[c];
        return row.infinite;
    });
}

#define CANDIDE_INSTANTIATE(Index)                                                                                    \
    template bool linear_row_scores(const Rows<Index>&, const double*, const double*, const double*, std::size_t,     \
                                    std::optional<double>, int, double*);                                             \
    template bool factored_row_scores(const Rows<Index>&, const FactoredWeights&, const double*, std::size_t,         \
                                      std::optional<double>, int, double*);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
