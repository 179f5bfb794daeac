// Tables of classes × columns turned round: the classes of a column side by side, in whole packs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lanes.hpp"
#include "parallel.hpp"

namespace candide {

class ByColumn {
  public:
    // Few cells do not pay for a copy of the whole table: their columns are gathered when they are asked for.
    ByColumn(const double* table, std::size_t n_classes, std::size_t n_columns, bool copy, int n_threads)
        : table_(table), n_classes_(n_classes), n_columns_(n_columns), copy_(copy ? n_columns * width() : 0), copied_(copy) {
        if (copy) each_column(n_columns, n_classes, n_threads, [&](std::size_t j) { gather(j, copy_.data() + j * width()); });
    }

    // Doubles in a column.
    std::size_t width() const { return padded(n_classes_); }

    // The classes of column j, then ones.
    const double* column(std::size_t j, std::vector<double>& scratch) const {
        if (copied_) return copy_.data() + j * width();
        scratch.resize(width());
        gather(j, scratch.data());
        return scratch.data();
    }

    template <class Visit>
    static void each_column(std::size_t n_columns, std::size_t n_classes, int n_threads, Visit&& visit) {
        constexpr std::size_t kColumnsPerTask = 512;
        parallel_for((n_columns + kColumnsPerTask - 1) / kColumnsPerTask, n_columns * n_classes, n_threads, [&](std::size_t t) {
            const std::size_t end = std::min(n_columns, (t + 1) * kColumnsPerTask);
            for (std::size_t j = t * kColumnsPerTask; j < end; ++j) visit(j);
        });
    }

  private:
    void gather(std::size_t j, double* out) const {
        for (std::size_t c = 0; c < n_classes_; ++c) out[c] = table_[c * n_columns_ + j];
        std::fill(out + n_classes_, out + width(), 1.0);
    }

    const double* table_;
    std::size_t n_classes_, n_columns_;
    AlignedDoubles copy_;
    bool copied_;
};

}  // namespace candide
