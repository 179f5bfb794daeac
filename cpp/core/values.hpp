// Checks of a range of values before it is scored, and which of them lie above a threshold.
#pragma once

#include <cstddef>

#include "findings.hpp"

namespace candide {

// Negative values are looked for only where they matter, as in counts.
Findings inspect(const double* x, std::size_t n, bool signs);

// 1 above the threshold, else 0; a missing value stays missing.
void binarize(double* x, std::size_t n, double threshold);

}  // namespace candide
