#include "finish.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::size_t kRowsPerTask = 4096;

template <class DoRow>
std::size_t each_row(std::size_t n_rows, std::size_t n_classes, int n_threads, DoRow&& do_row) {
    std::atomic<std::size_t> undecided{0};
    parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, 8 * n_rows * n_classes, n_threads, [&](std::size_t task) {
        std::size_t here = 0;
        const std::size_t end = std::min(n_rows, (task + 1) * kRowsPerTask);
        for (std::size_t r = task * kRowsPerTask; r < end; ++r) here += do_row(r) ? 0 : 1;
        undecided += here;
    });
    return undecided;
}

}  // namespace

std::size_t normalise(double* scores, std::size_t n_rows, std::size_t n_classes, bool logarithm, int n_threads) {
    return each_row(n_rows, n_classes, n_threads, [=](std::size_t r) {
        double* row = scores + r * n_classes;
        const double top = *std::max_element(row, row + n_classes);
        if (!std::isfinite(top)) return false;
        double sum = 0.0;
        if (logarithm) {
            for (std::size_t c = 0; c < n_classes; ++c) sum += std::exp(row[c] - top);
            const double normaliser = top + std::log(sum);
            for (std::size_t c = 0; c < n_classes; ++c) row[c] -= normaliser;
        } else {
            for (std::size_t c = 0; c < n_classes; ++c) sum += row[c] = std::exp(row[c] - top);
            for (std::size_t c = 0; c < n_classes; ++c) row[c] /= sum;
        }
        return true;
    });
}

std::size_t best(const double* scores, std::size_t n_rows, std::size_t n_classes, int n_threads, std::int64_t* out) {
    return each_row(n_rows, n_classes, n_threads, [=](std::size_t r) {
        const double* row = scores + r * n_classes;
        const double* top = std::max_element(row, row + n_classes);
        out[r] = top - row;
        return std::isfinite(*top);
    });
}

}  // namespace candide
