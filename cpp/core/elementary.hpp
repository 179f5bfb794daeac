// Exponentials and logarithms of a pack of numbers, to about one unit in the last place.
#pragma once

#include <cmath>

#include "simd.hpp"

namespace candide {

// How many factors a LogProduct takes.
inline constexpr std::size_t kFactors = 1024;

#ifdef CANDIDE_VECTORS

CANDIDE_INLINE Words8 bits_of(const Pack& x) {
    Words8 bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
CANDIDE_INLINE Pack number_of(const Words8& bits) {
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
    constexpr double inverse_factorials[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
    Pack series = Pack{} + inverse_factorials[0];
    for (std::size_t i = 1; i < 14; ++i) series = series * r + inverse_factorials[i];
    const Pack scale = number_of((bits_of(shifted) << 52) + (std::uint64_t{1023} << 52));
    return x < least ? Pack{} : series * scale;
}

// x = 2^exponent · mantissa, the mantissa between the square roots of 1/2 and of 2; x is positive and normal.
struct Split {
    Pack exponent, mantissa;
};
CANDIDE_INLINE Split split(const Pack& x) {
    constexpr std::uint64_t one = 0x3ff0000000000000, root_of_half = 0x3fe6a09e667f3bcd;
    const Words8 bits = bits_of(x) + (one - root_of_half);
    // The exponent becomes a number by standing in the low bits of 2^52.
    const Pack exponent = number_of((bits >> 52) | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
    return {exponent, number_of((bits & 0x000fffffffffffff) + root_of_half)};
}

// log 2^exponent (1 + f): the series of log in s = f / (2 + f), as in the mathematics library of FreeBSD.
CANDIDE_INLINE Pack log_of_parts(const Pack& exponent, const Pack& f) {
    const Pack s = f / (f + 2.0), z = s * s, w = z * z, half = 0.5 * f * f;
    const Pack even = w * (w * (w * 1.531383769920937332e-01 + 2.222219843214978396e-01) + 3.999999999940941908e-01);
    const Pack odd =
        z * (w * (w * (w * 1.479819860511658591e-01 + 1.818357216161805012e-01) + 2.857142874366239149e-01) +
             6.666666666666735130e-01);
    return exponent * kLog2High - ((half - (s * (half + (even + odd)) + exponent * kLog2Low)) - f);
}

// For finite x > 0, also those too small to be normal.
CANDIDE_INLINE Pack logarithm(const Pack& x) {
    const Pack normal = Pack{} + std::numeric_limits<double>::min();
    const Split parts = split(x < normal ? x * 18014398509481984.0 : x);
    return log_of_parts(x < normal ? parts.exponent - 54.0 : parts.exponent, parts.mantissa - 1.0);
}

// log(1 + x) for x > -1.
CANDIDE_INLINE Pack logarithm_of_one_plus(const Pack& x) {
    const Split parts = split(x + 1.0);
    // Near 1 the sum has lost digits of x, but there x itself is the fraction.
    const Pack fraction = parts.exponent == Pack{} ? x : parts.mantissa - 1.0;
    return where_known(x, log_of_parts(parts.exponent, fraction), x);
}

// The logarithm of a product, at the cost of a logarithm for all factors: mantissas are multiplied, exponents added.
class LogProduct {
  public:
    // The factor is positive and normal. There may be kFactors before the product of mantissas leaves its range.
    CANDIDE_INLINE void multiply(const Pack& factor) {
        const Split parts = split(factor);
        mantissa_ *= parts.mantissa;
        exponent_ += parts.exponent;
    }
    CANDIDE_INLINE Pack value() const { return logarithm(mantissa_) + (exponent_ * kLog2High + exponent_ * kLog2Low); }

  private:
    Pack mantissa_ = Pack{} + 1.0, exponent_{};
};
#else

inline Pack exponential(Pack x) { return std::exp(x); }
inline Pack logarithm(Pack x) { return std::log(x); }
inline Pack logarithm_of_one_plus(Pack x) { return std::log1p(x); }

class LogProduct {
  public:
    void multiply(Pack factor) { sum_ += std::log(factor); }
    Pack value() const { return sum_; }

  private:
    Pack sum_ = 0.0;
};

#endif

// log Γ(z) without the terms of Stirling's formula that grow, for z >= 10.
CANDIDE_INLINE Pack stirling_rest(const Pack& z) {
    const Pack r = 1.0 / z, square = r * r;
    constexpr double terms[] = {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
    Pack series = Pack{} + terms[0];
    for (std::size_t i = 1; i < 6; ++i) series = series * square + terms[i];
    return series * r;
}

// z (z + 1) ... (z + 9)
CANDIDE_INLINE Pack ten_steps(const Pack& z) {
    Pack product = z;
    for (int i = 1; i < 10; ++i) product *= z + static_cast<double>(i);
    return product;
}

// log Γ(start + x) - log Γ(start) for start > 0 and x >= 0. What is below 10 is first moved up by 10, with
// Γ(z + 1) = z Γ(z). The difference of two large logarithms would keep few digits; this form keeps them.
CANDIDE_INLINE Pack log_rising(const Pack& start, const Pack& x) {
    const Pack none{}, ten = none + 10.0, end = start + x;
    const Pack below = start < ten ? ten_steps(start) : none + 1.0, above = end < ten ? ten_steps(end) : none + 1.0;
    const Pack lift = start < ten ? ten : none, end_lift = end < ten ? ten : none;
    const Pack from = start + lift, to = end + end_lift, step = x + (end_lift - lift);
    return (from - 0.5) * logarithm_of_one_plus(step / from) + step * (logarithm(to) - 1.0) +
           (stirling_rest(to) - stirling_rest(from)) + logarithm(below / above);
}

}  // namespace candide
