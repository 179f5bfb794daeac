#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "parallel.hpp"
#include "types.hpp"

namespace candide {
namespace {

template <class From>
void scan_column(const Column& column, std::size_t begin, std::size_t end, Extent& out) {
    for (std::size_t r = begin; r < end; ++r) {
        const From value = read<From>(column.data + static_cast<std::ptrdiff_t>(r) * column.stride);
        const auto row = static_cast<std::int64_t>(r);
        if constexpr (std::is_floating_point_v<From>) {
            if (value != value) {
                ++out.missing;
                continue;
            }
            if (std::isinf(value)) {
                if (out.first_infinite < 0) out.first_infinite = row;
                continue;
            }
            if (std::trunc(value) != value) {
                if (out.first_fraction < 0) out.first_fraction = row;
                continue;
            }
            if (std::fabs(value) > 9007199254740992.0) {
                if (out.first_huge < 0) out.first_huge = row;
                // Below 0 is below 0, however far; the exact value is of no use.
                if (value < 0) out.low = std::numeric_limits<std::int64_t>::min();
                continue;
            }
        } else if constexpr (std::is_same_v<From, std::uint64_t>) {
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
                if (out.first_huge < 0) out.first_huge = row;
                continue;
            }
        }
        const std::int64_t whole = to_int64(value);
        out.low = std::min(out.low, whole);
        out.high = std::max(out.high, whole);
    }
}

// Integers in rows: extremes of all columns at once, the cells in the order in which they lie.
CANDIDE_CLONES void widen(const std::int64_t* x, std::size_t n_rows, std::size_t n, std::int64_t* low,
                          std::int64_t* high) {
    for (std::size_t r = 0; r < n_rows; ++r, x += n)
        for (std::size_t j = 0; j < n; ++j) {
            low[j] = x[j] < low[j] ? x[j] : low[j];
            high[j] = x[j] > high[j] ? x[j] : high[j];
        }
}

void scan_rows(const Table& table, std::size_t begin, std::size_t end, std::int64_t* low, std::int64_t* high) {
    const std::size_t step = table.rows_per_tile();
    std::vector<std::int64_t> scratch;
    Steps steps;
    for (std::size_t r = begin; r < end; r += step) {
        const std::size_t last = std::min(r + step, end);
        steps.add((last - r) * table.n_columns);
        widen(table.code_rows(r, last, scratch), last - r, table.n_columns, low, high);
    }
}

void scan_integers(const Table& table, int n_threads, Extent* out) {
    const std::size_t n = table.n_columns;
    const Shards shards(table.n_rows, 1);
    std::vector<std::int64_t> low(shards.count * n, Extent{}.low), high(shards.count * n, Extent{}.high);
    parallel_for(shards.count, table.n_rows * n, n_threads, [&](std::size_t s) {
        scan_rows(table, shards.begin(s), shards.end(s), low.data() + s * n, high.data() + s * n);
    });
    for (std::size_t i = 0; i < low.size(); ++i) {
        out[i % n].low = std::min(out[i % n].low, low[i]);
        out[i % n].high = std::max(out[i % n].high, high[i]);
    }
}

}  // namespace

void scan(const Table& table, int n_threads, Extent* out) {
    if (table.plain_integers()) return scan_integers(table, n_threads, out);
    parallel_for(table.n_columns, table.n_rows * table.n_columns, n_threads, [&](std::size_t j) {
        with_type(table.columns[j].type, [&](auto kind) {
            for (const auto [begin, end] : Ranges(table.n_rows)) {
                scan_column<decltype(kind)>(table.columns[j], begin, end, out[j]);
            }
        });
    });
}

}  // namespace candide
