// Cells of random grids over several columns: their keys, and sums of the weights of a row's cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dependence.hpp"

namespace candide {

// A word for each slot of each grid, (n_grids, n_slots). The key of a row's cell in a grid is the sum of the words of
// its slots; a column that is not in the grid has words of 0.
struct GridWords {
    const std::uint32_t* words;
    std::size_t n_grids, n_slots;
};

// Keys in ascending order, in buckets by their highest bits: bucket b begins at starts[b]. Every key has a row of
// weights, (n_keys, n_classes).
struct GridWeights {
    const std::uint32_t* keys;
    const std::int32_t* starts;
    int shift;  // from a key to its bucket
    const float* weights;
    std::size_t n_classes;
};

// keys[r, g]: the cell of row r in grid g.
void grid_keys(const Places& slots, const GridWords& grids, int n_threads, std::uint32_t* keys);

// The places of the ones of a matrix of zeros and ones, row by row.
struct Indicators {
    const std::int32_t* ends;  // (n_rows + 1,) row r has the places from ends[r] to ends[r + 1]
    const std::int32_t* columns;
    std::size_t n_rows;
};

// product[r, k]: the sum of the rows of `factor`, (columns, width), that row r of the indicators names.
void indicator_product(const Indicators& indicators, const float* factor, std::size_t width, int n_threads,
                       float* product);

// scores[r, k]: the sum over the grids of the weights of the row's cells; cells without weights add 0.
void grid_scores(const Places& slots, const GridWords& grids, const GridWeights& cells, int n_threads, double* scores);

}  // namespace candide
