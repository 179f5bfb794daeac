#include "cosines.hpp"

#include "simd.hpp"

namespace candide {
namespace {

constexpr double kTurn = 2.0 * 3.141592653589793238462643383279502884;
// Adding 1.5 · 2^52 rounds numbers of less than 2^51 to the nearest whole number.
constexpr double kRounding = 6755399441055744.0, kMostTurns = 2251799813685248.0;

// cos(2πt) is the sine of what a quarter of a turn is above |t|, where Taylor's series of the sine needs few terms.
CANDIDE_INLINE Pack cosine(const Pack& angle) {
    constexpr double series[] = {1.0 / 355687428096000,
                                 -1.0 / 1307674368000,
                                 1.0 / 6227020800,
                                 -1.0 / 39916800,
                                 1.0 / 362880,
                                 -1.0 / 5040,
                                 1.0 / 120,
                                 -1.0 / 6,
                                 1.0};
    const Pack turns = angle * (1.0 / kTurn), size = turns < Pack{} ? -turns : turns;
    // Of a larger number the fraction is not known; what is not finite gives NaN.
    const Pack near = size - ((size + kRounding) - kRounding), none = size - size;
    const Pack rest = size < Pack{} + kMostTurns ? near : none;
    const Pack x = (0.25 - (rest < Pack{} ? -rest : rest)) * kTurn, square = x * x;
    Pack sum = Pack{} + series[0];
    for (std::size_t i = 1; i < 9; ++i) sum = sum * square + series[i];
    return sum * x;
}

CANDIDE_CLONES void replace_by_cosines(double* angles, std::size_t n) {
    each_pack(angles, n, [=](std::size_t i, const Pack& part) CANDIDE_INLINE_LAMBDA {
        store_up_to(n - i, angles + i, cosine(part));
    });
}

}  // namespace

void cosines(double* angles, std::size_t n) { replace_by_cosines(angles, n); }

}  // namespace candide
