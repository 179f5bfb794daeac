#include "tally.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lanes.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

// A tile of about 256 kB stays in the second-level cache between reading and adding.
std::size_t tile_rows(std::size_t n_columns) { return std::clamp<std::size_t>(32768 / std::max<std::size_t>(1, n_columns), 16, 4096); }

struct Tile {
    const double* x;
    std::size_t n_rows, n_columns;
    const std::int32_t* classes;
    const double* weight;  // or null: all 1
};

// A row with a number that is not finite: rare, cell by cell.
template <bool Above>
void add_odd_row(const double* x, std::size_t n, double w, double threshold, double* total, double* missing,
                 Findings& found) {
    for (std::size_t j = 0; j < n; ++j) {
        if (x[j] != x[j]) {
            missing[j] += w;
            found.missing = true;
        } else if (std::isinf(x[j])) {
            found.infinite = true;
        } else {
            found.negative |= x[j] < 0;
            total[j] += Above ? (x[j] > threshold ? w : 0.0) : w * x[j];
        }
    }
}

template <bool Above>
CANDIDE_INLINE void add_tile(const Tile& tile, double threshold, double* total, double* missing, Findings& found) {
    const std::size_t n = tile.n_columns;
    for (std::size_t r = 0; r < tile.n_rows; ++r) {
        const double* x = tile.x + r * n;
        const double w = tile.weight ? tile.weight[r] : 1.0;
        const std::size_t at = static_cast<std::size_t>(tile.classes[r]) * n;
        double* sum = total + at;
        if (!all_finite(x, n)) [[unlikely]] {
            add_odd_row<Above>(x, n, w, threshold, sum, missing + at, found);
            continue;
        }
        if constexpr (Above) {
            for (std::size_t j = 0; j < n; ++j) sum[j] += x[j] > threshold ? w : 0.0;
        } else {
            found.negative |= any_negative(x, n);
            for (std::size_t j = 0; j < n; ++j) sum[j] += w * x[j];
        }
    }
}

CANDIDE_CLONES void add_values(const Tile& tile, double* total, double* missing, Findings& found) {
    add_tile<false>(tile, 0.0, total, missing, found);
}

CANDIDE_CLONES void add_above(const Tile& tile, double threshold, double* total, double* missing, Findings& found) {
    add_tile<true>(tile, threshold, total, missing, found);
}

void add_in_order(std::vector<std::vector<double>>& parts, double* total) {
    for (auto& part : parts) {
        for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
        part = {};
    }
}

// Rows in the order of their classes, so that the sums of one class stay in the cache while its rows pass by.
struct ByClass {
    std::vector<std::size_t> order;
    std::vector<std::size_t> begin;

    ByClass(const std::int32_t* classes, std::size_t n_rows, std::size_t n_classes)
        : order(n_rows), begin(n_classes + 1) {
        for (std::size_t r = 0; r < n_rows; ++r) ++begin[static_cast<std::size_t>(classes[r]) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        auto next = begin;
        for (std::size_t r = 0; r < n_rows; ++r)
            order[next[static_cast<std::size_t>(classes[r])]++] = r;
    }
};

// What a known cell contributes.
template <Cell What>
inline double measure(double x, double threshold, double center) {
    if constexpr (What == Cell::above) return x > threshold ? 1.0 : 0.0;
    if constexpr (What == Cell::deviation) return (x - center) * (x - center);
    if constexpr (What == Cell::observed) return 1.0;
    if constexpr (What == Cell::missing) return 0.0;
    return x;
}

template <Cell What, class Index>
void add_row(const Rows<Index>& rows, std::size_t row, double w, const Request& request, const double* center,
             double* sum, std::vector<double>& scratch, Findings& found) {
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
        sum[j] += w * measure<What>(x[k], request.threshold, What == Cell::deviation ? center[j] : 0.0);
    }
}

// The kind of cell is fixed for a whole call: resolve it once, outside the loops.
template <class Visit>
auto with_cell(Cell cell, Visit&& visit) {
    switch (cell) {
        case Cell::above: return visit(std::integral_constant<Cell, Cell::above>{});
        case Cell::observed: return visit(std::integral_constant<Cell, Cell::observed>{});
        case Cell::missing: return visit(std::integral_constant<Cell, Cell::missing>{});
        case Cell::deviation: return visit(std::integral_constant<Cell, Cell::deviation>{});
        default: return visit(std::integral_constant<Cell, Cell::value>{});
    }
}

