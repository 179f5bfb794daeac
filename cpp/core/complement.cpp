#include "complement.hpp"

#include <algorithm>
#include <vector>

#include "by_column.hpp"
#include "each_row.hpp"
#include "elementary.hpp"
#include "entries.hpp"
#include "gather.hpp"
#include "own.hpp"

namespace candide {
namespace {

// One cell under every class.
CANDIDE_CLONES void add_cell(const double* others, double x, double weight, std::size_t n_classes, double* sum,
                             double* zeros) {
    for (std::size_t c = 0; c < n_classes; c += kPack) {
        const Pack all = loaded<Pack>(others + c), left = all - weight * x, none{};
        const Pack lost = left <= kRest * all ? none + x : none;
        store(sum + c, loaded<Pack>(sum + c) + x * logarithm(lost > none ? none + 1.0 : left));
        store(zeros + c, loaded<Pack>(zeros + c) + lost);
    }
}

// log(others - 1) of one column; returns whether something is left everywhere.
CANDIDE_CLONES bool log_without_one(const double* others, std::size_t n_classes, double* out) {
    bool all_left = true;
    for (std::size_t c = 0; c < n_classes; ++c) all_left &= others[c] - 1.0 > kRest * others[c];
    if (!all_left) return false;
    each_pack(others, n_classes, [&](std::size_t c, const Pack& all) CANDIDE_INLINE_LAMBDA {
        store_up_to(n_classes - c, out + c, logarithm(all - 1.0));
    });
    return true;
}

// Most cells of a text are 1, of rows that weigh 1: what these add is computed once for each column.
class Ones {
  public:
    Ones(const ByColumn& others, std::size_t n_classes, std::size_t n_columns, bool wanted, int n_threads)
        : stride_((n_classes + 3) / 4 * 4), usable_(wanted ? n_columns : 0), logs_(usable_.size() * stride_) {
        ByColumn::each_column(usable_.size(), n_classes, n_threads, [&](std::size_t j) {
            std::vector<double> scratch;
            usable_[j] = log_without_one(others.column(j, scratch), n_classes, logs_.data() + j * stride_);
        });
    }

    bool has(std::size_t column) const { return !usable_.empty() && usable_[column]; }
    void add(const std::vector<std::int64_t>& columns, double* sum) const {
        add_picked(columns.data(), nullptr, columns.size(), logs_.data(), stride_, sum);
    }

  private:
    std::size_t stride_;
    std::vector<char> usable_;  // columns in which every class keeps something
    AlignedDoubles logs_;
};

struct Scratch {
    std::vector<double> sums, zeros, column;
    std::vector<std::int64_t> ones;
};

}  // namespace

template <class Data>
Findings left_out_complement(const Members<Data>& members, const double* others, int n_threads, double* sums,
                             double* zeros) {
    const std::size_t n_classes = members.n_classes, n_columns = members.rows.n_columns;
    const bool many = count_cells(members.rows) >= n_columns;
    const ByColumn columns(others, n_classes, n_columns, many, n_threads);
    const Ones ones(columns, n_classes, n_columns, many && !members.weights, n_threads);
    const auto own = entries_of(members.rows, others, n_classes);
    auto score = [&](std::size_t r, const auto& cells, Scratch& scratch) {
        scratch.sums.assign(columns.width(), 0.0);
        scratch.zeros.assign(columns.width(), 0.0);
        scratch.ones.clear();
        const double weight = members.weight(r);
        for (std::size_t k = 0; k < cells.n; ++k) {
            const double x = cells.x[k];
            if (!(x > 0.0)) continue;
            const std::size_t j = cells.column(k);
            if (x == 1.0 && ones.has(j))
                scratch.ones.push_back(static_cast<std::int64_t>(j));
            else
                add_cell(columns.column(j, scratch.column), x, weight, n_classes, scratch.sums.data(),
                         scratch.zeros.data());
        }
        ones.add(scratch.ones, scratch.sums.data());
        const std::size_t c = members.own(r);
        const LogSum kept = log_sum_row(cells.x, own.of(c, cells, scratch.column), 0.0, cells.n);
        std::copy_n(scratch.sums.begin(), n_classes, sums + r * n_classes);
        std::copy_n(scratch.zeros.begin(), n_classes, zeros + r * n_classes);
        sums[r * n_classes + c] = kept.sum;
        zeros[r * n_classes + c] = kept.zeros;
    };
    return each_row<Scratch>(members.rows, 8 * n_classes, {true, {}}, n_threads, score);
}

#define CANDIDE_INSTANTIATE(Data) \
    template Findings left_out_complement(const Members<Data>&, const double*, int, double*, double*);
CANDIDE_INSTANTIATE(Table)
CANDIDE_INSTANTIATE(Rows<std::int32_t>)
CANDIDE_INSTANTIATE(Rows<std::int64_t>)
#undef CANDIDE_INSTANTIATE

}  // namespace candide
