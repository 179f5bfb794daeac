#include "moments.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"

namespace candide {
namespace {

// Chan's pairwise formula; equal means stay exactly equal, so a constant column keeps a scatter of exactly 0.
inline void absorb(double& weight, double& mean, double& scatter, double w, double m, double s) {
    if (w == 0.0) return;
    const double total = weight + w, delta = m - mean;
    mean = weight == 0.0 ? m : mean + delta * (w / total);
    scatter += s + delta * delta * (weight * (w / total));
    weight = total;
}

struct Part {
    std::vector<double> weight, mean, scatter;
};

// The two passes over a tile that is still in the cache. `shift` is any value near the data (0 deviation for a constant
// column): sums of deviations from it lose nothing to a large offset.
CANDIDE_CLONES void sum_deviations(const double* x, std::size_t n_rows, std::size_t n, const std::int32_t* slot,
                                   const double* weight, const double* shift, double* sum) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        const double w = weight ? weight[r] : 1.0;
        const std::size_t at = static_cast<std::size_t>(slot[r]) * n;
        for (std::size_t j = 0; j < n; ++j) sum[at + j] += w * (x[r * n + j] - shift[at + j]);
    }
}

CANDIDE_CLONES void sum_squares(const double* x, std::size_t n_rows, std::size_t n, const std::int32_t* slot,
                                const double* weight, const double* mean, double* sum) {
    for (std::size_t r = 0; r < n_rows; ++r) {
        const double w = weight ? weight[r] : 1.0;
        // A row of weight 0 is absent, and the square of its deviation may be infinite.
        if (w == 0.0) continue;
        const std::size_t at = static_cast<std::size_t>(slot[r]) * n;
        for (std::size_t j = 0; j < n; ++j) {
            const double deviation = x[r * n + j] - mean[at + j];
            sum[at + j] += w * (deviation * deviation);
        }
    }
}

// Sums of one tile. Classes get slots in the order in which they appear, so the cost does not depend on how many exist.
struct TileSums {
    std::size_t n;
    std::vector<std::int32_t> slot_of_class, slot, classes;
    std::vector<double> row_weight, shift, mean, scatter;

    TileSums(std::size_t n_columns, std::size_t n_classes) : n(n_columns), slot_of_class(n_classes, -1) {}

    void assign_slots(const double* x, const std::int32_t* row_class, const double* weight, std::size_t n_rows) {
        for (const std::int32_t c : classes) slot_of_class[static_cast<std::size_t>(c)] = -1;
        classes.clear();
        row_weight.clear();
        shift.clear();
        slot.resize(n_rows);
        for (std::size_t r = 0; r < n_rows; ++r) {
            std::int32_t& s = slot_of_class[static_cast<std::size_t>(row_class[r])];
            if (s < 0) {
                s = static_cast<std::int32_t>(classes.size());
                classes.push_back(row_class[r]);
                row_weight.push_back(0.0);
                shift.insert(shift.end(), x + r * n, x + (r + 1) * n);
            }
            double& total = row_weight[static_cast<std::size_t>(s)];
            // A row of weight 0 is not there, and may be far from those that are.
            if (weight && total == 0.0 && weight[r] > 0.0)
                std::copy(x + r * n, x + (r + 1) * n, shift.begin() + s * static_cast<std::ptrdiff_t>(n));
            total += weight ? weight[r] : 1.0;
            slot[r] = s;
        }
        mean.assign(classes.size() * n, 0.0);
        scatter.assign(classes.size() * n, 0.0);
    }

    // False if a cell is missing or infinite, which makes a sum NaN.
    bool clean() const {
        double all = 0.0;
        for (const double value : mean) all += value * 0.0;
        return all == 0.0;
    }

