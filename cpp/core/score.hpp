// Log-scores of rows under every class: what each cell says, added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "positions.hpp"
#include "rows.hpp"
#include "table.hpp"

namespace candide {

// What was met on the way; Python turns it into errors with names and places.
struct Odd {
    bool infinite, negative;
};

// scores[r, c] = base[c] + sum over columns j of weights[c, j] * cell, where cell is the value or, with a threshold,
// 1 if it lies above. A missing cell (NaN) adds absent[c, j] instead (null: nothing). scores: (n_rows, n_classes).
Odd linear_scores(const Table& table, const double* weights, const double* base, const double* absent,
                   std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores);

// scores[r, c] = base[c] - sum over j of precision[c, j] * (x - mean[c, j])^2; a missing cell subtracts
// constant[c, j] instead, the share of the base that belongs to it.
Odd quadratic_scores(const Table& table, const double* precision, const double* mean, const double* constant,
                      const double* base, std::size_t n_classes, int n_threads, double* scores);

// The linear score of sparse rows. weights and absent: one column's classes side by side, `stride` doubles a column,
// padded with zeros to a multiple of four.
template <class Index>
Odd linear_row_scores(const Rows<Index>& rows, const double* weights, std::size_t stride, const double* base,
                       const double* absent, std::size_t n_classes, std::optional<double> threshold, int n_threads,
                       double* scores);

// Weights of very many classes as shared[j] + slope[c] + what is stored: column j keeps a cell only for the classes
// that saw it (compressed by column: indptr, classes, values).
struct FactoredWeights {
    const double* shared;
    const double* slope;
    const std::int64_t* indptr;
    const std::int64_t* classes;
    const double* values;
    std::size_t n_stored;

    // The table is too large to be checked in every call: the cells of a column are, before they are used.
    void check_column(std::size_t j, std::size_t n_classes) const {
        const std::int64_t begin = indptr[j], end = indptr[j + 1];
        if (begin < 0 || end < begin || static_cast<std::size_t>(end) > n_stored ||
            !all_below(classes + begin, static_cast<std::size_t>(end - begin), n_classes))
            throw std::invalid_argument("the stored weights of a column lie outside their table");
    }
};
template <class Index>
Odd factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                         std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores);

}  // namespace candide
