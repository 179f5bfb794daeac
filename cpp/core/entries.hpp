// The entries of one class that stand beside the cells of a row, in whole packs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "by_column.hpp"
#include "each_row.hpp"
#include "simd.hpp"

namespace candide {

// For dense rows: a copy of a (n_classes, n_columns) table with zeros up to a whole pack at the end of each row, where
// they meet missing cells.
class PaddedEntries {
  public:
    PaddedEntries(const double* table, std::size_t n_classes, std::size_t n_columns)
        : stride_(padded(n_columns)), values_(table ? n_classes * stride_ : 0) {
        if (!table) return;
        Steps steps;
        for (std::size_t c = 0; c < n_classes; ++c) {
            steps.add(n_columns);
            double* row = std::copy_n(table + c * n_columns, n_columns, values_.data() + c * stride_);
            std::fill_n(row, stride_ - n_columns, 0.0);
        }
    }

    const double* row(std::size_t c) const { return values_.data() + c * stride_; }

    template <class Cells>
    const double* of(std::size_t c, const Cells&, std::vector<double>&) const {
        return row(c);
    }

  private:
    std::size_t stride_;
    AlignedDoubles values_;
};

// For sparse rows: those of the stored cells, picked one by one. Rows of all classes read the same few frequent
// columns, so the classes of a column stand side by side, unless the cells are too few to pay for the copy.
class PickedEntries {
  public:
    PickedEntries(const double* table, std::size_t n_classes, std::size_t n_columns, std::size_t n_cells, int n_threads)
        : copy_(table && n_cells > n_columns ? n_classes * n_columns : 0),
          table_(copy_.empty() ? table : copy_.data()),
          to_class_(copy_.empty() ? n_columns : 1),
          to_column_(copy_.empty() ? 1 : n_classes) {
        if (copy_.empty()) return;
        each_stretch_of_columns(n_columns, copy_.size(), n_threads, [&](std::size_t begin, std::size_t end) {
            Steps steps;
            for (std::size_t j = begin; j < end; ++j) {
                for (std::size_t c = 0; c < n_classes; ++c) copy_[j * n_classes + c] = table[c * n_columns + j];
                steps.add(n_classes);
            }
        });
    }

    template <class Cells>
    const double* of(std::size_t c, const Cells& cells, std::vector<double>& scratch) const {
        if (scratch.size() < padded(cells.n)) scratch.resize(padded(cells.n));
        const double* own = table_ + c * to_class_;
        for (std::size_t k = 0; k < cells.n; ++k) scratch[k] = own[static_cast<std::size_t>(cells.at[k]) * to_column_];
        std::fill(scratch.begin() + cells.n, scratch.begin() + padded(cells.n), 0.0);
        return scratch.data();
    }

  private:
    std::vector<double> copy_;
    const double* table_;
    std::size_t to_class_, to_column_;
};

inline PaddedEntries entries_of(const Table& data, const double* table, std::size_t n_classes, int) {
    return {table, n_classes, data.n_columns};
}
template <class Index>
PickedEntries entries_of(const Rows<Index>& data, const double* table, std::size_t n_classes, int n_threads) {
    return {table, n_classes, data.n_columns, data.stored(), n_threads};
}

}  // namespace candide
