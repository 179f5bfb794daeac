#include "grid.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "cell_table.hpp"
#include "keys.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

// Up to here every cell has room for all classes; beyond, rows are looked at again once the cells are known.
constexpr std::size_t kFewClasses = 16;
constexpr std::size_t kChunk = 1024;
// Rows of which several columns are read, one after the other, while they are in the cache.
constexpr std::size_t kTileRows = 8192;
constexpr std::size_t kShardRows = 1 << 17;
constexpr std::size_t kTasks = 8;

struct Source {
    const Table& table;
    const std::int32_t* classes;
    const double* weight;
    std::size_t n_classes, limit;

    bool few_classes() const { return n_classes <= kFewClasses; }
};

// Calls `visit(first row, number of rows, keys, weights)` for chunks of a column; rows of weight 0 miss theirs.
// Returns whether a number was infinite.
template <class Visit>
bool each_chunk(const Source& source, std::size_t j, std::size_t begin, std::size_t end, Visit&& visit) {
    static const std::vector<double> ones(kChunk, 1.0);
    std::uint64_t keys[kChunk];
    bool infinite = false;
    Steps steps;
    for (std::size_t first = begin; first < end; first += kChunk) {
        const std::size_t last = std::min(first + kChunk, end);
        steps.add(4 * kChunk);
        infinite |= read_keys(source.table.columns[j], first, last, keys);
        const double* weight = source.weight ? source.weight + first : ones.data();
        if (source.weight)
            for (std::size_t i = 0; i < last - first; ++i) keys[i] = weight[i] == 0.0 ? kMissingKey : keys[i];
        visit(first, last - first, keys, weight);
    }
    return infinite;
}

bool fill(const Source& source, std::size_t j, std::size_t begin, std::size_t end, CellTable& cells) {
    return each_chunk(source, j, begin, end, [&](std::size_t first, std::size_t n, const auto* keys, const auto* w) {
        const std::int32_t* classes = source.classes + first;
        if (source.few_classes())
            for (std::size_t i = 0; i < n; ++i) cells.at(keys[i])[classes[i]] += w[i];
        else
            for (std::size_t i = 0; i < n; ++i) *cells.at(keys[i]) += w[i];
    });
}

void end_cell(std::uint64_t key, unsigned shift, Grid& out) {
    out.key.push_back(key);
    out.shift.push_back(static_cast<std::uint8_t>(shift));
    out.indptr.push_back(static_cast<std::int64_t>(out.classes.size()));
}

void write_few(CellTable& cells, std::size_t n_classes, Grid& out) {
    cells.settle([&](std::uint64_t key, unsigned shift, const double* weight) {
        for (std::size_t c = 0; c < n_classes; ++c) {
            if (weight[c] == 0.0) continue;
            out.classes.push_back(static_cast<std::int32_t>(c));
            out.weight.push_back(weight[c]);
        }
        end_cell(key, shift, out);
    });
}

// The rows of each cell side by side: rows begin[k] ... begin[k + 1] - 1 of `order` are those of cell k.
struct ByCell {
    std::vector<std::size_t> begin;
    std::vector<std::size_t> order;
};

ByCell rows_by_cell(const Source& source, std::size_t j, CellTable& cells, std::size_t n_cells) {
    std::vector<std::size_t> place(source.table.n_rows);
    ByCell out{std::vector<std::size_t>(n_cells + 2), {}};
    each_chunk(source, j, 0, source.table.n_rows, [&](std::size_t first, std::size_t n, const auto* keys, const auto*) {
        for (std::size_t i = 0; i < n; ++i) {
            place[first + i] = keys[i] == kMissingKey ? n_cells : static_cast<std::size_t>(*cells.at(keys[i]));
            ++out.begin[place[first + i] + 1];
        }
    });
    for (std::size_t k = 0; k <= n_cells; ++k) out.begin[k + 1] += out.begin[k];
    out.order.resize(source.table.n_rows);
    std::vector<std::size_t> next = out.begin;
    for (const auto [first, last] : Ranges(place.size())) {
        for (std::size_t r = first; r < last; ++r) out.order[next[place[r]]++] = r;
    }
    return out;
}

// Adds up the rows of one cell by class; `sum` is all zeros, before and after.
void write_classes(const Source& source, const ByCell& rows, std::size_t cell, std::vector<double>& sum, Grid& out) {
    const std::size_t first = out.classes.size();
    for (std::size_t i = rows.begin[cell]; i < rows.begin[cell + 1]; ++i) {
        const std::int32_t c = source.classes[rows.order[i]];
        double& own = sum[static_cast<std::size_t>(c)];
        if (own == 0.0) out.classes.push_back(c);
        own += source.weight ? source.weight[rows.order[i]] : 1.0;
    }
    std::sort(out.classes.begin() + static_cast<std::ptrdiff_t>(first), out.classes.end());
    for (std::size_t k = first; k < out.classes.size(); ++k)
        out.weight.push_back(std::exchange(sum[static_cast<std::size_t>(out.classes[k])], 0.0));
}

