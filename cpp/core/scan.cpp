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
void scan_column(const Column& column, std::size_t n_rows, Extent& out) {
    for (std::size_t r = 0; r < n_rows; ++r) {
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
        const auto whole = static_cast<std::int64_t>(value);
        out.low = std::min(out.low, whole);
        out.high = std::max(out.high, whole);
    }
}

// Integers in rows: extremes of all columns at once, the cells in the order in which they lie.
template <class From>
void scan_rows(const Table& table, std::size_t begin, std::size_t end, Extent* out) {
    for (std::size_t r = begin; r < end; ++r) {
        const std::byte* at = table.columns[0].data + static_cast<std::ptrdiff_t>(r) * table.columns[0].stride;
        for (std::size_t j = 0; j < table.n_columns; ++j) {
            const auto value = static_cast<std::int64_t>(read<From>(at + j * sizeof(From)));
            out[j].low = std::min(out[j].low, value);
            out[j].high = std::max(out[j].high, value);
        }
    }
}

}  // namespace

void scan(const Table& table, int n_threads, Extent* out) {
    const std::size_t work = table.n_rows * table.n_columns;
    if (table.plain_integers()) {
        const Shards shards(table.n_rows, 1);
        std::vector<Extent> parts(shards.count * table.n_columns);
        parallel_for(shards.count, work, n_threads, [&](std::size_t s) {
            with_type(table.columns[0].type, [&](auto kind) {
                using From = decltype(kind);
                if constexpr (std::is_integral_v<From> && !std::is_same_v<From, std::uint64_t>)
                    scan_rows<From>(table, shards.begin(s), shards.end(s), parts.data() + s * table.n_columns);
            });
        });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            Extent& total = out[i % table.n_columns];
            total.low = std::min(total.low, parts[i].low);
            total.high = std::max(total.high, parts[i].high);
        }
        return;
    }
    parallel_for(table.n_columns, work, n_threads, [&](std::size_t j) {
        with_type(table.columns[j].type,
                  [&](auto kind) { scan_column<decltype(kind)>(table.columns[j], table.n_rows, out[j]); });
    });
}

}  // namespace candide
