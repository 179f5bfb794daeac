// Rising factorials, the scores of counts under a class with uncertain parameters: log Γ(start + x) - log Γ(start).
#pragma once

#include <cstddef>

#include "findings.hpp"
#include "members.hpp"
#include "totals.hpp"

namespace candide {

// scores[r, c] = base[c] + the sum over columns; cells that are 0 or missing add nothing. start: above 0,
// (n_classes, n_columns). Data: a Table or Rows<Index>.
template <class Data>
Findings rising_scores(const Data& rows, const double* start, const double* base, std::size_t n_classes, int n_threads,
                       double* scores);

// The same under each row's own class, whose counts contain the row: start = count - weight * x + pseudo.
template <class Data>
Findings own_rising_scores(const Members<Data>& members, const Totals& totals, int n_threads, double* scores);

}  // namespace candide
