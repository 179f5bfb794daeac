#include "tally_rows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "parallel.hpp"

namespace candide {
namespace {

// Every class cut into parts of bounded size, each with a row of sums of its own. Threads share the parts, and each
// walks the rows in the order in which they lie: picking the rows of one class after the other would cost a page miss a
// row, three times the work itself. A part's sums do not depend on the thread that adds them.
struct Parts {
    std::vector<std::int32_t> of_row;
    std::vector<std::size_t> cls, size;
    std::vector<bool> first;

    template <class Index>
    Parts(const Rows<Index>& rows, const std::int32_t* classes, std::size_t n_classes) : of_row(rows.n_rows) {
        // A further part needs a row of sums; with eight cells a column that is a twelfth of the data.
        const std::size_t limit = std::max<std::size_t>(1 << 20, 8 * rows.n_columns);
        std::vector<std::int32_t> current(n_classes, -1);
        Steps steps;
        for (std::size_t r = 0; r < rows.n_rows; ++r) {
            steps.add(4);
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

template <class Index>
Findings tally_rows(const Rows<Index>& rows, const std::int32_t* classes, const double* weight, std::size_t n_classes,
                    const Request& request, int n_threads, double* total) {
    for (std::size_t r = 0; r < rows.n_rows; ++r) rows.check_bounds(r);
    const std::size_t n = rows.n_columns;
    const Parts parts(rows, classes, n_classes);
    const std::size_t n_owners = rows.stored() < kSmallWork ? 1 : static_cast<std::size_t>(std::max(1, n_threads));
    const auto owner = parts.share(n_owners);
    std::vector<std::vector<double>> extra(parts.size.size());
    std::vector<double*> sums(parts.size.size());
    for (std::size_t p = 0; p < sums.size(); ++p) {
        if (!parts.first[p]) extra[p].assign(n, 0.0);
        sums[p] = parts.first[p] ? total + parts.cls[p] * n : extra[p].data();
    }
    std::vector<Findings> found(n_owners);
    parallel_for(n_owners, rows.stored(), n_threads, [&](std::size_t me) {
        std::vector<double> scratch;
        Findings mine;
        Steps steps;
        with_cell(request.cell, [&](auto cell) {
            for (std::size_t r = 0; r < rows.n_rows; ++r) {
                const auto part = static_cast<std::size_t>(parts.of_row[r]);
                steps.add(2 * rows.size(r) + 1);
                if (owner[part] != me) continue;
                rows.check_columns(r);
                const double* center = request.center ? request.center + parts.cls[part] * n : nullptr;
                add_row<cell.value>(rows, r, weight ? weight[r] : 1.0, request.threshold, center, sums[part], scratch,
                                    mine);
            }
        });
        found[me] = mine;
    });
    Steps steps;
    for (std::size_t p = 0; p < extra.size(); ++p, steps.add(n))
        for (std::size_t j = 0; j < extra[p].size(); ++j) total[parts.cls[p] * n + j] += extra[p][j];
    return join(found);
}

template Findings tally_rows(const Rows<std::int32_t>&, const std::int32_t*, const double*, std::size_t, const Request&,
                             int, double*);
template Findings tally_rows(const Rows<std::int64_t>&, const std::int32_t*, const double*, std::size_t, const Request&,
                             int, double*);

}  // namespace candide
