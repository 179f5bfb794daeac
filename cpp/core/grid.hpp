// Columns of numbers as weights of nested cells: within a binade, numbers that differ in their last `shift` bits alone.
// The shift of a binade is the smallest at which no more than `limit` cells are occupied, by whatever class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace candide {

// Cells in the order of numbers, and the weights of their classes in compressed rows.
struct Grid {
    std::vector<std::uint64_t> key;  // of the smallest number of the cell
    std::vector<std::uint8_t> shift;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> classes;
    std::vector<double> weight;
    std::vector<std::int64_t> offsets{0};  // where the cells of a column begin
    bool infinite = false;                 // some number was; the rest is then of no use

    void append_column(Grid&& column);
};

// Missing numbers and rows of weight 0 occupy nothing.
Grid grid(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
          std::size_t limit, int n_threads);

}  // namespace candide
