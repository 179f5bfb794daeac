// What cells of 1, 2, 3, ... add to the scores of all classes, made once for each column where that pays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "by_column.hpp"
#include "gather.hpp"

namespace candide {

// Whether a number is whole and small enough for an int; false for NaN.
inline bool is_whole(double x) {
    return x > -2147483648.0 && x < 2147483648.0 && x == static_cast<double>(static_cast<int>(x));
}

class Levels {
  public:
    // `make(column, x, sum, scratch)` adds the scores of a cell of x to the sums; false if they are incomplete.
    template <class Make>
    Levels(const ByColumn& columns, std::size_t n_classes, std::size_t n_columns, std::size_t n_cells, int n_threads,
           Make&& make)
        : stride_((n_classes + 3) / 4 * 4),
          count_(how_many(n_columns, n_cells)),
          usable_(n_columns * count_),
          sums_(usable_.size() * stride_) {
        const std::size_t n = count_ ? n_columns : 0;
        each_stretch_of_columns(n, 8 * usable_.size() * stride_, n_threads, [&](std::size_t begin, std::size_t end) {
            std::vector<double> sum, column, scratch;
            Steps steps;
            for (std::size_t at = begin * count_; at < end * count_; ++at) {
                sum.assign(columns.width(), 0.0);
                steps.add(8 * stride_);
                const auto x = static_cast<double>(at % count_ + 1);
                usable_[at] = make(columns.column(at / count_, column), x, sum.data(), scratch);
                std::copy_n(sum.data(), stride_, sums_.data() + at * stride_);
            }
        });
    }

    // Where the sums of a cell are, or -1.
    std::int64_t find(std::size_t column, double x) const {
        if (!(x >= 1.0 && x <= static_cast<double>(count_)) || !is_whole(x)) return -1;
        const std::size_t at = column * count_ + static_cast<std::size_t>(x) - 1;
        return usable_[at] ? static_cast<std::int64_t>(at) : -1;
    }

    // Adds the sums of cells that were found.
    void add(const std::vector<std::int64_t>& found, double* sum) const {
        add_picked(found.data(), nullptr, found.size(), sums_.data(), stride_, sum);
    }

  private:
    // Half a megabyte stays in the cache; a level is worth having if every column has a cell for it.
    std::size_t how_many(std::size_t n_columns, std::size_t n_cells) const {
        const std::size_t useful = std::min<std::size_t>(16, n_cells / std::max<std::size_t>(1, n_columns));
        return std::min(useful, std::max<std::size_t>(1, (1 << 16) / std::max<std::size_t>(1, n_columns * stride_)));
    }

    std::size_t stride_, count_;
    std::vector<char> usable_;
    AlignedDoubles sums_;
};

}  // namespace candide
