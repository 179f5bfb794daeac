#include "table.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lanes.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

template <class Visit>
auto with_type(Type type, Visit&& visit) {
    switch (type) {
        case Type::f64: return visit(double{});
        case Type::f32: return visit(float{});
        case Type::i64: return visit(std::int64_t{});
        case Type::i32: return visit(std::int32_t{});
        case Type::i16: return visit(std::int16_t{});
        case Type::i8: return visit(std::int8_t{});
        case Type::u64: return visit(std::uint64_t{});
        case Type::u32: return visit(std::uint32_t{});
        case Type::u16: return visit(std::uint16_t{});
        default: return visit(std::uint8_t{});
    }
}

// memcpy because a strided view need not be aligned; compilers turn it into one load.
template <class From>
From read(const std::byte* at) {
    From value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class To, class From>
To convert(From value) {
    if constexpr (std::is_same_v<To, std::int64_t> && std::is_floating_point_v<From>)
        return value == value ? static_cast<std::int64_t>(value) : -1;
    else
        return static_cast<To>(value);
}

// Walks cells in the order in which they lie: row by row if the cells of a row are adjacent, else column by column.
template <class To>
void gather(const Table& table, std::size_t begin, std::size_t end, std::size_t first, std::size_t last,
            std::size_t row_step, std::size_t column_step, To* out) {
    if (first == last) return;
    if (table.row_major) {
        const Column& head = table.columns[first];
        with_type(head.type, [&](auto kind) {
            using From = decltype(kind);
            const std::ptrdiff_t step = last - first > 1 ? table.columns[first + 1].data - head.data : 0;
            for (std::size_t r = begin; r < end; ++r) {
                const std::byte* at = head.data + static_cast<std::ptrdiff_t>(r) * head.stride;
                To* to = out + (r - begin) * row_step;
                for (std::size_t j = 0; j < last - first; ++j)
                    to[j * column_step] = convert<To>(read<From>(at + static_cast<std::ptrdiff_t>(j) * step));
            }
        });
        return;
    }
    for (std::size_t j = first; j < last; ++j) {
        const Column& column = table.columns[j];
        with_type(column.type, [&](auto kind) {
            using From = decltype(kind);
            const std::byte* at = column.data + static_cast<std::ptrdiff_t>(begin) * column.stride;
            To* to = out + (j - first) * column_step;
            for (std::size_t r = 0; r < end - begin; ++r)
                to[r * row_step] = convert<To>(read<From>(at + static_cast<std::ptrdiff_t>(r) * column.stride));
        });
    }
}

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

bool Table::plain(Type type) const {
    if (!row_major || columns.empty() || columns[0].type != type) return false;
    const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(n_columns) * 8;
    const bool adjacent = n_columns == 1 || columns[1].data - columns[0].data == 8;
    return adjacent && columns[0].stride == width && reinterpret_cast<std::uintptr_t>(columns[0].data) % 8 == 0;
}

bool Table::plain_integers() const {
    if (!row_major || columns.empty()) return false;
    return with_type(columns[0].type, [&](auto kind) {
        using From = decltype(kind);
        return std::is_integral_v<From> && !std::is_same_v<From, std::uint64_t> &&
               (n_columns == 1 || columns[1].data - columns[0].data == static_cast<std::ptrdiff_t>(sizeof(From)));
    });
}

const double* Table::rows(std::size_t begin, std::size_t end, std::vector<double>& scratch) const {
    if (plain(Type::f64)) return reinterpret_cast<const double*>(columns[0].data) + begin * n_columns;
    scratch.resize((end - begin) * n_columns);
    gather(*this, begin, end, 0, n_columns, n_columns, 1, scratch.data());
    return scratch.data();
}

const std::int64_t* Table::code_rows(std::size_t begin, std::size_t end, std::vector<std::int64_t>& scratch) const {
    if (plain(Type::i64)) return reinterpret_cast<const std::int64_t*>(columns[0].data) + begin * n_columns;
    scratch.resize((end - begin) * n_columns);
    gather(*this, begin, end, 0, n_columns, n_columns, 1, scratch.data());
    return scratch.data();
}

namespace {

#if defined(CANDIDE_VECTORS) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define CANDIDE_SHUFFLES
#endif
#endif

#ifdef CANDIDE_SHUFFLES
CANDIDE_INLINE void transpose_four(const double* rows, std::size_t stride, double* out) {
    Lanes4 a, b, c, d;
    load(a, rows);
    load(b, rows + stride);
    load(c, rows + 2 * stride);
    load(d, rows + 3 * stride);
    const Lanes4 ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Lanes4 cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    store(out, __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5));
    store(out + 16, __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5));
    store(out + 32, __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7));
    store(out + 48, __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7));
}
#endif

// Sixteen rows of doubles side by side.
CANDIDE_CLONES void transpose(const double* rows, std::size_t stride, std::size_t n_columns, double* out) {
    std::size_t j = 0;
#ifdef CANDIDE_SHUFFLES
    for (; j + 4 <= n_columns; j += 4)
        for (std::size_t r = 0; r < 16; r += 4) transpose_four(rows + r * stride + j, stride, out + j * 16 + r);
#endif
    for (; j < n_columns; ++j)
        for (std::size_t r = 0; r < 16; ++r) out[j * 16 + r] = rows[r * stride + j];
}

}  // namespace

void Table::tile(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, std::size_t height,
                 double* out) const {
    if (height == 16 && end - begin == 16 && plain(Type::f64)) {
        const double* at = reinterpret_cast<const double*>(columns[0].data) + begin * n_columns + first;
        // Reading across defeats the machine's own guess at what comes next.
        if (begin + 3 * height <= n_rows)
            for (std::size_t r = 2 * height; r < 3 * height; ++r)
                for (std::size_t j = 0; j < last - first; j += 8) prefetch(at + r * n_columns + j);
        return transpose(at, n_columns, last - first, out);
    }
    gather(*this, begin, end, first, last, 1, height, out);
    for (std::size_t r = end - begin; r < height; ++r)
        for (std::size_t j = 0; j < last - first; ++j) out[j * height + r] = 0.0;
}

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
