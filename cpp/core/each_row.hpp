// Rows one after the other, dense or sparse, shared out among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "findings.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "values.hpp"

namespace candide {

inline constexpr std::size_t kRowsPerTask = 512;

// How cells are read.
struct Reading {
    bool signs;  // check for negative ones
    std::optional<double> threshold;
};

// The cells of one row, with the threshold applied.
template <class Index>
struct Cells {
    std::size_t n;
    const Index* at;  // their columns; null: all, in order
    const double* x;
    Findings found;  // in this row or in those around it

    std::size_t column(std::size_t k) const { return at ? static_cast<std::size_t>(at[k]) : k; }
};

// How many cells there are to visit.
inline std::size_t count_cells(const Table& table) { return table.n_rows * table.n_columns; }
template <class Index>
std::size_t count_cells(const Rows<Index>& rows) {
    return rows.stored();
}

// Values as they are scored; in `scratch` if they had to change.
inline const double* read_values(const double* x, std::size_t n, const Reading& reading, std::vector<double>& scratch) {
    if (!reading.threshold) return x;
    if (x != scratch.data()) scratch.assign(x, x + n);
    binarize(scratch.data(), n, *reading.threshold);
    return scratch.data();
}

// Calls `visit(begin, end, findings)` for ranges of rows; `work` is in elementary steps.
template <class Visit>
Findings each_task(std::size_t n_rows, std::size_t work, int n_threads, Visit&& visit) {
    std::vector<Findings> found((n_rows + kRowsPerTask - 1) / kRowsPerTask);
    parallel_for(found.size(), work, n_threads, [&](std::size_t task) {
        visit(task * kRowsPerTask, std::min(n_rows, (task + 1) * kRowsPerTask), found[task]);
    });
    return join(found);
}

// Calls `visit(row, cells, scratch)` for every row; the scratch is the task's own. `steps`: elementary steps per cell.
template <class Scratch = std::vector<double>, class Index, class Visit>
Findings each_row(const Rows<Index>& rows, std::size_t steps, const Reading& reading, int n_threads, Visit&& visit) {
    const std::size_t work = (rows.stored() + rows.n_rows) * steps;
    return each_task(rows.n_rows, work, n_threads, [&](std::size_t begin, std::size_t end, Findings& found) {
        std::vector<double> values;
        Scratch scratch;
        Steps counted;
        for (std::size_t r = begin; r < end; ++r) {
            rows.check_bounds(r);
            counted.add((rows.size(r) + 1) * steps);
            rows.check_columns(r);
            const std::size_t n = rows.size(r);
            const double* x = rows.values(r, values);
            const Findings here = inspect(x, n, reading.signs);
            visit(r, Cells<Index>{n, rows.indices + rows.indptr[r], read_values(x, n, reading, values), here}, scratch);
            found.add(here);
        }
    });
}

template <class Scratch = std::vector<double>, class Visit>
Findings each_row(const Table& table, std::size_t steps, const Reading& reading, int n_threads, Visit&& visit) {
    const std::size_t n = table.n_columns, step = table.rows_per_tile();
    return each_task(table.n_rows, table.n_rows * n * steps, n_threads, [&](auto begin, auto end, Findings& found) {
        std::vector<double> values;
        Scratch scratch;
        Steps counted;
        for (std::size_t first = begin; first < end; first += step) {
            const std::size_t last = std::min(first + step, end), size = (last - first) * n;
            const double* x = table.rows(first, last, values);
            const Findings here = inspect(x, size, reading.signs);
            x = read_values(x, size, reading, values);
            for (std::size_t r = first; r < last; ++r, x += n) {
                counted.add(n * steps);
                visit(r, Cells<std::int32_t>{n, nullptr, x, here}, scratch);
            }
            found.add(here);
        }
    });
}

}  // namespace candide
