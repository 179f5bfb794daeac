#include "tally_sparse.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"

namespace candide {
namespace {

// Rows in the order of their classes, so that the sums of one class stay in the cache while its rows pass by.
struct ByClass {
    std::vector<std::size_t> order;
    std::vector<std::size_t> begin;

    ByClass(const std::int32_t* classes, std::size_t n_rows, std::size_t n_classes)
        : order(n_rows), begin(n_classes + 1) {
        for (std::size_t r = 0; r < n_rows; ++r) ++begin[static_cast<std::size_t>(classes[r]) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        auto next = begin;
        for (const auto [first, last] : Ranges(n_rows)) {
            for (std::size_t r = first; r < last; ++r) order[next[static_cast<std::size_t>(classes[r])]++] = r;
        }
    }
};

// The sums of one class, in one dense row that is cleared by the list of the cells it touched.
struct ClassSums {
    std::vector<double> sum, scratch;
    std::vector<char> seen;
    std::vector<std::int64_t> touched;

    explicit ClassSums(std::size_t n_columns) : sum(n_columns, 0.0), seen(n_columns, 0) {}

    template <class Index>
    void add(const Rows<Index>& rows, std::size_t row, double weight, const Request& request, Findings& found) {
        rows.check_bounds(row);
        rows.check_columns(row);
        for (Index k = rows.indptr[row]; k < rows.indptr[row + 1]; ++k) {
            const auto j = static_cast<std::size_t>(rows.indices[k]);
            if (!seen[j]) touched.push_back(static_cast<std::int64_t>(j));
            seen[j] = 1;
        }
        with_cell(request.cell, [&](auto cell) {
            add_row<cell.value>(rows, row, weight, request.threshold, nullptr, sum.data(), scratch, found);
        });
    }

    // Hands over the cells that are not 0, as the next row.
    void move_to(SparseTotals& out) {
        std::sort(touched.begin(), touched.end());
        for (const std::int64_t j : touched) {
            const auto at = static_cast<std::size_t>(j);
            if (sum[at] != 0.0) {
                out.indices.push_back(j);
                out.values.push_back(sum[at]);
            }
            sum[at] = 0.0;
            seen[at] = 0;
        }
        touched.clear();
        out.indptr.push_back(static_cast<std::int64_t>(out.indices.size()));
    }
};

// The ranges of classes one after the other.
SparseTotals stack(std::vector<SparseTotals>& parts) {
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

}  // namespace

template <class Index>
SparseTotals tally_rows_sparse(const Rows<Index>& rows, const std::int32_t* classes, const double* weight,
                               std::size_t n_classes, const Request& request, int n_threads) {
    const ByClass by_class(classes, rows.n_rows, n_classes);
    // A range of classes is one task.
    const std::size_t n_tasks = std::min<std::size_t>(64, n_classes);
    std::vector<SparseTotals> parts(n_tasks);
    parallel_for(n_tasks, rows.stored(), n_threads, [&](std::size_t t) {
        ClassSums sums(rows.n_columns);
        Steps steps;
        for (std::size_t c = t * n_classes / n_tasks; c < (t + 1) * n_classes / n_tasks; ++c) {
            for (std::size_t i = by_class.begin[c]; i < by_class.begin[c + 1]; ++i) {
                const std::size_t r = by_class.order[i];
                sums.add(rows, r, weight ? weight[r] : 1.0, request, parts[t].findings);
                steps.add(4 * rows.size(r) + 1);
            }
            sums.move_to(parts[t]);
        }
    });
    return stack(parts);
}

template SparseTotals tally_rows_sparse(const Rows<std::int32_t>&, const std::int32_t*, const double*, std::size_t,
                                        const Request&, int);
template SparseTotals tally_rows_sparse(const Rows<std::int64_t>&, const std::int32_t*, const double*, std::size_t,
                                        const Request&, int);

}  // namespace candide
