// Scores of rows under their own class alone, at the cost of one class; where totals contain the row, without it.
// Tables are (n_classes, n_columns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "findings.hpp"
#include "log_series.hpp"
#include "members.hpp"
#include "rows.hpp"
#include "totals.hpp"

namespace candide {

// The sum of x * weight of one row; a missing cell adds `absent` instead (null: nothing).
double linear_row(const double* x, const double* weights, const double* absent, std::size_t n);

// Of one row: sums of x * log(count - weight * x + pseudo), of the x whose logarithm is that of 0, and of all x.
struct LogSum {
    double sum, zeros, cells;
};
LogSum log_sum_row(const double* x, const Totals& own, double weight, std::size_t n);

// The same of all rows, an array each.
struct LogSums {
    double *sums, *zeros, *cells;

    LogSums from(std::size_t row) const { return {sums + row, zeros + row, cells + row}; }
    void put(std::size_t row, const LogSum& sum) const {
        sums[row] = sum.sum;
        zeros[row] = sum.zeros;
        cells[row] = sum.cells;
    }
};

// Row by row, under the row's own class. Missing cells add nothing.
template <class Data>
class OwnLogSums {
  public:
    using Scratch = TotalsScratch;

    OwnLogSums(const Members<Data>& members, const Totals& totals, int n_threads, const LogSums& out)
        : members_(members),
          totals_(own_totals(members.rows, totals, members.n_classes, n_threads)),
          series_(members.rows, totals, members.n_classes),
          out_(out) {}

    template <class Cells>
    void operator()(std::size_t r, const Cells& cells, Scratch& scratch) const {
        const std::size_t own = members_.own(r);
        const double weight = members_.weight(r);
        if constexpr (std::is_same_v<Data, Table>) {
            const LogSeries::Row quick = series_.add_up(cells.x, cells.n, weight, own);
            if (weight > 0.0 && quick.most <= LogSeries::kMost) return out_.put(r, {quick.sum, 0.0, quick.cells});
        }
        out_.put(r, log_sum_row(cells.x, totals_.of(own, cells, scratch), weight, cells.n));
    }

  private:
    using Entries = decltype(entries_of(std::declval<const Data&>(), nullptr, 0, 1));
    Members<Data> members_;
    OwnTotals<Entries> totals_;
    LogSeries series_;
    LogSums out_;
};

// The linear score (score.hpp), row by row, by tables of (n_classes, n_columns).
template <class Data>
class OwnLinear {
  public:
    using Scratch = std::pair<std::vector<double>, std::vector<double>>;

    OwnLinear(const Members<Data>& members, const double* weights, const double* base, const double* absent,
              int n_threads, double* out)
        : members_(members),
          weights_(entries_of(members.rows, weights, members.n_classes, n_threads)),
          gaps_(entries_of(members.rows, absent, members.n_classes, n_threads)),
          base_(base),
          has_gaps_(absent != nullptr),
          out_(out) {}

    template <class Cells>
    void operator()(std::size_t r, const Cells& cells, Scratch& scratch) const {
        const std::size_t c = members_.own(r);
        const double* gap = has_gaps_ && !cells.found.finite() ? gaps_.of(c, cells, scratch.second) : nullptr;
        out_[r] = base_[c] + linear_row(cells.x, weights_.of(c, cells, scratch.first), gap, cells.n);
    }

  private:
    using Entries = decltype(entries_of(std::declval<const Data&>(), nullptr, 0, 1));
    Members<Data> members_;
    Entries weights_, gaps_;
    const double* base_;
    bool has_gaps_;
    double* out_;
};

}  // namespace candide
