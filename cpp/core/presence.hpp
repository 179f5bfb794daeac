// Scores of dense rows whose columns are on or off: eight columns make a byte, and a byte picks a row of sums.
#pragma once

#include <cstddef>

#include "findings.hpp"
#include "table.hpp"

namespace candide {

// Tables of scores, `stride` doubles a row, padded with zeros to a multiple of four.
struct Presence {
    const double* bytes;    // (256 for every eight columns): the sums of the columns that are on
    const double* weights;  // (n_columns): what a column adds that is on
    const double* absent;   // (n_columns): what a column adds that is missing; null: nothing
    std::size_t stride;
};

// scores[r, c] = base[c] + what the columns above the threshold add. scores: (n_rows, n_classes).
Findings presence_scores(const Table& table, double threshold, const Presence& presence, const double* base,
                         std::size_t n_classes, int n_threads, double* scores);

}  // namespace candide
