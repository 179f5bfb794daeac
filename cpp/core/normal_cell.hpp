// What taking a row out of a pack of normal-inverse-gamma distributions leaves, prepared for scoring the row's cells.
#pragma once

#include <vector>

#include "elementary.hpp"
#include "entries.hpp"
#include "own_normal.hpp"

namespace candide {

// A distribution with the weight to be taken out of it.
struct NormalPack {
    Pack strength, location, shape, scale, weight;
};

inline constexpr double kPi = 3.14159265358979323846;

// The value where `high` is above `low`, else NaN. Conditions are joined by adding such zeros up: a choice between
// choices is made lane by lane.
CANDIDE_INLINE Pack where_above(const Pack& high, const Pack& low, const Pack& value) {
    return high > low ? value : Pack{} + std::numeric_limits<double>::quiet_NaN();
}

// The distributions of all classes in whole packs.
class NormalPacks {
  public:
    // With shared variances the table has one row of shapes and scales for all classes.
    NormalPacks(const NormalTable& table, std::size_t n_classes, std::size_t n_columns, bool shared = false)
        : strength_(table.strength, n_classes, n_columns),
          location_(table.location, n_classes, n_columns),
          shape_(table.shape, shared ? 1 : n_classes, n_columns),
          scale_(table.scale, shared ? 1 : n_classes, n_columns),
          shared_(shared) {}

    // Columns j ... of class c.
    CANDIDE_INLINE NormalPack at(std::size_t c, std::size_t j, double weight) const {
        const std::size_t s = shared_ ? 0 : c;
        return {loaded<Pack>(strength_.row(c) + j), loaded<Pack>(location_.row(c) + j), loaded<Pack>(shape_.row(s) + j),
                loaded<Pack>(scale_.row(s) + j), Pack{} + weight};
    }
    const double* location(std::size_t c) const { return location_.row(c); }

  private:
    PaddedEntries strength_, location_, shape_, scale_;
    bool shared_;
};

// Cells score ½ log p - π stretch (x - location)² p, with p = degrees / (spread - pull (x - location)²), which is
// 1 / 2πv for a variance of v.
struct alignas(64) NormalCell {
    Pack location, pull, spread, degrees, stretch, least;

    CANDIDE_INLINE static NormalCell of(const NormalPack& all, const Variance& variance) {
        const Pack left = all.strength - all.weight, ratio = all.strength / left;
        const Pack degrees = all.shape - 0.5 * all.weight + variance.extra;
        const Pack spread = all.scale + variance.floor * degrees;
        const Pack least = kLeastScale * all.scale, none{}, tiny = none + 1e-290;
        // The precision p stays far from the ends of the numbers.
        const Pack odd = where_above(left, kLeastStrength * all.strength, none) +
                         where_above(degrees, kLeastStrength * all.shape, none) +
                         where_above(degrees, 1e-290 * spread, none);
        return {all.location,        0.5 * all.weight * ratio,   spread, 0.5 / kPi * degrees + odd,
                kPi * ratio * ratio, least > tiny ? least : tiny};
    }

    // 1 / 2πv, NaN where too little is left.
    CANDIDE_INLINE Pack precision(const Pack& square) const {
        const Pack left = spread - pull * square;
        return degrees / where_above(left, least, left);
    }

    // Adds half of the logarithm of p to the product, returns the rest of the score.
    template <bool>
    CANDIDE_INLINE Pack score(const Pack& x, LogProduct& roots) const {
        const Pack deviation = x - location, square = deviation * deviation, p = precision(square);
        roots.multiply(where_known(p, p, Pack{} + 1.0));
        return where_known(x, -(stretch * square * p), Pack{});
    }
};

// Cells score constant + shape log(1 - pull (x - location)²) - (shape + ½) log(1 + excess (x - location)²); the last
// term is there only where a weight is not 1.
struct alignas(64) StudentCell {
    Pack location, pull, excess, shape, constant;

    CANDIDE_INLINE static StudentCell of(const NormalPack& all, const Variance&) {
        const Pack left = all.strength - all.weight, shape = all.shape - 0.5 * all.weight, none{};
        const Pack twice = 2.0 * all.scale, spread = kPi * twice * ((left + 1.0) / left);
        const Pack odd = where_above(left, kLeastStrength * all.strength, none) +
                         where_above(shape, kLeastStrength * all.shape, none) + where_above(all.scale, none, none);
        return {all.location, all.weight * all.strength / (twice * left),
                (1.0 - all.weight) * all.strength / (twice * (left + 1.0)), shape,
                log_rising(shape, none + 0.5) - 0.5 * logarithm(spread) + odd};
    }

    template <bool Weighted>
    CANDIDE_INLINE Pack score(const Pack& x, LogProduct&) const {
        const Pack deviation = x - location, square = deviation * deviation, none{};
        const Pack lost = pull * square;
        Pack score = constant + shape * logarithm_of_one_plus(-lost);
        if constexpr (Weighted) score -= (shape + 0.5) * logarithm_of_one_plus(excess * square);
        return where_known(x, where_above(none + (1.0 - kLeastScale), lost, score), none);
    }
};

// The cells of all classes for rows of weight 1.
template <class Cell>
std::vector<Cell> prepare(const NormalPacks& table, const Variance& variance, std::size_t n_classes,
                          std::size_t n_columns) {
    std::vector<Cell> cells;
    cells.reserve(n_classes * padded(n_columns) / kPack);
    for (std::size_t c = 0; c < n_classes; ++c)
        for (std::size_t j = 0; j < n_columns; j += kPack) cells.push_back(Cell::of(table.at(c, j, 1.0), variance));
    return cells;
}

}  // namespace candide