template <class Index>
std::size_t stored(const Rows<Index>& rows) {
    return rows.n_rows ? static_cast<std::size_t>(rows.indptr[rows.n_rows] - rows.indptr[0]) : 0;
}

// Every class cut into parts of bounded size, each with a row of sums of its own. Threads share the parts, and each walks
// the rows in the order in which they lie: picking the rows of one class after the other would cost a page miss a row,
// three times the work itself. A part's sums do not depend on who adds them.
struct Parts {
    std::vector<std::int32_t> of_row;
    std::vector<std::size_t> cls, size;
    std::vector<bool> first;

    template <class Index>
    Parts(const Rows<Index>& rows, const std::int32_t* classes, std::size_t n_classes) : of_row(rows.n_rows) {
        // A further part needs a row of sums; with eight cells a column that is a twelfth of the data.
        const std::size_t limit = std::max<std::size_t>(1 << 20, 8 * rows.n_columns);
        std::vector<std::int32_t> current(n_classes, -1);
        for (std::size_t r = 0; r < rows.n_rows; ++r) {
            std::int32_t& part = current[static_cast<std::size_t>(classes[r])];
            if (part < 0 || size[static_cast<std::size_t>(part)] >= limit) {
                first.push_back(part < 0);
                part = static_cast<std::int32_t>(size.size());
                size.push_back(0);
                cls.push_back(static_cast<std::size_t>(classes[r]));
            }
            size[static_cast<std::size_t>(part)] += rows.size(r) + 1;
            of_row[r] = part;
        }
    }

    // Which thread adds which part: the largest first, each to the one with the least to do.
    std::vector<std::size_t> share(std::size_t n_threads) const {
        std::vector<std::size_t> order(size.size()), owner(size.size()), load(n_threads, 0);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
        for (const std::size_t part : order) {
            const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
            owner[part] = least;
            load[least] += size[part];
        }
        return owner;
    }
};

}  // namespace

Findings tally(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
               std::optional<double> threshold, int n_threads, double* total, double* missing) {
    const std::size_t n = table.n_columns, step = tile_rows(n);
    const Shards shards(table.n_rows, n_classes);
    // The first shard writes into the result itself.
    std::vector<std::vector<double>> totals(shards.count - 1), gaps(shards.count - 1);
    std::vector<Findings> found(shards.count);
    parallel_for(shards.count, table.n_rows * n, n_threads, [&](std::size_t s) {
        double *sum = total, *gap = missing;
        if (s > 0) {
            totals[s - 1].assign(n_classes * n, 0.0);
            gaps[s - 1].assign(n_classes * n, 0.0);
            sum = totals[s - 1].data();
            gap = gaps[s - 1].data();
        }
        std::vector<double> scratch;
        for (std::size_t begin = shards.begin(s); begin < shards.end(s); begin += step) {
            const std::size_t end = std::min(begin + step, shards.end(s));
            const Tile tile{table.rows(begin, end, scratch), end - begin, n, classes + begin,
                            weight ? weight + begin : nullptr};
            if (threshold)
                add_above(tile, *threshold, sum, gap, found[s]);
            else
                add_values(tile, sum, gap, found[s]);
        }
        if (s > 0 && !found[s].missing) gaps[s - 1] = {};
    });
    add_in_order(totals, total);
    add_in_order(gaps, missing);
    for (std::size_t s = 1; s < found.size(); ++s) found[0].add(found[s]);
    return found[0];
}

