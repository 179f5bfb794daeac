#include "shared_normal.hpp"

#include <algorithm>
#include <vector>

#include "each_row.hpp"
#include "normal_cell.hpp"

namespace candide {
namespace {

// What a row is scored by under every class.
struct RowScale {
    double log_roots;     // sum of -½ log 2πv
    double own_distance;  // sum of (x - location)² / 2v under the own class
};

// What a row brings, in whole packs: its cells, and 1 / 2v of every column; both 0 where the cell is missing.
struct Prepared {
    double *cells, *precision;
};

// `cell_at(j)`: the own class from column j on.
template <class CellAt>
CANDIDE_INLINE RowScale scale_row(const double* x, std::size_t n, const Prepared& out, CellAt&& cell_at) {
    Pack roots_sum{}, distance{};
    for (std::size_t first = 0; first < n; first += kFactors * kPack) {
        LogProduct roots;
        auto add = [&](std::size_t j, const Pack& cells) CANDIDE_INLINE_LAMBDA {
            const NormalCell& own = cell_at(first + j);
            const Pack deviation = cells - own.location, square = deviation * deviation, p = own.precision(square);
            roots.multiply(where_known(p, p, Pack{} + 1.0));
            distance += where_known(cells, own.stretch * square * p, Pack{});
            store(out.cells + first + j, where_known(cells, cells, Pack{}));
            store(out.precision + first + j, where_known(cells, kPi * p, Pack{}));
        };
        each_pack(x + first, std::min(n - first, kFactors * kPack), add);
        roots_sum += 0.5 * roots.value();
    }
    return {total(roots_sum), total(distance)};
}

CANDIDE_CLONES RowScale prepared_scale(const double* x, std::size_t n, const NormalCell* cells, const Prepared& out) {
    return scale_row(x, n, out,
                     [=](std::size_t j) CANDIDE_INLINE_LAMBDA -> const NormalCell& { return cells[j / kPack]; });
}
CANDIDE_CLONES RowScale weighted_scale(const double* x, std::size_t n, const NormalPacks& table, std::size_t c,
                                       double weight, const Variance& variance, const Prepared& out) {
    return scale_row(x, n, out, [&](std::size_t j) CANDIDE_INLINE_LAMBDA {
        return NormalCell::of(table.at(c, j, weight), variance);
    });
}

CANDIDE_CLONES double distance(const Prepared& row, std::size_t n, const double* location) {
    Pack sum{};
    for (std::size_t j = 0; j < n; j += kPack) {
        const Pack deviation = loaded<Pack>(row.cells + j) - loaded<Pack>(location + j), none{};
        const Pack precision = loaded<Pack>(row.precision + j);
        // A class that never observed the column has no location there.
        sum += precision <= none ? none : deviation * deviation * precision;
    }
    return total(sum);
}

}  // namespace

Findings left_out_shared(const Members<Table>& members, const NormalTable& table, const Variance& variance,
                         const double* base, int n_threads, double* scores) {
    const std::size_t n = members.rows.n_columns, n_classes = members.n_classes;
    const NormalPacks packs(table, n_classes, n, true);
    const auto cells = prepare<NormalCell>(packs, variance, members.weights ? 0 : n_classes, n);
    auto score = [&](std::size_t r, const auto& row, std::vector<double>& scratch) {
        scratch.resize(2 * padded(n));
        const Prepared prepared{scratch.data(), scratch.data() + padded(n)};
        const std::size_t own = members.own(r);
        const RowScale scale = members.weights
                                   ? weighted_scale(row.x, n, packs, own, members.weights[r], variance, prepared)
                                   : prepared_scale(row.x, n, cells.data() + own * (padded(n) / kPack), prepared);
        for (std::size_t c = 0; c < n_classes; ++c) {
            const double far = c == own ? scale.own_distance : distance(prepared, n, packs.location(c));
            scores[r * n_classes + c] = base[c] + (scale.log_roots - far);
        }
    };
    return each_row(members.rows, 8 + n_classes, {false, {}}, n_threads, score);
}

}  // namespace candide
