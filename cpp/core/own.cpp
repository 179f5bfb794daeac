#include "own.hpp"

#include "elementary.hpp"

namespace candide {

CANDIDE_CLONES double linear_row(const double* x, const double* weights, const double* absent, std::size_t n) {
    Pack sum{};
    each_pack(x, n, [&](std::size_t j, const Pack& cell) CANDIDE_INLINE_LAMBDA {
        const Pack gap = absent ? loaded<Pack>(absent + j) : Pack{};
        sum += where_known(cell, cell * loaded<Pack>(weights + j), gap);
    });
    return total(sum);
}

CANDIDE_CLONES LogSum log_sum_row(const double* x, const Totals& own, double weight, std::size_t n) {
    Pack sum{}, zeros{}, cells{};
    each_pack(x, n, [&](std::size_t j, const Pack& cell) CANDIDE_INLINE_LAMBDA {
        const Pack none{}, count = cell > none ? cell : none, left = own.without(j, weight * count);
        const Pack lost = left > none ? none : count;
        sum += count * logarithm(count > lost ? left : none + 1.0);
        zeros += lost;
        cells += count;
    });
    return {total(sum), total(zeros), total(cells)};
}

}  // namespace candide
