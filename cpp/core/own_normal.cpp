#include "own_normal.hpp"

#include <vector>

#include "each_row.hpp"
#include "normal_cell.hpp"

namespace candide {
namespace {

// `cell_at(j)` is the cell of the pack of columns from j on.
template <bool Weighted, class CellAt>
CANDIDE_INLINE double sum_row(const double* x, std::size_t n, CellAt&& cell_at) {
    Pack sum{};
    for (std::size_t first = 0; first < n; first += kFactors * kPack) {
        LogProduct roots;
        auto add = [&](std::size_t j, const Pack& cells)
                       CANDIDE_INLINE_LAMBDA { sum += cell_at(first + j).template score<Weighted>(cells, roots); };
        each_pack(x + first, std::min(n - first, kFactors * kPack), add);
        sum += 0.5 * roots.value();
    }
    return total(sum);
}

// Rows of weight 1 find their cells prepared.
template <class Cell>
CANDIDE_INLINE double prepared_row(const double* x, std::size_t n, const Cell* cells) {
    return sum_row<false>(x, n, [=](std::size_t j) CANDIDE_INLINE_LAMBDA -> const Cell& { return cells[j / kPack]; });
}
template <class Cell>
CANDIDE_INLINE double weighted_row(const double* x, std::size_t n, const NormalPacks& table, std::size_t c,
                                   double weight, const Variance& variance) {
    auto cell_at = [&](std::size_t j) CANDIDE_INLINE_LAMBDA { return Cell::of(table.at(c, j, weight), variance); };
    return sum_row<true>(x, n, cell_at);
}

// Functions, since clones cannot be templates.
CANDIDE_CLONES double row_score(const double* x, std::size_t n, const NormalCell* cells) {
    return prepared_row(x, n, cells);
}
CANDIDE_CLONES double row_score(const double* x, std::size_t n, const StudentCell* cells) {
    return prepared_row(x, n, cells);
}
CANDIDE_CLONES double weighted_normal(const double* x, std::size_t n, const NormalPacks& table, std::size_t c,
                                      double weight, const Variance& variance) {
    return weighted_row<NormalCell>(x, n, table, c, weight, variance);
}
CANDIDE_CLONES double weighted_student(const double* x, std::size_t n, const NormalPacks& table, std::size_t c,
                                       double weight, const Variance& variance) {
    return weighted_row<StudentCell>(x, n, table, c, weight, variance);
}

template <class Cell, class WeightedScore>
Findings score(const Members<Table>& members, const NormalTable& table, const Variance& variance, int n_threads,
               double* scores, WeightedScore&& weighted_score) {
    const std::size_t n = members.rows.n_columns;
    const NormalPacks packs(table, members.n_classes, n);
    const auto cells = prepare<Cell>(packs, variance, members.weights ? 0 : members.n_classes, n);
    return each_row(members.rows, 8, {false, {}}, n_threads, [&](std::size_t r, const auto& row, auto&) {
        const std::size_t c = members.own(r);
        scores[r] = members.weights ? weighted_score(row.x, n, packs, c, members.weights[r], variance)
                                    : row_score(row.x, n, cells.data() + c * (padded(n) / kPack));
    });
}

}  // namespace

Findings own_normal_scores(const Members<Table>& members, const NormalTable& table, const Variance& variance,
                           int n_threads, double* scores) {
    return score<NormalCell>(members, table, variance, n_threads, scores, weighted_normal);
}

Findings own_student_scores(const Members<Table>& members, const NormalTable& table, int n_threads, double* scores) {
    return score<StudentCell>(members, table, {}, n_threads, scores, weighted_student);
}

}  // namespace candide
