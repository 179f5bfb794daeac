#include "cell_codes.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "keys.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

// Cells and codes of so many rows stay in the first-level cache while one column after the other is coded.
constexpr std::size_t kTileRows = 128;
// Searches side by side: each step of one waits for the last.
constexpr std::size_t kSearches = 8;

// The keys of a column's cuts, and more that are never reached, up to a power of two less one: all searches take the
// same steps. Whole numbers are compared and moved on in fewer of the machine's steps than doubles.
struct Cuts {
    std::vector<std::uint64_t> keys;
    std::size_t half = 1;  // of that power

    Cuts(const double* begin, const double* end) {
        std::transform(begin, end, std::back_inserter(keys), key_of);
        while (2 * half <= keys.size()) half *= 2;
        keys.resize(2 * half - 1, kMissingKey);
    }
};

void search(const Cuts& cuts, const std::uint64_t* keys, std::int32_t* codes) {
    std::size_t below[kSearches] = {};
    const std::uint64_t* at = cuts.keys.data();
    for (std::size_t half = cuts.half; half > 0; half /= 2)
        for (std::size_t i = 0; i < kSearches; ++i) {
            const std::size_t more = below[i] + half;
            below[i] = at[more - 1] <= keys[i] ? more : below[i];
        }
    for (std::size_t i = 0; i < kSearches; ++i)
        codes[i] = keys[i] == kMissingKey ? -1 : static_cast<std::int32_t>(below[i]);
}

}  // namespace

bool cell_codes(const Table& table, const double* cuts, const std::int64_t* offsets, int n_threads,
                std::int32_t* codes) {
    const std::size_t n = table.n_columns, n_tiles = (table.n_rows + kTileRows - 1) / kTileRows;
    std::vector<Cuts> by_column;
    for (std::size_t j = 0; j < n; ++j) by_column.emplace_back(cuts + offsets[j], cuts + offsets[j + 1]);
    std::atomic<bool> infinite{false};
    parallel_for(n_tiles, 4 * table.n_rows * n, n_threads, [&](std::size_t t) {
        const std::size_t begin = t * kTileRows, end = std::min(begin + kTileRows, table.n_rows);
        std::uint64_t keys[kTileRows] = {};
        std::int32_t found[kTileRows];
        Steps steps;
        for (std::size_t j = 0; j < n; ++j) {
            steps.add(4 * kTileRows);
            if (read_keys(table.columns[j], begin, end, keys)) infinite = true;
            for (std::size_t i = 0; i < end - begin; i += kSearches) search(by_column[j], keys + i, found + i);
            for (std::size_t r = begin; r < end; ++r) codes[r * n + j] = found[r - begin];
        }
    });
    return infinite;
}

}  // namespace candide
