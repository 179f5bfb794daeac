// Whether a sparse row stores a column twice.
#pragma once

#include "rows.hpp"

namespace candide {

template <class Index>
bool has_repeats(const Rows<Index>& rows, int n_threads);

}  // namespace candide