void write_many(const Source& source, std::size_t j, CellTable& cells, Grid& out) {
    std::vector<std::pair<std::uint64_t, unsigned>> settled;
    cells.settle([&](std::uint64_t key, unsigned shift, double* weight) {
        *weight = static_cast<double>(settled.size());  // from here on, where the cell stands
        settled.emplace_back(key, shift);
    });
    const ByCell rows = rows_by_cell(source, j, cells, settled.size());
    std::vector<double> sum(source.n_classes);
    Steps steps;
    for (std::size_t k = 0; k < settled.size(); ++k) {
        steps.add(8 * (rows.begin[k + 1] - rows.begin[k]));
        write_classes(source, rows, k, sum, out);
        end_cell(settled[k].first, settled[k].second, out);
    }
}

// The work on all columns: a task reads a block of columns and a shard of rows. The shards of a column are few, as each
// fills a table of its own; they depend on the shape of the data alone, and are joined in order.
class Gathering {
  public:
    explicit Gathering(const Source& source)
        : source_(source),
          n_columns_(source.table.n_columns),
          // Columns that lie side by side come with the same cache lines.
          block_(source.table.row_major ? std::clamp<std::size_t>(n_columns_ / kTasks, 1, 8) : 1),
          n_blocks_((n_columns_ + block_ - 1) / block_),
          shards_(std::clamp<std::size_t>(kTasks / std::max<std::size_t>(1, n_blocks_), 1,
                                          std::max<std::size_t>(1, source.table.n_rows / kShardRows))),
          tables_(n_columns_ * shards_),
          columns_(n_columns_) {}

    Grid run(int n_threads) {
        const std::size_t work = 4 * source_.table.n_rows * n_columns_;
        parallel_for(n_blocks_ * shards_, work, n_threads, [&](std::size_t task) {
            const std::size_t first = task / shards_ * block_, last = std::min(first + block_, n_columns_);
            read(first, last, task % shards_);
            for (std::size_t j = first; j < last && shards_ == 1; ++j) finish(j);
        });
        if (shards_ > 1) parallel_for(n_columns_, work, n_threads, [&](std::size_t j) { finish(j); });
        Grid out;
        for (Grid& column : columns_) {
            check_stop();
            out.append_column(std::move(column));
        }
        out.infinite = infinite_;
        return out;
    }

  private:
    std::unique_ptr<CellTable>& table(std::size_t j, std::size_t shard) { return tables_[j * shards_ + shard]; }

    void read(std::size_t first, std::size_t last, std::size_t shard) {
        const std::size_t n = source_.table.n_rows, begin = n * shard / shards_, end = n * (shard + 1) / shards_;
        for (std::size_t j = first; j < last; ++j)
            table(j, shard) = std::make_unique<CellTable>(source_.few_classes() ? source_.n_classes : 1, source_.limit);
        Steps steps;
        for (std::size_t r = begin; r < end; r += kTileRows)
            for (std::size_t j = first; j < last; ++j, steps.add(4 * kTileRows))
                if (fill(source_, j, r, std::min(r + kTileRows, end), *table(j, shard))) infinite_ = true;
    }

    void finish(std::size_t j) {
        for (std::size_t s = 1; s < shards_; ++s) {
            table(j, 0)->absorb(*table(j, s));
            table(j, s).reset();
        }
        if (source_.few_classes())
            write_few(*table(j, 0), source_.n_classes, columns_[j]);
        else
            write_many(source_, j, *table(j, 0), columns_[j]);
        table(j, 0).reset();
    }

    Source source_;
    std::size_t n_columns_, block_, n_blocks_, shards_;
    std::vector<std::unique_ptr<CellTable>> tables_;
    std::vector<Grid> columns_;
    std::atomic<bool> infinite_{false};
};

}  // namespace

void Grid::append_column(Grid&& column) {
    const std::int64_t stored = indptr.back();
    key.insert(key.end(), column.key.begin(), column.key.end());
    shift.insert(shift.end(), column.shift.begin(), column.shift.end());
    for (std::size_t k = 1; k < column.indptr.size(); ++k) indptr.push_back(stored + column.indptr[k]);
    classes.insert(classes.end(), column.classes.begin(), column.classes.end());
    weight.insert(weight.end(), column.weight.begin(), column.weight.end());
    offsets.push_back(static_cast<std::int64_t>(key.size()));
    column = {};
}

Grid grid(const Table& table, const std::int32_t* classes, const double* weight, std::size_t n_classes,
          std::size_t limit, int n_threads) {
    Gathering gathering({table, classes, weight, n_classes, limit});
    return gathering.run(n_threads);
}

}  // namespace candide
