#include "repeats.hpp"

#include <atomic>
#include <vector>

#include "parallel.hpp"

namespace candide {
namespace {

template <class Index>
bool rises(const Index* at, std::size_t n) {
    for (std::size_t k = 1; k < n; ++k)
        if (at[k] <= at[k - 1]) return false;
    return true;
}

}  // namespace

// Rows in order show it at once. In others, as vectorizers make them, each column is marked with the row that has it:
// sorting them, which is what scipy would do, takes several times as long as predicting.
template <class Index>
bool has_repeats(const Rows<Index>& rows, int n_threads) {
    constexpr std::size_t kTasks = 16;
    std::atomic<bool> found{false};
    parallel_for(kTasks, rows.stored(), n_threads, [&](std::size_t task) {
        std::vector<std::size_t> last_row;
        Steps steps;
        for (std::size_t r = task * rows.n_rows / kTasks; r < (task + 1) * rows.n_rows / kTasks && !found; ++r) {
            rows.check_bounds(r);
            steps.add(rows.size(r) + 1);
            const Index* at = rows.indices + rows.indptr[r];
            const std::size_t n = rows.size(r);
            if (rises(at, n)) continue;
            rows.check_columns(r);
            if (last_row.empty()) last_row.assign(rows.n_columns, rows.n_rows);
            for (std::size_t k = 0; k < n; ++k) {
                std::size_t& last = last_row[static_cast<std::size_t>(at[k])];
                if (last == r) found = true;
                last = r;
            }
        }
    });
    return found;
}

template bool has_repeats(const Rows<std::int32_t>&, int);
template bool has_repeats(const Rows<std::int64_t>&, int);

}  // namespace candide
