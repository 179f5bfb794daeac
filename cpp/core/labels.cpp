#include "labels.hpp"

#include <algorithm>
#include <atomic>

#include "parallel.hpp"
#include "scan.hpp"

namespace candide {

bool encode_labels(const Table& labels, int n_threads, std::vector<std::int64_t>& distinct, std::int32_t* positions) {
    constexpr std::size_t kTile = 16384;
    Extent extent;
    scan(labels, n_threads, &extent);
    if (labels.n_rows == 0) return true;
    const bool whole = extent.first_fraction < 0 && extent.first_infinite < 0 && extent.missing == 0;
    if (!whole || extent.first_huge >= 0) return false;
    const std::uint64_t span = static_cast<std::uint64_t>(extent.high) - static_cast<std::uint64_t>(extent.low);
    if (span >= std::max<std::uint64_t>(1 << 16, labels.n_rows)) return false;

    const std::size_t n_tiles = (labels.n_rows + kTile - 1) / kTile;
    auto each_tile = [&](auto&& visit) {
        parallel_for(n_tiles, labels.n_rows, n_threads, [&](std::size_t t) {
            std::vector<std::int64_t> scratch;
            const std::size_t begin = t * kTile, end = std::min(begin + kTile, labels.n_rows);
            visit(labels.code_rows(begin, end, scratch), begin, end - begin);
        });
    };
    std::vector<std::atomic<char>> seen(span + 1);
    each_tile([&](const std::int64_t* x, std::size_t, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            auto& mark = seen[static_cast<std::size_t>(x[i] - extent.low)];
            // Reading first keeps the cache line shared between threads.
            if (!mark.load(std::memory_order_relaxed)) mark.store(1, std::memory_order_relaxed);
        }
    });
    std::vector<std::int32_t> position(span + 1, -1);
    for (const auto [begin, end] : Ranges(span + 1)) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!seen[i]) continue;
            position[i] = static_cast<std::int32_t>(distinct.size());
            distinct.push_back(extent.low + static_cast<std::int64_t>(i));
        }
    }
    each_tile([&](const std::int64_t* x, std::size_t begin, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i)
            positions[begin + i] = position[static_cast<std::size_t>(x[i] - extent.low)];
    });
    return true;
}

}  // namespace candide