template <class Index>
Findings tally_rows(const Rows<Index>& rows, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                    const Request& request, int n_threads, double* total) {
    for (std::size_t r = 0; r < rows.n_rows; ++r) rows.check_bounds(r);
    const std::size_t n = rows.n_columns;
    const Parts parts(rows, classes, n_classes);
    const std::size_t n_owners = stored(rows) < kSmallWork ? 1 : static_cast<std::size_t>(std::max(1, n_threads));
    const auto owner = parts.share(n_owners);
    std::vector<std::vector<double>> extra(parts.size.size());
    std::vector<double*> sums(parts.size.size());
    for (std::size_t p = 0; p < sums.size(); ++p) {
        if (!parts.first[p]) extra[p].assign(n, 0.0);
        sums[p] = parts.first[p] ? total + parts.cls[p] * n : extra[p].data();
    }
    std::vector<Findings> found(n_owners);
    parallel_for(n_owners, stored(rows), n_threads, [&](std::size_t me) {
        std::vector<double> scratch;
        Findings mine;
        with_cell(request.cell, [&](auto cell) {
            for (std::size_t r = 0; r < rows.n_rows; ++r) {
                const auto part = static_cast<std::size_t>(parts.of_row[r]);
                if (owner[part] != me) continue;
                rows.check_columns(r);
                const double* center = request.center ? request.center + parts.cls[part] * n : nullptr;
                add_row<cell.value>(rows, r, weight ? weight[r] : 1.0, request, center, sums[part], scratch, mine);
            }
        });
        found[me] = mine;
    });
    for (std::size_t p = 0; p < extra.size(); ++p)
        for (std::size_t j = 0; j < extra[p].size(); ++j) total[parts.cls[p] * n + j] += extra[p][j];
    for (std::size_t i = 1; i < found.size(); ++i) found[0].add(found[i]);
    return found[0];
}

template <class Index>
SparseTotals tally_rows_sparse(const Rows<Index>& rows, const std::int32_t* classes, const double* weight,
                               std::size_t n_classes, const Request& request, int n_threads) {
    const ByClass by_class(classes, rows.n_rows, n_classes);
    // A stretch of classes is one task with one dense row of sums, cleared by the list of the cells it touched.
    const std::size_t n_tasks = std::min<std::size_t>(64, n_classes);
    std::vector<SparseTotals> parts(n_tasks);
    parallel_for(n_tasks, stored(rows), n_threads, [&](std::size_t t) {
        SparseTotals& part = parts[t];
        std::vector<double> sum(rows.n_columns, 0.0), scratch;
        std::vector<char> seen(rows.n_columns, 0);
        std::vector<std::int64_t> touched;
        for (std::size_t c = t * n_classes / n_tasks; c < (t + 1) * n_classes / n_tasks; ++c) {
            for (std::size_t i = by_class.begin[c]; i < by_class.begin[c + 1]; ++i) {
                const std::size_t r = by_class.order[i];
                rows.check_bounds(r);
                rows.check_columns(r);
                for (Index k = rows.indptr[r]; k < rows.indptr[r + 1]; ++k) {
                    const auto j = static_cast<std::size_t>(rows.indices[k]);
                    if (!seen[j]) touched.push_back(static_cast<std::int64_t>(j));
                    seen[j] = 1;
                }
                with_cell(request.cell, [&](auto cell) {
                    const double* center = request.center ? request.center + c * rows.n_columns : nullptr;
                    add_row<cell.value>(rows, r, weight ? weight[r] : 1.0, request, center, sum.data(), scratch,
                                        part.findings);
                });
            }
            std::sort(touched.begin(), touched.end());
            for (const std::int64_t j : touched) {
                const auto at = static_cast<std::size_t>(j);
                if (sum[at] != 0.0) {
                    part.indices.push_back(j);
                    part.values.push_back(sum[at]);
                }
                sum[at] = 0.0;
                seen[at] = 0;
            }
            touched.clear();
            part.indptr.push_back(static_cast<std::int64_t>(part.indices.size()));
        }
    });
    SparseTotals all;
    all.indptr.push_back(0);
    for (auto& part : parts) {
        const std::int64_t offset = all.indptr.back();
        for (const std::int64_t end : part.indptr) all.indptr.push_back(offset + end);
        all.indices.insert(all.indices.end(), part.indices.begin(), part.indices.end());
        all.values.insert(all.values.end(), part.values.begin(), part.values.end());
        all.findings.add(part.findings);
        part = {};
    }
    return all;
}

#define CANDIDE_INSTANTIATE(Index)                                                                                   \
    template Findings tally_rows(const Rows<Index>&, const std::int32_t*, const double*, std::size_t, const Request&, \
                                 int, double*);                                                                      \
    template SparseTotals tally_rows_sparse(const Rows<Index>&, const std::int32_t*, const double*, std::size_t,     \
                                            const Request&, int);
CANDIDE_INSTANTIATE(std::int32_t)
CANDIDE_INSTANTIATE(std::int64_t)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
