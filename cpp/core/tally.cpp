#include "tally.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"

namespace candide {
namespace {

struct Tile {
    const double* x;
    std::size_t n_rows, n_columns;
    const std::int32_t* classes;
    const double* weight;  // or null: all 1
};

// A row with a number that is not finite: rare, cell by cell.
template <bool Above>
void add_odd_row(const double* x, std::size_t n, double w, double threshold, double* total, double* missing,
                 Findings& found) {
    for (std::size_t j = 0; j < n; ++j) {
        if (x[j] != x[j]) {
            missing[j] += w;
            found.missing = true;
        } else if (std::isinf(x[j])) {
            found.infinite = true;
        } else {
            found.negative |= x[j] < 0;
            total[j] += Above ? (x[j] > threshold ? w : 0.0) : w * x[j];
        }
    }
}

template <bool Above>
CANDIDE_INLINE void add_tile(const Tile& tile, double threshold, double* total, double* missing, Findings& found) {
    const std::size_t n = tile.n_columns;
    for (std::size_t r = 0; r < tile.n_rows; ++r) {
        const double* x = tile.x + r * n;
        const double w = tile.weight ? tile.weight[r] : 1.0;
        const std::size_t at = static_cast<std::size_t>(tile.classes[r]) * n;
        double* sum = total + at;
        if (!all_finite(x, n)) [[unlikely]] {
            add_odd_row<Above>(x, n, w, threshold, sum, missing + at, found);
            continue;
        }
        if constexpr (Above) {
            for (std::size_t j = 0; j < n; ++j) sum[j] += x[j] > threshold ? w : 0.0;
        } else {
            found.negative |= any_negative(x, n);
            for (std::size_t j = 0; j < n; ++j) sum[j] += w * x[j];
        }
    }
}

CANDIDE_CLONES void add_values(const Tile& tile, double* total, double* missing, Findings& found) {
    add_tile<false>(tile, 0.0, total, missing, found);
}

CANDIDE_CLONES void add_above(const Tile& tile, double threshold, double* total, double* missing, Findings& found) {
    add_tile<true>(tile, threshold, total, missing, found);
}

}  // namespace

Findings tally(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
               std::optional<double> threshold, int n_threads, double* total, double* missing) {
    const std::size_t n = table.n_columns, step = table.rows_per_tile();
    const Shards shards(table.n_rows, n_classes);
    // The first shard writes into the result itself.
    std::vector<std::vector<double>> totals(shards.count - 1), gaps(shards.count - 1);
    std::vector<Findings> found(shards.count);
    parallel_for(shards.count, table.n_rows * n, n_threads, [&](std::size_t s) {
        double *sum = total, *gap = missing;
        if (s > 0) {
            totals[s - 1].assign(n_classes * n, 0.0);
            gaps[s - 1].assign(n_classes * n, 0.0);
            sum = totals[s - 1].data();
            gap = gaps[s - 1].data();
        }
        std::vector<double> scratch;
        Steps steps;
        for (std::size_t begin = shards.begin(s); begin < shards.end(s); begin += step) {
            const std::size_t end = std::min(begin + step, shards.end(s));
            steps.add((end - begin) * n);
            const Tile tile{table.rows(begin, end, scratch), end - begin, n, classes + begin,
                            weight ? weight + begin : nullptr};
            if (threshold)
                add_above(tile, *threshold, sum, gap, found[s]);
            else
                add_values(tile, sum, gap, found[s]);
        }
        if (s > 0 && !found[s].missing) gaps[s - 1] = {};
    });
    add_in_order(totals, total);
    add_in_order(gaps, missing);
    return join(found);
}

}  // namespace candide
