// Exponentials and logarithms of a pack of numbers, to about one unit in the last place.
#pragma once

#include <cmath>

#include "lanes.hpp"

namespace candide {

#ifdef CANDIDE_VECTORS

CANDIDE_INLINE PackBits bits_of(const Pack& x) {
    PackBits bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
CANDIDE_INLINE Pack number_of(const PackBits& bits) {
    Pack x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline constexpr double kLog2High = 0.693147180369123816490, kLog2Low = 1.90821492927058770002e-10;

// e^x for x <= 0: 2^n e^r with |r| <= ln 2 / 2 and the series of e^r up to r^13. Below -708 the result is 0 (its true
// value is not even a normal number).
CANDIDE_INLINE Pack exponential(const Pack& x) {
    const Pack least = Pack{} - 708.0;
    const Pack inside = x < least ? least : x;
    // Adding 1.5 · 2^52 rounds to the nearest whole number and leaves it in the low bits.
    const Pack shifted = inside * 1.4426950408889634 + 6755399441055744.0;
    const Pack whole = shifted - 6755399441055744.0;
    const Pack r = (inside - whole * kLog2High) - whole * kLog2Low;
    constexpr double inverse_factorials[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                             1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                             1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5, 1.0, 1.0};
    Pack series = Pack{} + inverse_factorials[0];
    for (std::size_t i = 1; i < 14; ++i) series = series * r + inverse_factorials[i];
    const Pack scale = number_of((bits_of(shifted) << 52) + (std::int64_t{1023} << 52));
    return x < least ? Pack{} : series * scale;
}

// x = 2^exponent · mantissa, the mantissa between the square roots of 1/2 and of 2; x is positive and normal.
struct Split {
    Pack exponent, mantissa;
};
CANDIDE_INLINE Split split(const Pack& x) {
    constexpr std::int64_t one = 0x3ff0000000000000, root_of_half = 0x3fe6a09e667f3bcd;
    const PackBits bits = bits_of(x) + (one - root_of_half);
    // The exponent becomes a number by standing in the low bits of 2^52.
    const Pack exponent = number_of((bits >> 52) | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
    return {exponent, number_of((bits & 0x000fffffffffffff) + root_of_half)};
}

// log 2^exponent (1 + f): the series of log in s = f / (2 + f), as in the mathematics library of FreeBSD.
CANDIDE_INLINE Pack log_of_parts(const Pack& exponent, const Pack& f) {
    const Pack s = f / (f + 2.0), z = s * s, w = z * z, half = 0.5 * f * f;
    const Pack even = w * (w * (w * 1.531383769920937332e-01 + 2.222219843214978396e-01) + 3.999999999940941908e-01);
    const Pack odd = z * (w * (w * (w * 1.479819860511658591e-01 + 1.818357216161805012e-01) +
                               2.857142874366239149e-01) + 6.666666666666735130e-01);
    return exponent * kLog2High - ((half - (s * (half + (even + odd)) + exponent * kLog2Low)) - f);
}

// For finite x > 0, also those too small to be normal.
CANDIDE_INLINE Pack logarithm(const Pack& x) {
    const PackBits small = x < std::numeric_limits<double>::min();
    const Split parts = split(small ? x * 18014398509481984.0 : x);
    return log_of_parts(small ? parts.exponent - 54.0 : parts.exponent, parts.mantissa - 1.0);
}

// log(1 + x) for finite x > -1.
CANDIDE_INLINE Pack logarithm_of_one_plus(const Pack& x) {
    const Split parts = split(x + 1.0);
    // Near 1 the sum has lost digits of x, but there x itself is the fraction.
    return log_of_parts(parts.exponent, parts.exponent == 0.0 ? x : parts.mantissa - 1.0);
}

#else

inline Pack exponential(Pack x) { return std::exp(x); }
inline Pack logarithm(Pack x) { return std::log(x); }
inline Pack logarithm_of_one_plus(Pack x) { return std::log1p(x); }

#endif

}  // namespace candide
