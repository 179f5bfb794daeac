#include "grid_cells.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "parallel.hpp"

namespace candide {
namespace {

// The words of one grid and the keys of so many rows stay in the first-level cache.
constexpr std::size_t kTileRows = 128;

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

// The row of weights of a key, or null.
const float* weights_of(const GridWeights& cells, std::uint32_t key) {
    const std::size_t bucket = static_cast<std::size_t>(std::uint64_t{key} >> cells.shift);
    for (std::int32_t i = cells.starts[bucket]; i < cells.starts[bucket + 1]; ++i)
        if (cells.keys[i] == key) return cells.weights + static_cast<std::size_t>(i) * cells.n_classes;
    return nullptr;
}

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

void grid_scores(const Places& slots, const GridWords& grids, const GridWeights& cells, int n_threads, double* scores) {
    const std::size_t n_classes = cells.n_classes;
    std::fill_n(scores, slots.n_rows * n_classes, 0.0);
    each_tile(slots, grids, n_threads, [&](std::size_t, std::size_t begin, std::size_t end, const Keys& found) {
        for (std::size_t r = begin; r < end; ++r) {
            const float* weights = weights_of(cells, found[r - begin]);
            if (!weights) continue;
            double* out = scores + r * n_classes;
            for (std::size_t k = 0; k < n_classes; ++k) out[k] += static_cast<double>(weights[k]);
        }
    });
}

}  // namespace candide
