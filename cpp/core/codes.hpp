// Columns of category codes: counts of codes, and sums of the scores that each code adds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "members.hpp"
#include "table.hpp"

namespace candide {

// Where each column's codes lie in one long row of slots: column j has slots offsets[j] ... offsets[j + 1] - 1.
struct Slots {
    const std::int64_t* offsets;
    std::size_t n_columns;

    std::size_t begin(std::size_t j) const { return static_cast<std::size_t>(offsets[j]); }
    std::size_t size(std::size_t j) const { return static_cast<std::size_t>(offsets[j + 1] - offsets[j]); }
    std::size_t total() const { return static_cast<std::size_t>(offsets[n_columns]); }
};

// counts[c, slot] += weight; codes below 0 are missing. counts: (n_classes, slots.total()), zeroed by the caller.
// A code past its column's last slot is an error in the caller and is reported as such.
void count_codes(const Table& codes, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                 const Slots& slots, int n_threads, double* counts);

// scores[r, c] = base[c] + sum over columns of table[slot, c]; codes below 0 add nothing, codes past the end use the
// column's last slot (unseen). table: (slots.total(), stride), padded with zeros to a multiple of four.
void code_scores(const Table& codes, const Slots& slots, const double* table, std::size_t stride, const double* base,
                 std::size_t n_classes, int n_threads, double* scores);

// The same, and in `own` each row's score under its own class by another table, with base 0.
void left_out_code_scores(const Members<Table>& codes, const Slots& slots, const double* table, const double* own_table,
                          std::size_t stride, const double* base, int n_threads, double* scores, double* own);

// Each row's score under its own class, with base 0.
void own_code_scores(const Members<Table>& codes, const Slots& slots, const double* table, std::size_t stride,
                     int n_threads, double* scores);

}  // namespace candide
