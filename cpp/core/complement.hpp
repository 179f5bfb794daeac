// Rows under the counts of all classes but one, from which they are taken out where they were counted.
#pragma once

#include <cstddef>

#include "findings.hpp"
#include "members.hpp"
#include "totals.hpp"

namespace candide {

// sums[r, c] = sum over columns of x * log(left), zeros[r, c] = the sum of x where left is 0; left is others[c] without
// the row, which is in it for all classes but its own. cells[r] is the sum of the row. Data: a Table or Rows<Index>.
template <class Data>
Findings left_out_complement(const Members<Data>& members, const Totals& others, int n_threads, double* sums,
                             double* zeros, double* cells);

}  // namespace candide
