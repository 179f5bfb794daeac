// Rows that were learned, each with its class and with its weight in the totals.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// The rows are a Table or Rows<Index>.
template <class Data>
struct Members {
    const Data& rows;
    const std::int32_t* classes;
    const double* weights;  // null: all 1
    std::size_t n_classes;

    // Some of the rows, from `first` on.
    Members of(const Data& part, std::size_t first) const {
        return {part, classes + first, weights ? weights + first : nullptr, n_classes};
    }

    std::size_t own(std::size_t row) const { return static_cast<std::size_t>(classes[row]); }
    double weight(std::size_t row) const { return weights ? weights[row] : 1.0; }
};

}  // namespace candide
