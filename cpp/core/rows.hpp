// Compressed sparse rows as scipy lays them out, with 32- or 64-bit indices and values of any type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "positions.hpp"
#include "table.hpp"

namespace candide {

template <class Index>
struct Rows {
    std::size_t n_rows, n_columns;
    const Index* indptr;   // n_rows + 1; need not start at 0
    const Index* indices;  // column of each stored cell
    Table cells;           // the stored values: a table of one column

    Rows slice(std::size_t begin, std::size_t end) const {
        return {end - begin, n_columns, indptr + begin, indices, cells};
    }

    // Cells in all; a measure of the work.
    std::size_t stored() const { return static_cast<std::size_t>(indptr[n_rows] - indptr[0]); }
    std::size_t size(std::size_t row) const { return static_cast<std::size_t>(indptr[row + 1] - indptr[row]); }

    const double* values(std::size_t row, std::vector<double>& scratch) const {
        return cells.rows(static_cast<std::size_t>(indptr[row]), static_cast<std::size_t>(indptr[row + 1]), scratch);
    }

    // A malformed matrix must end in an error, not in foreign memory: both are called before a row's cells are used.
    void check_bounds(std::size_t row) const {
        if (indptr[row] < 0 || indptr[row + 1] < indptr[row] ||
            static_cast<std::size_t>(indptr[row + 1]) > cells.n_rows)
            throw std::out_of_range("the row pointers of the sparse matrix are not in order");
    }
    void check_columns(std::size_t row) const {
        if (!all_below(indices + indptr[row], size(row), n_columns))
            throw std::out_of_range("a column index of the sparse matrix is outside its shape");
    }
};

}  // namespace candide
