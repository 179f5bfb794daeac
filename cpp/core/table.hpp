// A table of numbers as it lies in memory: any element type, any strides, one array or one array per column.
//
// Kernels do not see this variety. They ask for a tile of rows and get doubles (or codes), row by row or column by
// column; a plain row-major array of doubles is handed out without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace candide {

enum class Type : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };

struct Column {
    const std::byte* data;
    std::ptrdiff_t stride;  // bytes from one row to the next
    Type type;
};

struct Table {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::vector<Column> columns;
    bool row_major = false;  // one array whose cells of a row are adjacent

    // The cells of rows [begin, end) as doubles, row by row; `scratch` is used where a conversion is needed.
    const double* rows(std::size_t begin, std::size_t end, std::vector<double>& scratch) const;
    // The same as codes; a missing number (NaN) becomes -1.
    const std::int64_t* code_rows(std::size_t begin, std::size_t end, std::vector<std::int64_t>& scratch) const;
    // The cells of columns [first, last) and rows [begin, end), column by column, `height` apart; rows past the end are 0.
    void tile(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, std::size_t height,
              double* out) const;

    // One array of integers with adjacent cells.
    bool plain_integers() const;

  private:
    bool plain(Type type) const;
};

// What a column holds, for deciding how to read it as categories.
struct Extent {
    std::int64_t low = INT64_MAX, high = INT64_MIN;  // over whole numbers; low is INT64_MIN if a huge one is negative
    std::int64_t first_fraction = -1, first_infinite = -1, first_huge = -1;  // rows, -1 for none
    std::size_t missing = 0;
};
void scan(const Table& table, int n_threads, Extent* out);

}  // namespace candide
