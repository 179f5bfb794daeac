// Short vectors of doubles that stay in registers. Compilers left alone with small arrays keep them in memory, or turn
// the loop over columns inside out; both cost a factor of four (measured on GCC 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "prefetch.hpp"

namespace candide {

#if defined(__GNUC__)
#define CANDIDE_INLINE_LAMBDA __attribute__((always_inline))
#else
#define CANDIDE_INLINE_LAMBDA
#endif

// CANDIDE_PLAIN_LANES tries on any compiler what compilers without vector types get.
#if defined(__GNUC__) && !defined(CANDIDE_PLAIN_LANES)
#define CANDIDE_VECTORS
typedef double Lanes8 __attribute__((vector_size(64)));
typedef double Lanes4 __attribute__((vector_size(32)));
typedef double Lanes2 __attribute__((vector_size(16)));
typedef std::int64_t Integers8 __attribute__((vector_size(64)));
typedef std::uint64_t Words8 __attribute__((vector_size(64)));
#else
template <int N>
struct LaneArray {
    double v[N];
    LaneArray& operator+=(const LaneArray& o) {
        for (int i = 0; i < N; ++i) v[i] += o.v[i];
        return *this;
    }
    LaneArray& operator-=(const LaneArray& o) {
        for (int i = 0; i < N; ++i) v[i] -= o.v[i];
        return *this;
    }
    LaneArray& operator*=(const LaneArray& o) {
        for (int i = 0; i < N; ++i) v[i] *= o.v[i];
        return *this;
    }
    friend LaneArray operator*(LaneArray a, const LaneArray& b) { return a *= b; }
    friend LaneArray operator*(double a, LaneArray b) {
        for (int i = 0; i < N; ++i) b.v[i] *= a;
        return b;
    }
    friend LaneArray operator-(LaneArray a) {
        for (int i = 0; i < N; ++i) a.v[i] = -a.v[i];
        return a;
    }
    friend LaneArray operator-(LaneArray a, const LaneArray& b) { return a -= b; }
    friend LaneArray operator-(LaneArray a, double b) {
        for (int i = 0; i < N; ++i) a.v[i] -= b;
        return a;
    }
};
using Lanes8 = LaneArray<8>;
using Lanes4 = LaneArray<4>;
using Lanes2 = LaneArray<2>;
#endif

// The argument of elementary functions: eight numbers, or one. Both have comparisons and `? :`. A comparison
// must stand in front of its question mark: one that is kept, or joined to another, is made lane by lane (GCC 12), and
// so is x == x.
#ifdef CANDIDE_VECTORS
using Pack = Lanes8;
#else
using Pack = double;
#endif
inline constexpr std::size_t kPack = sizeof(Pack) / sizeof(double);

// The least multiple of a pack that holds n numbers.
inline constexpr std::size_t padded(std::size_t n) { return (n + kPack - 1) / kPack * kPack; }

// Doubles from the beginning of a cache line on: a vector that lies across two costs two loads.
class AlignedDoubles {
  public:
    explicit AlignedDoubles(std::size_t n) : lines_((n + 7) / 8) {}
    double* data() { return lines_.empty() ? nullptr : lines_[0].values; }
    const double* data() const { return lines_.empty() ? nullptr : lines_[0].values; }

  private:
    struct alignas(64) Line {
        double values[8];
    };
    std::vector<Line> lines_;
};

template <class Lanes>
CANDIDE_INLINE void load(Lanes& to, const double* from) {
    std::memcpy(&to, from, sizeof to);
}
template <class Lanes>
CANDIDE_INLINE void store(double* to, const Lanes& from) {
    std::memcpy(to, &from, sizeof from);
}

template <class Lanes>
CANDIDE_INLINE Lanes loaded(const double* from) {
    Lanes to;
    load(to, from);
    return to;
}

// The first n lanes, or all.
CANDIDE_INLINE void store_up_to(std::size_t n, double* to, const Pack& from) {
    if (n >= kPack) return store(to, from);
    double lanes[kPack];
    store(lanes, from);
    for (std::size_t i = 0; i < n; ++i) to[i] = lanes[i];
}

// The value where x is a finite number, else the other one; of -inf, which is never scored, the value too.
CANDIDE_INLINE Pack where_known(const Pack& x, const Pack& value, const Pack& other) {
    return x <= Pack{} + std::numeric_limits<double>::max() ? value : other;
}

// The sum of all lanes, always in the same order.
CANDIDE_INLINE double total(const Pack& pack) {
    double lanes[kPack];
    store(lanes, pack);
    // In halves: one after the other, each sum would wait for the last.
    for (std::size_t half = kPack / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

// Calls `visit(first, pack)` for all of x; past its end stand missing values.
template <class Visit>
CANDIDE_INLINE void each_pack(const double* x, std::size_t n, Visit&& visit) {
    std::size_t j = 0;
    for (; j + kPack <= n; j += kPack) visit(j, loaded<Pack>(x + j));
    if (j == n) return;
    double rest[kPack];
    for (std::size_t i = 0; i < kPack; ++i) rest[i] = j + i < n ? x[j + i] : std::numeric_limits<double>::quiet_NaN();
    visit(j, loaded<Pack>(rest));
}

// x - x is 0 for a finite x and NaN otherwise, and NaN stays in a sum.
CANDIDE_INLINE bool all_finite(const double* x, std::size_t n) {
    double rest = 0.0;
    std::size_t i = 0;
    if (n >= 8) {
        Lanes8 sum{}, part;
        for (; i + 8 <= n; i += 8) {
            load(part, x + i);
            sum += part - part;
        }
        double lanes[8];
        store(lanes, sum);
        for (const double lane : lanes) rest += lane;
    }
    for (; i < n; ++i) rest += x[i] - x[i];
    return rest == 0.0;
}

// The sign bits are enough; only -0.0 needs a second check.
CANDIDE_INLINE bool any_negative(const double* x, std::size_t n) {
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        signs |= bits;
    }
    if (signs >> 63 == 0) return false;
    for (std::size_t i = 0; i < n; ++i)
        if (x[i] < 0.0) return true;
    return false;
}

}  // namespace candide