    void add_clean(const double* x, const double* weight, std::size_t n_rows, Part& out) {
        for (std::size_t i = 0; i < mean.size(); ++i)
            mean[i] = row_weight[i / n] > 0.0 ? shift[i] + mean[i] / row_weight[i / n] : 0.0;
        sum_squares(x, n_rows, n, slot.data(), weight, mean.data(), scatter.data());
        for (std::size_t s = 0; s < classes.size(); ++s)
            for (std::size_t j = 0, to = static_cast<std::size_t>(classes[s]) * n; j < n; ++j)
                absorb(out.weight[to + j], out.mean[to + j], out.scatter[to + j], row_weight[s], mean[s * n + j],
                       scatter[s * n + j]);
    }

    // The same two passes cell by cell, each cell with a weight of its own.
    void add_with_gaps(const double* x, const double* weight, std::size_t n_rows, Part& out) {
        std::vector<double> cell_weight(mean.size(), 0.0);
        std::fill(mean.begin(), mean.end(), 0.0);
        auto each_cell = [&](auto&& visit) {
            for (std::size_t r = 0; r < n_rows; ++r)
                for (std::size_t j = 0; j < n; ++j)
                    if (const double value = x[r * n + j]; value == value)
                        visit(static_cast<std::size_t>(slot[r]) * n + j, value, weight ? weight[r] : 1.0);
        };
        each_cell([&](std::size_t at, double value, double w) {
            if (cell_weight[at] == 0.0) shift[at] = value;
            cell_weight[at] += w;
            // A cell of weight 0 counts only if it is infinite, which is an error and makes the mean NaN.
            mean[at] += w == 0.0 ? 0.0 * value : w * (value - shift[at]);
        });
        for (std::size_t i = 0; i < mean.size(); ++i)
            mean[i] = cell_weight[i] > 0.0 ? shift[i] + mean[i] / cell_weight[i] : 0.0;
        each_cell([&](std::size_t at, double value, double w) {
            if (w != 0.0) scatter[at] += w * ((value - mean[at]) * (value - mean[at]));
        });
        for (std::size_t i = 0; i < mean.size(); ++i) {
            const std::size_t to = static_cast<std::size_t>(classes[i / n]) * n + i % n;
            absorb(out.weight[to], out.mean[to], out.scatter[to], cell_weight[i], mean[i], scatter[i]);
        }
    }
};

}  // namespace

void moments(const Table& table, const std::int32_t* classes, const double* row_weight, std::size_t n_classes,
             int n_threads, double* weight, double* mean, double* scatter) {
    const std::size_t n = table.n_columns, size = n_classes * n;
    const std::size_t step = table.rows_per_tile();
    const Shards shards(table.n_rows, n_classes);
    std::vector<Part> parts(shards.count);
    parallel_for(shards.count, 4 * table.n_rows * n, n_threads, [&](std::size_t shard) {
        Part& part = parts[shard];
        part.weight.assign(size, 0.0);
        part.mean.assign(size, 0.0);
        part.scatter.assign(size, 0.0);
        TileSums sums(n, n_classes);
        std::vector<double> scratch;
        Steps steps;
        for (std::size_t begin = shards.begin(shard); begin < shards.end(shard); begin += step) {
            const std::size_t end = std::min(begin + step, shards.end(shard));
            steps.add(4 * (end - begin) * n);
            const double* x = table.rows(begin, end, scratch);
            const double* w = row_weight ? row_weight + begin : nullptr;
            sums.assign_slots(x, classes + begin, w, end - begin);
            sum_deviations(x, end - begin, n, sums.slot.data(), w, sums.shift.data(), sums.mean.data());
            if (sums.clean())
                sums.add_clean(x, w, end - begin, part);
            else
                sums.add_with_gaps(x, w, end - begin, part);
        }
    });
    Steps steps;
    for (auto& part : parts) {
        steps.add(4 * size);
        for (std::size_t i = 0; i < size; ++i)
            absorb(weight[i], mean[i], scatter[i], part.weight[i], part.mean[i], part.scatter[i]);
        part = {};
    }
}

}  // namespace candide
