// Rows under the normal distribution of their own class, whose parameters are learned from the other rows.
#pragma once

#include <cstddef>

#include "findings.hpp"
#include "members.hpp"
#include "table.hpp"

namespace candide {

// A normal-inverse-gamma distribution per class and column; it contains the rows.
struct NormalTable {
    const double* strength;
    const double* location;
    const double* shape;
    const double* scale;
};

// The variance is scale / (shape + extra) + floor.
struct Variance {
    double extra, floor;
};

// What must remain of a strength and of a scale when a row is taken out, for its digits to be good.
inline constexpr double kLeastStrength = 1e-9, kLeastScale = 1e-5;

// scores[r] = log density of the row, each cell with its own weight taken out of the class. NaN for rows that leave too
// little behind.
Findings own_normal_scores(const Members<Table>& members, const NormalTable& table, const Variance& variance,
                           int n_threads, double* scores);

// The same with unknown location and variance: log densities of Student's t.
Findings own_student_scores(const Members<Table>& members, const NormalTable& table, int n_threads, double* scores);

}  // namespace candide
