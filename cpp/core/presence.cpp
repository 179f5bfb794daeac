#include "presence.hpp"

#include <algorithm>
#include <vector>

#include "gather.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "values.hpp"

namespace candide {
namespace {

constexpr std::size_t kRowsPerTask = 2048;

// One bit for each value above the threshold.
CANDIDE_INLINE std::int64_t byte_of(const double* x, double threshold) {
#ifdef CANDIDE_VECTORS
    Lanes8 values;
    load(values, x);
    const Integers8 bits = {1, 2, 4, 8, 16, 32, 64, 128};
    const Integers8 on = (values > threshold) & bits;
    return ((on[0] + on[1]) + (on[2] + on[3])) + ((on[4] + on[5]) + (on[6] + on[7]));
#else
    std::int64_t byte = 0;
    for (std::size_t i = 0; i < 8; ++i) byte |= std::int64_t{x[i] > threshold} << i;
    return byte;
#endif
}

// The rows of the table that a row's bytes pick; false, and nothing done, if a value is not finite.
CANDIDE_CLONES bool pack(const double* x, std::size_t n, double threshold, std::int64_t* at) {
    if (!all_finite(x, n)) return false;
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8) *at++ = static_cast<std::int64_t>(32 * j) + byte_of(x + j, threshold);
    if (j == n) return true;
    double rest[8];
    std::fill_n(rest, 8, threshold);  // not above: off
    std::copy(x + j, x + n, rest);
    *at = static_cast<std::int64_t>(32 * j) + byte_of(rest, threshold);
    return true;
}

// A row with a value that is missing or infinite, column by column.
void add_odd_row(const double* x, std::size_t n, double threshold, const Presence& presence, double* sum) {
    for (std::size_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::int64_t>(j);
        if (x[j] > threshold)
            add_picked(&at, nullptr, 1, presence.weights, presence.stride, sum);
        else if (x[j] != x[j] && presence.absent)
            add_picked(&at, nullptr, 1, presence.absent, presence.stride, sum);
    }
}

}  // namespace

Findings presence_scores(const Table& table, double threshold, const Presence& presence, const double* base,
                         std::size_t n_classes, int n_threads, double* scores) {
    const std::size_t n = table.n_columns, n_bytes = (n + 7) / 8, step = table.rows_per_tile();
    const std::size_t n_tasks = (table.n_rows + kRowsPerTask - 1) / kRowsPerTask;
    std::vector<Findings> found(n_tasks);
    parallel_for(n_tasks, table.n_rows * n, n_threads, [&](std::size_t task) {
        std::vector<double> scratch, sum(presence.stride, 0.0);
        std::vector<std::int64_t> at(n_bytes);
        Steps steps;
        const std::size_t end = std::min((task + 1) * kRowsPerTask, table.n_rows);
        for (std::size_t begin = task * kRowsPerTask; begin < end; begin += step) {
            const std::size_t last = std::min(begin + step, end);
            steps.add((last - begin) * (n + n_bytes * n_classes));
            const double* x = table.rows(begin, last, scratch);
            for (std::size_t r = begin; r < last; ++r, x += n) {
                std::copy(base, base + n_classes, sum.begin());
                if (pack(x, n, threshold, at.data())) {
                    add_picked(at.data(), nullptr, n_bytes, presence.bytes, presence.stride, sum.data());
                } else {
                    add_odd_row(x, n, threshold, presence, sum.data());
                    found[task].add(inspect(x, n, false));
                }
                std::copy_n(sum.begin(), n_classes, scores + r * n_classes);
            }
        }
    });
    return join(found);
}

}  // namespace candide
