// Weighted sums of cells per class and column: the statistic of all count models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rows.hpp"
#include "table.hpp"

namespace candide {

// What a tally found on the way; a kernel never judges, Python turns these into errors with names and places.
struct Findings {
    bool negative = false, infinite = false, missing = false;

    void add(const Findings& other) {
        negative |= other.negative;
        infinite |= other.infinite;
        missing |= other.missing;
    }
};

// total[c, j] += weight * cell, where cell is the value or, with a threshold, 1 if the value lies above it.
// missing[c, j] += weight where the value is NaN; both tables (n_classes, n_columns), zeroed by the caller.
Findings tally(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
               std::optional<double> threshold, int n_threads, double* total, double* missing);

// What of a stored cell is summed.
enum class Cell : std::uint8_t { value, above, observed, missing, deviation };
inline constexpr int kCells = 5;

struct Request {
    Cell cell;
    double threshold;      // for `above`
    const double* center;  // for `deviation`: (n_classes, n_columns), the cell is (value - center)^2

    bool centered() const { return cell == Cell::deviation; }
};

// Sums over stored cells, dense: total (n_classes, n_columns), zeroed by the caller.
template <class Index>
Findings tally_rows(const Rows<Index>& rows, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                    const Request& request, int n_threads, double* total);

// The same as sparse rows of classes, in memory proportional to what was observed.
struct SparseTotals {
    std::vector<std::int64_t> indptr, indices;
    std::vector<double> values;
    Findings findings;
};
template <class Index>
SparseTotals tally_rows_sparse(const Rows<Index>& rows, const std::int32_t* classes, const double* weight,
                               std::size_t n_classes, const Request& request, int n_threads);

}  // namespace candide
