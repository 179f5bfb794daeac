// What of a stored cell is summed, and one sparse row added to the sums of its class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "findings.hpp"
#include "rows.hpp"
#include "simd.hpp"

namespace candide {

// `difference` is value - center, `deviation` its square.
enum class Cell : std::uint8_t { value, above, observed, missing, difference, deviation };
inline constexpr const char* kCellNames[] = {"value", "above", "observed", "missing", "difference", "deviation"};

struct Request {
    Cell cell;
    double threshold;      // for `above`
    const double* center;  // for `difference` and `deviation`: (n_classes, n_columns)

    bool centered() const { return cell == Cell::difference || cell == Cell::deviation; }
};

// The kind of cell is fixed for a whole call: resolve it once, outside the loops.
template <class Visit>
auto with_cell(Cell cell, Visit&& visit) {
    switch (cell) {
        case Cell::above: return visit(std::integral_constant<Cell, Cell::above>{});
        case Cell::observed: return visit(std::integral_constant<Cell, Cell::observed>{});
        case Cell::missing: return visit(std::integral_constant<Cell, Cell::missing>{});
        case Cell::difference: return visit(std::integral_constant<Cell, Cell::difference>{});
        case Cell::deviation: return visit(std::integral_constant<Cell, Cell::deviation>{});
        default: return visit(std::integral_constant<Cell, Cell::value>{});
    }
}

// What a known cell contributes; `center` is that of the row's class.
template <Cell What>
inline double measure(double x, double threshold, const double* center, std::size_t column) {
    if constexpr (What == Cell::above) return x > threshold ? 1.0 : 0.0;
    if constexpr (What == Cell::observed) return 1.0;
    if constexpr (What == Cell::missing) return 0.0;
    if constexpr (What == Cell::difference) return x - center[column];
    if constexpr (What == Cell::deviation) return (x - center[column]) * (x - center[column]);
    return x;
}

template <Cell What, class Index>
void add_row(const Rows<Index>& rows, std::size_t row, double w, double threshold, const double* center, double* sum,
             std::vector<double>& scratch, Findings& found) {
    // A row of weight 0 is absent, and its deviation from the center may be infinite.
    if constexpr (What == Cell::difference || What == Cell::deviation)
        if (w == 0.0) return;
    const Index* at = rows.indices + rows.indptr[row];
    const double* x = rows.values(row, scratch);
    const std::size_t n = rows.size(row);
    const bool finite = all_finite(x, n);
    found.negative |= any_negative(x, n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto j = static_cast<std::size_t>(at[k]);
        if (!finite && !(x[k] - x[k] == 0.0)) [[unlikely]] {
            found.missing |= x[k] != x[k];
            found.infinite |= x[k] == x[k];
            if constexpr (What == Cell::missing) sum[j] += x[k] != x[k] ? w : 0.0;
            continue;
        }
        sum[j] += w * measure<What>(x[k], threshold, center, j);
    }
}

}  // namespace candide
