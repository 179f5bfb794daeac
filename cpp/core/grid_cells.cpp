#include "grid_cells.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "parallel.hpp"
#include "prefetch.hpp"

namespace candide {
namespace {

// The words of one grid and the keys of so many rows stay in the first-level cache.
constexpr std::size_t kTileRows = 1024;

using Keys = std::array<std::uint32_t, kTileRows>;

// The slots of a tile, column by column.
class Tile {
  public:
    Tile(const Places& slots, std::size_t begin, std::size_t end)
        : n_rows_(end - begin), width_(slots.width), slots_(kTileRows * slots.width) {
        for (std::size_t r = begin; r < end; ++r)
            for (std::size_t j = 0; j < width_; ++j) slots_[j * kTileRows + r - begin] = slots.row(r)[j];
    }

    Keys keys(const std::uint32_t* words) const {
        Keys keys{};
        for (std::size_t j = 0; j < width_; ++j) {
            const std::int32_t* own = slots_.data() + j * kTileRows;
            for (std::size_t r = 0; r < n_rows_; ++r) keys[r] += words[own[r]];
        }
        return keys;
    }

  private:
    std::size_t n_rows_, width_;
    std::vector<std::int32_t> slots_;
};

// Rows of a product that are made by one task, and how many places ahead rows of the factor are asked for.
constexpr std::size_t kProductRows = 256, kAhead = 16;
// Columns of the product whose sums stay in registers.
constexpr std::size_t kBlock = 16;

template <std::size_t N>
CANDIDE_INLINE void add_block(const std::int32_t* columns, std::size_t n, const float* factor, std::size_t width,
                              float* out) {
    float sums[N] = {};
    for (std::size_t i = 0; i < n; ++i) {
        prefetch(factor + static_cast<std::size_t>(columns[std::min(i + kAhead, n - 1)]) * width);
        const float* row = factor + static_cast<std::size_t>(columns[i]) * width;
        for (std::size_t k = 0; k < N; ++k) sums[k] += row[k];
    }
    for (std::size_t k = 0; k < N; ++k) out[k] = sums[k];
}

// The last columns of the product, fewer than a block. The loop over a number of columns that is known is unrolled.
template <std::size_t N = kBlock - 1>
CANDIDE_INLINE void add_rest(std::size_t left, const std::int32_t* columns, std::size_t n, const float* factor,
                             std::size_t width, float* out) {
    if constexpr (N > 0) {
        if (left == N)
            add_block<N>(columns, n, factor, width, out);
        else
            add_rest<N - 1>(left, columns, n, factor, width, out);
    }
}

CANDIDE_CLONES void product_of_rows(const Indicators& indicators, std::size_t begin, std::size_t end,
                                    const float* factor, std::size_t width, float* product) {
    for (std::size_t r = begin; r < end; ++r) {
        const std::int32_t* columns = indicators.columns + indicators.ends[r];
        const auto n = static_cast<std::size_t>(indicators.ends[r + 1] - indicators.ends[r]);
        float* out = product + r * width;
        std::size_t k = 0;
        for (; k + kBlock <= width; k += kBlock) add_block<kBlock>(columns, n, factor + k, width, out + k);
        add_rest(width - k, columns, n, factor + k, width, out + k);
    }
}

// The places of keys, -1 for those that are unknown. Each step asks the memory for what the next one reads of all keys.
class CellPlaces {
  public:
    CellPlaces(const GridWeights& cells, const Keys& keys, std::size_t n) {
        for (std::size_t r = 0; r < n; ++r) prefetch(cells.starts + bucket(cells, keys[r]));
        for (std::size_t r = 0; r < n; ++r) {
            places_[r] = cells.starts[bucket(cells, keys[r])];
            prefetch(cells.keys + places_[r]);
        }
        for (std::size_t r = 0; r < n; ++r) {
            places_[r] = find(cells, keys[r], places_[r]);
            if (const float* row = weights(cells, r)) {
                prefetch(row);
                prefetch(row + cells.n_classes - 1);  // it may reach into the next line of the cache
            }
        }
    }

    // The weights of the cell of row r, or null.
    const float* weights(const GridWeights& cells, std::size_t r) const {
        return places_[r] < 0 ? nullptr : cells.weights + static_cast<std::size_t>(places_[r]) * cells.n_classes;
    }

  private:
    std::array<std::int32_t, kTileRows> places_;

    static std::size_t bucket(const GridWeights& cells, std::uint32_t key) {
        return static_cast<std::size_t>(std::uint64_t{key} >> cells.shift);
    }

    static std::int32_t find(const GridWeights& cells, std::uint32_t key, std::int32_t first) {
        const std::int32_t end = cells.starts[bucket(cells, key) + 1];
        for (std::int32_t i = first; i < end; ++i)
            if (cells.keys[i] == key) return i;
        return -1;
    }
};

template <class Use>
void each_tile(const Places& slots, const GridWords& grids, int n_threads, Use&& use) {
    const std::size_t n_tiles = (slots.n_rows + kTileRows - 1) / kTileRows;
    const std::size_t n_steps = slots.width * grids.n_grids;
    parallel_for(n_tiles, slots.n_rows * n_steps, n_threads, [&](std::size_t t) {
        const std::size_t begin = t * kTileRows, end = std::min(begin + kTileRows, slots.n_rows);
        const Tile tile(slots, begin, end);
        Steps steps;
        for (std::size_t g = 0; g < grids.n_grids; ++g) {
            steps.add(kTileRows * slots.width);
            use(g, begin, end, tile.keys(grids.words + g * grids.n_slots));
        }
    });
}

}  // namespace

void grid_keys(const Places& slots, const GridWords& grids, int n_threads, std::uint32_t* keys) {
    each_tile(slots, grids, n_threads, [&](std::size_t g, std::size_t begin, std::size_t end, const Keys& found) {
        for (std::size_t r = begin; r < end; ++r) keys[r * grids.n_grids + g] = found[r - begin];
    });
}

void indicator_product(const Indicators& indicators, const float* factor, std::size_t width, int n_threads,
                       float* product) {
    const std::size_t n_tasks = (indicators.n_rows + kProductRows - 1) / kProductRows;
    const std::size_t work = static_cast<std::size_t>(indicators.ends[indicators.n_rows]) * width;
    parallel_for(n_tasks, work, n_threads, [&](std::size_t t) {
        const std::size_t begin = t * kProductRows, end = std::min(begin + kProductRows, indicators.n_rows);
        product_of_rows(indicators, begin, end, factor, width, product);
    });
}

void grid_scores(const Places& slots, const GridWords& grids, const GridWeights& cells, int n_threads, double* scores) {
    const std::size_t n_classes = cells.n_classes;
    std::fill_n(scores, slots.n_rows * n_classes, 0.0);
    each_tile(slots, grids, n_threads, [&](std::size_t, std::size_t begin, std::size_t end, const Keys& found) {
        const CellPlaces places(cells, found, end - begin);
        for (std::size_t r = begin; r < end; ++r) {
            const float* weights = places.weights(cells, r - begin);
            if (!weights) continue;
            double* out = scores + r * n_classes;
            for (std::size_t k = 0; k < n_classes; ++k) out[k] += static_cast<double>(weights[k]);
        }
    });
}

}  // namespace candide
