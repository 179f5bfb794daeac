#include "log_series.hpp"

#include <cmath>

#include "elementary.hpp"

namespace candide {
namespace {

CANDIDE_CLONES LogSeries::Row add_row(const double* x, std::size_t n, double weight, const double* logs,
                                      const double* inverses) {
    Pack sum{}, cells{}, most{};
    each_pack(x, n, [&](std::size_t j, const Pack& cell) CANDIDE_INLINE_LAMBDA {
        const Pack none{}, count = cell > none ? cell : none, part = weight * count * loaded<Pack>(inverses + j);
        most = part > most ? part : most;
        Pack series = part * (1.0 / 5) + 1.0 / 4;
        series = series * part + 1.0 / 3;
        series = series * part + 1.0 / 2;
        series = series * part + 1.0;
        sum += count * (loaded<Pack>(logs + j) - series * part);
        cells += count;
    });
    double parts[kPack], largest = 0.0;
    store(parts, most);
    for (const double part : parts) largest = part > largest ? part : largest;
    return {total(sum), total(cells), largest};
}

}  // namespace

LogSeries::LogSeries(const Table& rows, const Totals& totals, std::size_t n_classes)
    : stride_(padded(rows.n_columns)), logs_(n_classes * stride_), inverses_(n_classes * stride_) {
    for (std::size_t c = 0; c < n_classes; ++c)
        for (std::size_t j = 0; j < rows.n_columns; ++j) {
            const std::size_t from = c * rows.n_columns + j, to = c * stride_ + j;
            const double all = totals.count[from] + (totals.pseudo ? totals.pseudo[from] : totals.even);
            // Of nothing, any count is too large a part.
            logs_[to] = all > 0.0 ? std::log(all) : 0.0;
            inverses_[to] = all > 0.0 ? 1.0 / all : 1e300;
        }
}

LogSeries::Row LogSeries::add_up(const double* x, std::size_t n, double weight, std::size_t c) const {
    return add_row(x, n, weight, logs_.data() + c * stride_, inverses_.data() + c * stride_);
}

}  // namespace candide
