// Rows under normal distributions that share one variance a column, learned without the row.
#pragma once

#include <cstddef>

#include "own_normal.hpp"

namespace candide {

// scores[r, c] = base[c] + log density of the row, its weight taken out of its own class and of the variances. The
// table's shape and scale are (n_columns). NaN for rows that leave too little behind.
Findings left_out_shared(const Members<Table>& members, const NormalTable& table, const Variance& variance,
                         const double* base, int n_threads, double* scores);

}  // namespace candide
