#include "normalize.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "elementary.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::size_t kRowsPerTask = 4096;
constexpr std::size_t kRowsPerBlock = 64;

CANDIDE_CLONES void exponentials(double* x, std::size_t n) {
    each_pack(x, n, [=](std::size_t i, const Pack& part) CANDIDE_INLINE_LAMBDA {
        store_up_to(n - i, x + i, exponential(part));
    });
}

// The largest score, or NaN if any is (terms that overflowed in both directions).
double largest(const double* row, std::size_t n) {
    double top = row[0];
    bool odd = top != top;
    for (std::size_t c = 1; c < n; ++c) {
        odd |= row[c] != row[c];
        top = row[c] > top ? row[c] : top;
    }
    return odd ? std::numeric_limits<double>::quiet_NaN() : top;
}

template <class DoRows>
std::size_t each_stretch(std::size_t n_rows, std::size_t n_classes, int n_threads, DoRows&& do_rows) {
    std::atomic<std::size_t> undecided{0};
    parallel_for((n_rows + kRowsPerTask - 1) / kRowsPerTask, 8 * n_rows * n_classes, n_threads, [&](std::size_t task) {
        undecided += do_rows(task * kRowsPerTask, std::min(n_rows, (task + 1) * kRowsPerTask));
    });
    return undecided;
}

// Calls `visit(score, row, class)` for the score of every row under its own class.
template <class Visit>
void each_own(double* scores, std::size_t n_rows, std::size_t n_classes, const std::int32_t* classes, int n_threads,
              Visit&& visit) {
    each_stretch(n_rows, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
            const auto c = static_cast<std::size_t>(classes[r]);
            visit(scores[r * n_classes + c], r, c);
        }
        return std::size_t{0};
    });
}

// One block of rows: differences from each row's largest score, their exponentials, and what they add up to.
std::size_t normalise_block(double* scores, std::size_t n_rows, std::size_t n, bool logarithm,
                            std::vector<double>& shifted) {
    double top[kRowsPerBlock];
    shifted.resize(n_rows * n);
    std::size_t undecided = 0;
    for (std::size_t r = 0; r < n_rows; ++r) {
        top[r] = largest(scores + r * n, n);
        const bool decided = std::isfinite(top[r]);
        undecided += decided ? 0 : 1;
        for (std::size_t c = 0; c < n; ++c) shifted[r * n + c] = decided ? scores[r * n + c] - top[r] : 0.0;
    }
    exponentials(shifted.data(), n_rows * n);
    for (std::size_t r = 0; r < n_rows; ++r) {
        if (!std::isfinite(top[r])) continue;
        double sum = 0.0;
        for (std::size_t c = 0; c < n; ++c) sum += shifted[r * n + c];
        const double log_sum = logarithm ? std::log(sum) : 0.0;
        for (std::size_t c = 0; c < n; ++c) {
            double& out = scores[r * n + c];
            // In this order, so that a large score does not swallow the logarithm.
            out = logarithm ? (out - top[r]) - log_sum : shifted[r * n + c] / sum;
        }
    }
    return undecided;
}

}  // namespace

std::size_t normalize(double* scores, std::size_t n_rows, std::size_t n_classes, bool logarithm, int n_threads) {
    return each_stretch(n_rows, n_classes, n_threads, [=](std::size_t begin, std::size_t end) {
        std::vector<double> shifted;
        std::size_t undecided = 0;
        Steps steps;
        for (std::size_t r = begin; r < end; r += kRowsPerBlock, steps.add(8 * kRowsPerBlock * n_classes))
            undecided += normalise_block(scores + r * n_classes, std::min(kRowsPerBlock, end - r), n_classes, logarithm,
                                         shifted);
        return undecided;
    });
}

void put_own(double* scores, std::size_t n_rows, std::size_t n_classes, const std::int32_t* classes,
             const double* weights, const double* values, const double* by_class, int n_threads) {
    each_own(scores, n_rows, n_classes, classes, n_threads, [=](double& score, std::size_t r, std::size_t c) {
        if (!weights || weights[r] > 0.0) score = values[r] + by_class[c];
    });
}

void add_own(double* scores, std::size_t n_rows, std::size_t n_classes, const std::int32_t* classes,
             const double* change, bool by_class, int n_threads) {
    each_own(scores, n_rows, n_classes, classes, n_threads,
             [=](double& score, std::size_t r, std::size_t c) { score += change[by_class ? c : r]; });
}

std::size_t best(const double* scores, std::size_t n_rows, std::size_t n_classes, int n_threads, std::int64_t* out) {
    return each_stretch(n_rows, n_classes, n_threads, [=](std::size_t begin, std::size_t end) {
        std::size_t undecided = 0;
        Steps steps;
        for (std::size_t r = begin; r < end; ++r) {
            steps.add(2 * n_classes);
            const double* row = scores + r * n_classes;
            const double top = largest(row, n_classes);
            const bool decided = std::isfinite(top);
            std::int64_t first = 0;
            for (std::size_t c = n_classes; c-- > 0;) first = row[c] == top ? static_cast<std::int64_t>(c) : first;
            out[r] = first;
            undecided += decided ? 0 : 1;
        }
        return undecided;
    });
}

}  // namespace candide
