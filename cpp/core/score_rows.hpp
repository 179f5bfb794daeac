// Log-scores of sparse rows under every class, at the cost of the stored cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "each_row.hpp"
#include "findings.hpp"
#include "rows.hpp"

namespace candide {

// The linear score (score.hpp). weights and absent: one column's classes side by side, `stride` doubles a column,
// padded with zeros to a multiple of four.
struct LinearRows {
    const double* weights;
    std::size_t stride;
    const double* base;
    const double* absent;
    std::size_t n_classes;

    // Of one row.
    template <class Index>
    void score(const Cells<Index>& cells, std::vector<double>& sum, double* scores) const;
};
template <class Index>
Findings linear_row_scores(const Rows<Index>& rows, const LinearRows& table, std::optional<double> threshold,
                           int n_threads, double* scores);

// Weights of very many classes as shared[j] + slope[c] + what is stored: column j keeps a cell only for the classes
// that saw it (compressed by column: indptr, classes, values).
struct FactoredWeights {
    const double* shared;
    const double* slope;
    const std::int64_t* indptr;
    const std::int64_t* classes;
    const double* values;
    std::size_t n_stored;

    // out[class] += x * weight for the stored cells of column j. The table is too large to be checked in every call:
    // its cells are when they are used.
    void add_column(std::size_t j, double x, std::size_t n_classes, double* out) const {
        const std::int64_t begin = indptr[j], end = indptr[j + 1];
        bool outside = begin < 0 || end < begin || static_cast<std::size_t>(end) > n_stored;
        for (std::int64_t i = begin; i < end && !outside; ++i) {
            const auto c = static_cast<std::size_t>(classes[i]);
            if (c < n_classes) [[likely]]
                out[c] += x * values[i];
            else
                outside = true;
        }
        if (outside) throw std::invalid_argument("the stored weights of a column lie outside their table");
    }
};
template <class Index>
Findings factored_row_scores(const Rows<Index>& rows, const FactoredWeights& weights, const double* base,
                             std::size_t n_classes, std::optional<double> threshold, int n_threads, double* scores);

}  // namespace candide
