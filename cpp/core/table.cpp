#include "table.hpp"

#include <algorithm>
#include <type_traits>

#include "simd.hpp"

namespace candide {
namespace {

template <class To, class From>
To convert(From value) {
    if constexpr (std::is_same_v<To, std::int64_t>)
        return to_int64(value);
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

std::size_t Table::rows_per_tile() const {
    return std::clamp<std::size_t>(32768 / std::max<std::size_t>(1, n_columns), 16, 4096);
}

Table Table::slice(std::size_t begin, std::size_t end) const {
    Table part = *this;
    part.n_rows = end - begin;
    for (Column& column : part.columns) column.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    return part;
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
    const Lanes4 ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Lanes4 cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    store(out, __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5));
    store(out + kHeight, __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5));
    store(out + 2 * kHeight, __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7));
    store(out + 3 * kHeight, __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7));
}
#endif

// kHeight rows of doubles side by side.
CANDIDE_CLONES void transpose(const double* rows, std::size_t stride, std::size_t n_columns, double* out) {
    std::size_t j = 0;
#ifdef CANDIDE_SHUFFLES
    for (; j + 4 <= n_columns; j += 4)
        for (std::size_t r = 0; r < kHeight; r += 4)
            transpose_four(rows + r * stride + j, stride, out + j * kHeight + r);
#endif
    for (; j < n_columns; ++j)
        for (std::size_t r = 0; r < kHeight; ++r) out[j * kHeight + r] = rows[r * stride + j];
}

}  // namespace

void Table::tile(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, double* out) const {
    if (end - begin == kHeight && plain(Type::f64)) {
        const double* at = reinterpret_cast<const double*>(columns[0].data) + begin * n_columns + first;
        // Reading across defeats the machine's own guess at what comes next.
        if (begin + 3 * kHeight <= n_rows)
            for (std::size_t r = 2 * kHeight; r < 3 * kHeight; ++r)
                for (std::size_t j = 0; j < last - first; j += 8) prefetch(at + r * n_columns + j);
        return transpose(at, n_columns, last - first, out);
    }
    gather(*this, begin, end, first, last, 1, kHeight, out);
    for (std::size_t r = end - begin; r < kHeight; ++r)
        for (std::size_t j = 0; j < last - first; ++j) out[j * kHeight + r] = 0.0;
}

}  // namespace candide
