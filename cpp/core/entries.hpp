// The entries of one class that stand beside the cells of a row, in whole packs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "each_row.hpp"
#include "lanes.hpp"

namespace candide {

// For dense rows: a copy of a (n_classes, n_columns) table with zeros up to a whole pack at the end of each row, where
// they meet missing cells.
class PaddedEntries {
  public:
    PaddedEntries(const double* table, std::size_t n_classes, std::size_t n_columns)
        : stride_(padded(n_columns)), values_(table ? n_classes * stride_ : 0) {
        if (!table) return;
        for (std::size_t c = 0; c < n_classes; ++c) {
            double* row = std::copy_n(table + c * n_columns, n_columns, values_.data() + c * stride_);
            std::fill_n(row, stride_ - n_columns, 0.0);
        }
    }

    const double* row(std::size_t c) const { return values_.data() + c * stride_; }

    template <class Cells>
    const double* of(std::size_t c, const Cells&, std::vector<double>&) const { return row(c); }

  private:
    std::size_t stride_;
    AlignedDoubles values_;
};

// For sparse rows: those of the stored cells, picked one by one.
struct PickedEntries {
    const double* table;
    std::size_t n_columns;

    template <class Cells>
    const double* of(std::size_t c, const Cells& cells, std::vector<double>& scratch) const {
        if (scratch.size() < padded(cells.n)) scratch.resize(padded(cells.n));
        const double* row = table + c * n_columns;
        for (std::size_t k = 0; k < cells.n; ++k) scratch[k] = row[cells.at[k]];
        std::fill(scratch.begin() + cells.n, scratch.begin() + padded(cells.n), 0.0);
        return scratch.data();
    }
};

inline PaddedEntries entries_of(const Table& data, const double* table, std::size_t n_classes) {
    return {table, n_classes, data.n_columns};
}
template <class Index>
PickedEntries entries_of(const Rows<Index>& data, const double* table, std::size_t) {
    return {table, data.n_columns};
}

}  // namespace candide
