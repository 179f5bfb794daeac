// log(total - x) of totals of which x is a small part, by a series: a third of the cost of a logarithm.
#pragma once

#include <cstddef>

#include "entries.hpp"
#include "totals.hpp"

namespace candide {

// Only for dense rows: picking two tables more costs sparse ones as much as it saves.
class LogSeries {
  public:
    // log(1 - u) = -(u + u²/2 + ... + u⁵/5) is true to the last digit of log(total) if u is at most this.
    static constexpr double kMost = 1.0 / 512;

    LogSeries(const Table& rows, const Totals& totals, std::size_t n_classes);
    template <class Index>
    LogSeries(const Rows<Index>&, const Totals&, std::size_t) {}

    struct Row {
        double sum, cells, most;
    };
    // Sums of x * log(total - weight * x), and of x; `most` is the largest part that an x had.
    Row add_up(const double* x, std::size_t n, double weight, std::size_t c) const;

  private:
    std::size_t stride_ = 0;
    std::vector<double> logs_, inverses_;
};

}  // namespace candide
