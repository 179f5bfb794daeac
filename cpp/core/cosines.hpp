// Cosines of many angles at once: features of random Fourier views.
#pragma once

#include <cstddef>

namespace candide {

// Angles in radians to their cosines, in place, to thirteen digits. Every vector width gives the same bits, and so does
// the series that exported queries compute.
void cosines(double* angles, std::size_t n);

}  // namespace candide
