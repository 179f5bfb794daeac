// A table of numbers as it lies in memory: any element type, any strides, one array or one array per column.
//
// Kernels do not handle this variety. They request a tile of rows and get doubles (or codes), row by row or column by
// column; a plain row-major array of doubles is handed out without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace candide {

// Rows that stand side by side where columns are read one after the other.
inline constexpr std::size_t kHeight = 16;

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

    Table slice(std::size_t begin, std::size_t end) const;

    // The cells of rows [begin, end) as doubles, row by row; `scratch` is used where a conversion is needed.
    const double* rows(std::size_t begin, std::size_t end, std::vector<double>& scratch) const;
    // The same as codes; a missing number (NaN) becomes -1.
    const std::int64_t* code_rows(std::size_t begin, std::size_t end, std::vector<std::int64_t>& scratch) const;
    // The cells of columns [first, last) and of up to kHeight rows, column by column, kHeight apart; rows past `end`
    // are 0.
    void tile(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, double* out) const;
    // How many rows to request at once: about 256 kB, which stay in the second-level cache between reading and adding.
    std::size_t rows_per_tile() const;

    // One array of integers with adjacent cells.
    bool plain_integers() const;

  private:
    bool plain(Type type) const;
};

}  // namespace candide
