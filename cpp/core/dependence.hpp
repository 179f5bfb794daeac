// Columns seen together: counts of what they hold jointly, and scores in which columns depend on others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace candide {

// Rows of positions: (n_rows, width). A position of -1 is passed over: its column is not given.
struct Places {
    const std::int32_t* at;
    std::size_t n_rows, width;

    const std::int32_t* row(std::size_t r) const { return at + r * width; }
};

// Weight by class, parent and slot: (n_classes, n_parents, n_slots).
struct Joint {
    const double* weight;
    std::size_t n_classes, n_parents, n_slots;

    const double* row(std::size_t c, std::int32_t parent) const {
        return weight + (c * n_parents + static_cast<std::size_t>(parent)) * n_slots;
    }
};

// Counts of pairs of slots, whose own are those of a slot with itself.
struct Pairs {
    Joint joint;          // parents are slots
    const double* rows;   // (n_classes) weight of the rows
    const double* spare;  // (columns) pseudo-counts of a column in all
};

// Counts of slots beside two columns; joint slot p of a row is of columns[2 p] and columns[2 p + 1].
struct Triples {
    Pairs singles;
    const std::int32_t* columns;
    Joint joint;
    double back_strength;
};

struct Owned {
    const std::int32_t* classes;
    const double* weights;  // what of a row leaves
};

// joint[c, parent, slot] += weight of the row, for all its parents and slots. The table is zeroed by the caller.
void joint_counts(const Places& parents, const Places& slots, const std::int32_t* classes, const double* weight,
                  std::size_t n_classes, std::size_t n_parents, std::size_t n_slots, int n_threads, double* joint);

// scores[r, c] = log of the sum over the row's parents of exp of the sum over its slots of table[parent, slot, c]; 0
// of a row without parents. The table is (n_parents, n_slots, stride), padded with zeros to two classes or to a
// multiple of four.
void joint_scores(const Places& parents, const Places& slots, const double* table, std::size_t n_slots,
                  std::size_t stride, std::size_t n_classes, int n_threads, double* scores);

// Each row under its own class, without its weight in the counts: what the table of joint_scores would be then. See
// candide.kernels.dependence for the formulas.
void own_pair_scores(const Places& slots, const Owned& own, const Pairs& pairs, double strength, int n_threads,
                     double* scores);
void own_triple_scores(const Places& parents, const Places& slots, const Owned& own, const Triples& triples,
                       double strength, int n_threads, double* scores);

}  // namespace candide
