#include "row_hash.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::uint64_t kMissing = 0x7ff8000000000000;

// The finalizer of splitmix64.
inline std::uint64_t mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

CANDIDE_CLONES void add_rows(const double* x, std::size_t n_rows, std::size_t n, const std::uint64_t* keys,
                             std::uint64_t* sums) {
    for (std::size_t r = 0; r < n_rows; ++r, x += n) {
        std::uint64_t sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const std::uint64_t bits = x[j] == x[j] ? std::bit_cast<std::uint64_t>(x[j] + 0.0) : kMissing;
            sum += mix(bits ^ keys[j]);
        }
        sums[r] = sum;
    }
}

}  // namespace

void hash_rows(const Table& table, const std::uint64_t* keys, int n_threads, std::uint64_t* sums) {
    const std::size_t step = table.rows_per_tile(), n = table.n_columns;
    parallel_for((table.n_rows + step - 1) / step, table.n_rows * n, n_threads, [&](std::size_t tile) {
        std::vector<double> scratch;
        const std::size_t begin = tile * step, end = std::min(table.n_rows, begin + step);
        add_rows(table.rows(begin, end, scratch), end - begin, n, keys, sums + begin);
    });
}

}  // namespace candide
