#include "score.hpp"

#include <algorithm>
#include <vector>

#include "each_row.hpp"
#include "elementary.hpp"
#include "parallel.hpp"
#include "values.hpp"

namespace candide {
namespace {

// Rows are scored kHeight abreast: the cells of a tile stand column by column, so the inner loop runs over rows, needs
// no sum across lanes, and adds the columns of a row in the same order whatever the vector width.
constexpr std::size_t kTilesPerTask = 64;
constexpr std::size_t kColumnBlock = 256;

struct Block {
    const double* x;  // (n_columns, kHeight)
    std::size_t n_columns;
    std::size_t stride;  // from one class to the next in the tables
};

// Sums of `Wide` classes for the rows of a tile. Two classes at a time keep the adders busy: each sum waits for
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

// Missing cells are chosen among the others: the logarithm costs more than the choice.
CANDIDE_CLONES void add_student(const Block& block, const StudentTable& table, std::size_t n_classes, double* scores) {
    constexpr std::size_t kPacks = kHeight / kPack;
    for (std::size_t c = 0; c < n_classes; ++c, scores += kHeight) {
        Pack sum[kPacks];
        for (std::size_t i = 0; i < kPacks; ++i) load(sum[i], scores + i * kPack);
        for (std::size_t j = 0; j < block.n_columns; ++j) {
            const std::size_t at = c * block.stride + j;
            for (std::size_t i = 0; i < kPacks; ++i) {
                const Pack x = loaded<Pack>(block.x + j * kHeight + i * kPack), deviation = x - table.location[at];
                const Pack tail = table.power[at] * logarithm_of_one_plus(table.spread[at] * deviation * deviation);
                sum[i] -= where_known(x, tail, Pack{} + table.constant[at]);
            }
        }
        for (std::size_t i = 0; i < kPacks; ++i) store(scores + i * kPack, sum[i]);
    }
}

// Cells that are not finite, found by reading the tile once more; such tiles are rare or the data are full of gaps.
template <class AddCell>
void add_with_gaps(const Block& block, std::size_t n_classes, double* scores, AddCell&& add_cell) {
    for (std::size_t c = 0; c < n_classes; ++c)
        for (std::size_t j = 0; j < block.n_columns; ++j)
            for (std::size_t r = 0; r < kHeight; ++r)
                add_cell(scores[c * kHeight + r], block.x[j * kHeight + r], c * block.stride + j);
}

// One tile: blocks of columns go through `add(block, finite, first column, sums)`.
template <class AddBlock>
Findings score_tile(const Table& table, std::size_t begin, std::size_t end, const Reading& reading, double* x,
                    double* sums, AddBlock&& add) {
    Findings found;
    for (std::size_t first = 0; first < table.n_columns; first += kColumnBlock) {
        const std::size_t last = std::min(first + kColumnBlock, table.n_columns), n = (last - first) * kHeight;
        table.tile(begin, end, first, last, x);
        const Findings here = inspect(x, n, reading.signs);
        if (reading.threshold) binarize(x, n, *reading.threshold);
        add(Block{x, last - first, table.n_columns}, here.finite(), first, sums);
        found.add(here);
    }
    return found;
}

template <class AddBlock>
Findings score_tiles(const Table& table, const double* base, std::size_t n_classes, const Reading& reading,
                     int n_threads, double* scores, AddBlock&& add) {
    const std::size_t n_tiles = (table.n_rows + kHeight - 1) / kHeight;
    const std::size_t n_tasks = (n_tiles + kTilesPerTask - 1) / kTilesPerTask;
    std::vector<Findings> found(n_tasks);
    parallel_for(n_tasks, table.n_rows * table.n_columns * n_classes, n_threads, [&](std::size_t task) {
        AlignedDoubles x(std::min(kColumnBlock, table.n_columns) * kHeight), sums(n_classes * kHeight);
        const std::size_t last_tile = std::min(n_tiles, (task + 1) * kTilesPerTask);
        Steps steps;
        for (std::size_t t = task * kTilesPerTask; t < last_tile; ++t) {
            const std::size_t begin = t * kHeight, end = std::min(begin + kHeight, table.n_rows);
            steps.add(kHeight * table.n_columns * n_classes);
            for (std::size_t c = 0; c < n_classes; ++c) std::fill_n(sums.data() + c * kHeight, kHeight, base[c]);
            found[task].add(score_tile(table, begin, end, reading, x.data(), sums.data(), add));
            for (std::size_t r = begin; r < end; ++r)
                for (std::size_t c = 0; c < n_classes; ++c)
                    scores[r * n_classes + c] = sums.data()[c * kHeight + (r - begin)];
        }
    });
    return join(found);
}

}  // namespace

Findings linear_scores(const Table& table, const double* weights, const double* base, const double* absent,
                       std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores) {
    auto add = [&](const Block& block, bool finite, std::size_t first, double* sum) {
        if (finite) return add_linear(block, weights + first, n_classes, sum);
        add_with_gaps(block, n_classes, sum, [&](double& score, double x, std::size_t at) {
            if (x == x)
                score += weights[first + at] * x;
            else if (absent)
                score += absent[first + at];
        });
    };
    return score_tiles(table, base, n_classes, {!threshold, threshold}, n_threads, scores, add);
}

Findings quadratic_scores(const Table& table, const double* precision, const double* mean, const double* constant,
                          const double* base, std::size_t n_classes, int n_threads, double* scores) {
    auto add = [&](const Block& block, bool finite, std::size_t first, double* sum) {
        if (finite) return add_quadratic(block, precision + first, mean + first, n_classes, sum);
        add_with_gaps(block, n_classes, sum, [&](double& score, double x, std::size_t at) {
            const double deviation = x - mean[first + at];
            score -= x == x ? (precision[first + at] * deviation) * deviation : constant[first + at];
        });
    };
    return score_tiles(table, base, n_classes, {false, std::nullopt}, n_threads, scores, add);
}

Findings student_scores(const Table& table, const StudentTable& student, const double* base, std::size_t n_classes,
                        int n_threads, double* scores) {
    auto add = [&](const Block& block, bool, std::size_t first, double* sum) {
        const StudentTable part{student.location + first, student.spread + first, student.power + first,
                                student.constant + first};
        add_student(block, part, n_classes, sum);
    };
    return score_tiles(table, base, n_classes, {false, std::nullopt}, n_threads, scores, add);
}

}  // namespace candide
