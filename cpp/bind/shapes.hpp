// The shapes of the arrays of one call, checked against each other: what does not fit ends in a ValueError. Python has
// made all of them to fit; this is what keeps a mistake there from reading foreign memory.
#pragma once

#include <algorithm>
#include <string>

#include "../core/codes.hpp"
#include "../core/positions.hpp"
#include "../core/totals.hpp"
#include "arrays.hpp"

namespace candide {

struct Shape {
    std::size_t n_rows, n_columns;
};

inline void require(bool holds, const std::string& rule) {
    if (!holds) throw nb::value_error(rule.c_str());
}

// The extents of a two-dimensional array.
template <class Array>
Shape shape_of(const Array& array, const char* name) {
    require(array.ndim() == 2, std::string(name) + " must be two-dimensional");
    return {array.shape(0), array.shape(1)};
}

template <class Array>
void check_shape(const Array& array, Shape wanted, const char* name) {
    const Shape shape = shape_of(array, name);
    require(shape.n_rows == wanted.n_rows && shape.n_columns == wanted.n_columns,
            std::string(name) + " must be of shape (" + std::to_string(wanted.n_rows) + ", " +
                std::to_string(wanted.n_columns) + ")");
}
inline void check_shape(const MaybeDoubles& array, Shape wanted, const char* name) {
    if (array) check_shape(*array, wanted, name);
}

template <class Array>
void check_length(const Array& array, std::size_t wanted, const char* name) {
    require(array.ndim() == 1 && array.shape(0) == wanted,
            std::string(name) + " must be one-dimensional of length " + std::to_string(wanted));
}

// The groups to which rows are added.
inline void check_groups(std::size_t n_rows, const Positions& classes, const MaybeDoubles& weight,
                         std::size_t n_classes) {
    check_length(classes, n_rows, "classes");
    if (weight) check_length(*weight, n_rows, "weight");
    require(all_below(classes.data(), n_rows, n_classes), "classes must lie in 0 ... n_classes - 1");
}

// Rows that belong to classes of which tables have one row each.
template <class Data>
Members<Data> members_of(const Data& rows, const Positions& classes, const MaybeDoubles& weight,
                         std::size_t n_classes) {
    check_groups(rows.n_rows, classes, weight, n_classes);
    return {rows, classes.data(), data_or_null(weight), n_classes};
}

// Counts, and pseudo-counts of the same shape or one for all.
inline Totals totals_of(const Doubles& count, const NumberOrDoubles& pseudo) {
    if (const double* even = std::get_if<double>(&pseudo)) return {count.data(), nullptr, *even};
    const Doubles& table = std::get<Doubles>(pseudo);
    check_shape(table, shape_of(count, "count"), "pseudo");
    return {count.data(), table.data(), 0.0};
}

// Rows of scores side by side, padded for whole vectors: (n_rows, a multiple of four). Returns the width.
inline std::size_t padded_width(const Doubles& array, std::size_t n_rows, std::size_t n_classes, const char* name) {
    const Shape shape = shape_of(array, name);
    require(shape.n_rows == n_rows && shape.n_columns >= n_classes && shape.n_columns % 4 == 0,
            std::string(name) + " must have " + std::to_string(n_rows) +
                " rows, padded to a multiple of four and at least " + std::to_string(n_classes));
    return shape.n_columns;
}

// The number of classes, once the scores and their base fit it.
inline std::size_t count_classes(const Output& scores, const Doubles& base, std::size_t n_rows) {
    const std::size_t n_classes = shape_of(scores, "scores").n_columns;
    check_shape(scores, {n_rows, n_classes}, "scores");
    check_length(base, n_classes, "base");
    return n_classes;
}

// `least` slots or more for every column, in all as many as `total`.
inline Slots slots_of(const Longs& offsets, std::size_t n_columns, std::size_t total, std::int64_t least) {
    check_length(offsets, n_columns + 1, "offsets");
    const std::int64_t* at = offsets.data();
    bool rising = at[0] == 0;
    for (std::size_t j = 0; j < n_columns; ++j) rising = rising && at[j + 1] >= at[j] && at[j + 1] - at[j] >= least;
    require(rising && static_cast<std::size_t>(at[n_columns]) == total,
            "offsets must rise from 0 to the number of slots, which is " + std::to_string(total));
    return {at, n_columns};
}

}  // namespace candide
