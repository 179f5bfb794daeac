#include "gather.hpp"

#include <algorithm>

#include "simd.hpp"

namespace candide {
namespace {

// N vectors of sums stay in registers while the cells pass by. The row eight cells ahead is fetched early: a table of
// many words lies in the last-level cache.
template <int N, bool Scaled, class Index>
CANDIDE_INLINE void add_block(const Index* at, const double* x, std::size_t n, const double* table, std::size_t stride,
                              double* out) {
    constexpr std::size_t kAhead = 8;
    Lanes4 sum[N];
    for (int i = 0; i < N; ++i) load(sum[i], out + 4 * i);
    for (std::size_t k = 0; k < n; ++k) {
        if (k + kAhead < n) {
            const double* next = table + static_cast<std::size_t>(at[k + kAhead]) * stride;
            for (int i = 0; i < N; i += 2) prefetch(next + 4 * i);
        }
        const double* row = table + static_cast<std::size_t>(at[k]) * stride;
        for (int i = 0; i < N; ++i) {
            Lanes4 cell;
            load(cell, row + 4 * i);
            if constexpr (Scaled)
                sum[i] += x[k] * cell;
            else
                sum[i] += cell;
        }
    }
    for (int i = 0; i < N; ++i) store(out + 4 * i, sum[i]);
}

template <bool Scaled, class Index>
CANDIDE_INLINE void add_blocks(const Index* at, const double* x, std::size_t n, const double* table, std::size_t stride,
                               double* out) {
    std::size_t done = 0;
    for (; done + 32 <= stride; done += 32) add_block<8, Scaled>(at, x, n, table + done, stride, out + done);
    switch ((stride - done) / 4) {
        case 7: return add_block<7, Scaled>(at, x, n, table + done, stride, out + done);
        case 6: return add_block<6, Scaled>(at, x, n, table + done, stride, out + done);
        case 5: return add_block<5, Scaled>(at, x, n, table + done, stride, out + done);
        case 4: return add_block<4, Scaled>(at, x, n, table + done, stride, out + done);
        case 3: return add_block<3, Scaled>(at, x, n, table + done, stride, out + done);
        case 2: return add_block<2, Scaled>(at, x, n, table + done, stride, out + done);
        case 1: return add_block<1, Scaled>(at, x, n, table + done, stride, out + done);
        default: return;
    }
}

template <class Index>
CANDIDE_INLINE void add_any(const Index* at, const double* x, std::size_t n, const double* table, std::size_t stride,
                            double* out) {
    if (x)
        add_blocks<true>(at, x, n, table, stride, out);
    else
        add_blocks<false>(at, x, n, table, stride, out);
}

}  // namespace

// Two functions, since clones cannot be templates.
CANDIDE_CLONES void add_picked(const std::int32_t* at, const double* x, std::size_t n, const double* table,
                               std::size_t stride, double* out) {
    add_any(at, x, n, table, stride, out);
}
CANDIDE_CLONES void add_picked(const std::int64_t* at, const double* x, std::size_t n, const double* table,
                               std::size_t stride, double* out) {
    add_any(at, x, n, table, stride, out);
}

}  // namespace candide
