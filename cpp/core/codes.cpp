#include "codes.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "gather.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::size_t kTileRows = 256;

// The slots of one row's known codes; a code past the end takes the column's last slot.
std::size_t find_slots(const std::int64_t* codes, const Slots& slots, std::int64_t* at) {
    std::size_t n = 0;
    for (std::size_t j = 0; j < slots.n_columns; ++j) {
        if (codes[j] < 0) continue;
        const std::int64_t begin = slots.offsets[j], last = slots.offsets[j + 1] - begin - 1;
        at[n++] = begin + std::min(codes[j], last);
    }
    return n;
}

void add_counts(const std::int64_t* codes, std::size_t n_rows, const Slots& slots, const std::int32_t* classes,
                const double* weight, double* counts) {
    const std::size_t n = slots.n_columns, total = slots.total();
    bool outside = false;
    for (std::size_t r = 0; r < n_rows; ++r) {
        double* row = counts + static_cast<std::size_t>(classes[r]) * total;
        const double w = weight ? weight[r] : 1.0;
        for (std::size_t j = 0; j < n; ++j) {
            const std::int64_t code = codes[r * n + j];
            if (static_cast<std::uint64_t>(code) < slots.size(j))
                row[slots.begin(j) + static_cast<std::size_t>(code)] += w;
            else
                outside |= code >= 0;
        }
    }
    if (outside) throw std::out_of_range("a category code lies outside its column's range");
}

// Calls `visit(row, slots picked, their number, scratch)` for every row; the scratch is empty at first.
template <class Visit>
void each_picked(const Table& codes, const Slots& slots, std::size_t steps, int n_threads, Visit&& visit) {
    const std::size_t n_tiles = (codes.n_rows + kTileRows - 1) / kTileRows;
    parallel_for(n_tiles, codes.n_rows * codes.n_columns * steps, n_threads, [&](std::size_t t) {
        std::vector<std::int64_t> converted, at(slots.n_columns);
        std::vector<double> scratch;
        const std::size_t begin = t * kTileRows, end = std::min(begin + kTileRows, codes.n_rows);
        const std::int64_t* tile = codes.code_rows(begin, end, converted);
        Steps of_rows;
        for (std::size_t r = begin; r < end; ++r) {
            of_rows.add(slots.n_columns * steps);
            const std::size_t n = find_slots(tile + (r - begin) * slots.n_columns, slots, at.data());
            visit(r, at.data(), n, scratch);
        }
    });
}

// One row under every class.
void score_picked(const std::int64_t* at, std::size_t n, const double* table, std::size_t stride, const double* base,
                  std::size_t n_classes, std::vector<double>& sum, double* scores) {
    sum.resize(stride);
    std::copy(base, base + n_classes, sum.begin());
    add_picked(at, nullptr, n, table, stride, sum.data());
    std::copy_n(sum.begin(), n_classes, scores);
}

// Four sums side by side: each waits for its last addition.
double sum_picked(const std::int64_t* at, std::size_t n, const double* table, std::size_t stride) {
    double sum[4] = {};
    for (std::size_t k = 0; k < n; ++k) sum[k % 4] += table[static_cast<std::size_t>(at[k]) * stride];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

void count_codes(const Table& codes, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                 const Slots& slots, int n_threads, double* counts) {
    const std::size_t size = n_classes * slots.total();
    // Many levels make the private tables large: fewer shards then.
    const Shards shards(codes.n_rows, n_classes * (1 + slots.total() / std::max<std::size_t>(1, slots.n_columns)));
    std::vector<std::vector<double>> parts(shards.count - 1);
    parallel_for(shards.count, codes.n_rows * codes.n_columns, n_threads, [&](std::size_t s) {
        double* out = counts;
        if (s > 0) {
            parts[s - 1].assign(size, 0.0);
            out = parts[s - 1].data();
        }
        std::vector<std::int64_t> scratch;
        Steps steps;
        for (std::size_t begin = shards.begin(s); begin < shards.end(s); begin += kTileRows) {
            const std::size_t end = std::min(begin + kTileRows, shards.end(s));
            steps.add((end - begin) * slots.n_columns);
            add_counts(codes.code_rows(begin, end, scratch), end - begin, slots, classes + begin,
                       weight ? weight + begin : nullptr, out);
        }
    });
    add_in_order(parts, counts);
}

void left_out_code_scores(const Members<Table>& codes, const Slots& slots, const double* table, const double* own_table,
                          std::size_t stride, const double* base, int n_threads, double* scores, double* own) {
    const std::size_t n_classes = codes.n_classes;
    each_picked(codes.rows, slots, n_classes, n_threads, [&](std::size_t r, const auto* at, std::size_t n, auto& sum) {
        score_picked(at, n, table, stride, base, n_classes, sum, scores + r * n_classes);
        own[r] = sum_picked(at, n, own_table + codes.own(r), stride);
    });
}

void code_scores(const Table& codes, const Slots& slots, const double* table, std::size_t stride, const double* base,
                 std::size_t n_classes, int n_threads, double* scores) {
    each_picked(codes, slots, n_classes, n_threads, [=](std::size_t r, const auto* at, std::size_t n, auto& sum) {
        score_picked(at, n, table, stride, base, n_classes, sum, scores + r * n_classes);
    });
}

void own_code_scores(const Members<Table>& codes, const Slots& slots, const double* table, std::size_t stride,
                     int n_threads, double* scores) {
    each_picked(codes.rows, slots, 1, n_threads, [&](std::size_t r, const auto* at, std::size_t n, auto&) {
        scores[r] = sum_picked(at, n, table + codes.own(r), stride);
    });
}

}  // namespace candide
