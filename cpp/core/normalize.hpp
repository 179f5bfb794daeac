// From scores to answers: normalized probabilities, and the best class of each row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// Log-scores to log-probabilities or probabilities, in place. A row whose scores are all -inf, or hold +inf, has no
// finite normalizer; such rows are left alone and their number is returned.
std::size_t normalize(double* scores, std::size_t n_rows, std::size_t n_classes, bool logarithm, int n_threads);

// scores[r, own class] = values[r] + by_class[own class], for the rows whose weight is above 0 (null: all).
void put_own(double* scores, std::size_t n_rows, std::size_t n_classes, const std::int32_t* classes,
             const double* weights, const double* values, const double* by_class, int n_threads);

// scores[r, own class] += change[r], or change[own class].
void add_own(double* scores, std::size_t n_rows, std::size_t n_classes, const std::int32_t* classes,
             const double* change, bool by_class, int n_threads);

// The first of the largest scores of each row. Rows without a finite largest score are counted and returned.
std::size_t best(const double* scores, std::size_t n_rows, std::size_t n_classes, int n_threads, std::int64_t* out);

}  // namespace candide
