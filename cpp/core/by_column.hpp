// Tables of classes × columns turned round: the classes of a column side by side, in whole packs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"
#include "simd.hpp"

namespace candide {

// Calls `visit(begin, end)` for ranges of columns.
template <class Visit>
void each_stretch_of_columns(std::size_t n_columns, std::size_t work, int n_threads, Visit&& visit) {
    constexpr std::size_t kColumns = 512;
    parallel_for((n_columns + kColumns - 1) / kColumns, work, n_threads,
                 [&](std::size_t task) { visit(task * kColumns, std::min(n_columns, (task + 1) * kColumns)); });
}

class ByColumn {
  public:
    // Few cells do not pay for a copy of the whole table: their columns are gathered when they are read.
    ByColumn(const double* table, const double* further, std::size_t n_classes, std::size_t n_columns,
             std::size_t n_cells, int n_threads)
        : table_(table),
          further_(further),
          n_classes_(n_classes),
          n_columns_(n_columns),
          copied_(n_cells >= n_columns),
          copy_(copied_ ? n_columns * stride() : 0) {
        if (!copied_) return;
        each_stretch_of_columns(n_columns, n_columns * n_classes, n_threads, [&](std::size_t begin, std::size_t end) {
            Steps steps;
            for (std::size_t j = begin; j < end; ++j) {
                gather(j, copy_.data() + j * stride());
                steps.add(stride());
            }
        });
    }

    // Doubles in a column: whole packs, and whole vectors of add_picked (gather.hpp).
    std::size_t width() const { return (n_classes_ + 7) / 8 * 8; }

    // The classes of column j, then ones; after width() numbers, the same of the further table, if there is one.
    const double* column(std::size_t j, std::vector<double>& scratch) const {
        if (copied_) return copy_.data() + j * stride();
        scratch.resize(stride());
        gather(j, scratch.data());
        return scratch.data();
    }

  private:
    std::size_t stride() const { return further_ ? 2 * width() : width(); }

    void gather(std::size_t j, double* out) const {
        gather(table_ + j, out);
        if (further_) gather(further_ + j, out + width());
    }
    void gather(const double* column, double* out) const {
        for (std::size_t c = 0; c < n_classes_; ++c) out[c] = column[c * n_columns_];
        std::fill(out + n_classes_, out + width(), 1.0);
    }

    const double *table_, *further_;
    std::size_t n_classes_, n_columns_;
    bool copied_;
    AlignedDoubles copy_;
};

}  // namespace candide
