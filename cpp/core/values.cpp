#include "values.hpp"

#include <algorithm>
#include <cmath>

#include "simd.hpp"

namespace candide {
namespace {

CANDIDE_CLONES bool finite_values(const double* x, std::size_t n) { return all_finite(x, n); }
CANDIDE_CLONES bool negative_values(const double* x, std::size_t n) { return any_negative(x, n); }

}  // namespace

Findings inspect(const double* x, std::size_t n, bool signs) {
    const bool finite = finite_values(x, n);
    Findings found;
    found.negative = signs && negative_values(x, n);
    if (finite) return found;
    found.infinite = std::any_of(x, x + n, [](double value) { return std::isinf(value); });
    found.missing = std::any_of(x, x + n, [](double value) { return value != value; });
    return found;
}

CANDIDE_CLONES void binarize(double* x, std::size_t n, double threshold) {
    for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > threshold ? 1.0 : (x[i] == x[i] ? 0.0 : x[i]);
}

}  // namespace candide
