#include "token_tally.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "row_keeper.hpp"
#include "token_pass.hpp"

namespace candide {
namespace {

struct Labels {
    const std::int32_t* classes;
    const double* weight;  // null for 1 each
    std::size_t n_classes;

    std::size_t class_of(std::size_t row) const { return static_cast<std::size_t>(classes[row]); }
    double weight_of(std::size_t row) const { return weight ? weight[row] : 1.0; }
};

// Sums under codes that a list translates.
struct Part {
    ClassSums sums;
    const std::vector<Code>* codes = nullptr;

    std::size_t size(std::size_t c) const { return static_cast<std::size_t>(sums.indptr[c + 1] - sums.indptr[c]); }

    // The sums of a class, of tokens that are known in the end.
    template <class Visit>
    void each(std::size_t c, Visit&& visit) const {
        for (std::int64_t i = sums.indptr[c]; i < sums.indptr[c + 1]; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Code code = (*codes)[static_cast<std::size_t>(sums.codes[at])];
            if (code != kUnknown) visit(code, sums.occurrences[at], sums.texts[at]);
        }
    }
};

// A thread's sums over all its texts, a few cells for each token: for few classes and rows of weight 1, where whole
// numbers add up to the same in any order.
class CellKeeper {
  public:
    explicit CellKeeper(const Labels& labels) : labels_(labels), stride_(1 + 2 * labels.n_classes) {}

    void begin_text(std::size_t row) {
        ++text_;
        at_ = 1 + 2 * labels_.class_of(row);
    }

    void expect(Code code) {
        const std::size_t begin = static_cast<std::size_t>(code) * stride_;
        if (begin >= cells_.size()) cells_.resize(begin + stride_);
        prefetch(&cells_[begin]);
    }

    void add(Code code, std::uint32_t times) {
        std::uint32_t* cells = cells_.data() + static_cast<std::size_t>(code) * stride_;
        cells[at_] += times;
        cells[at_ + 1] += cells[0] != text_;
        cells[0] = text_;
    }

    void end_shard(std::size_t, const std::vector<Code>&) {}

    ClassSums sums() const {
        ClassSums sums;
        for (std::size_t c = 0; c < labels_.n_classes; ++c) {
            for (const auto [first, last] : Ranges(cells_.size() / stride_))
                for (std::size_t code = first; code < last; ++code) {
                    const std::uint32_t* cell = cells_.data() + code * stride_ + 1 + 2 * c;
                    if (cell[0]) sums.append(code, cell[0], cell[1]);
                }
            sums.end_class();
        }
        return sums;
    }

  private:
    Labels labels_;
    std::size_t stride_, at_ = 0;
    std::uint32_t text_ = 0;
    std::vector<std::uint32_t> cells_;  // for each token its last text, counted from 1; then for each class
                                        // occurrences and texts
};

// Whether 32-bit numbers hold all sums, and the cells of all classes are as good as the few that are not 0; of short
// texts they are not, where buckets are many.
bool fits_cells(Texts texts, const Labels& labels) {
    constexpr std::size_t kFewClasses = 8, kLeast = 1 << 20, kMost = std::numeric_limits<std::uint32_t>::max();
    const std::size_t units = total_units(texts);
    return !labels.weight && labels.n_classes <= kFewClasses && texts.size() < kMost && kLeast < units && units < kMost;
}

// Rows of a shard in the order of their classes, and where each class ends.
std::vector<std::size_t> by_class(const Labels& labels, std::size_t first, std::size_t n,
                                  std::vector<std::size_t>& ends) {
    std::vector<std::size_t> order(n);
    ends.assign(labels.n_classes + 1, 0);
    for (std::size_t r = 0; r < n; ++r) ++ends[labels.class_of(first + r) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (std::size_t r = 0; r < n; ++r) order[ends[labels.class_of(first + r)]++] = r;
    return order;
}

// The sums of a shard; its first row is given.
ClassSums sums_of(const ShardRows& rows, std::size_t first, const Labels& labels, OneClass& one) {
    ClassSums sums;
    sums.reserve(rows.tokens.size());
    std::vector<std::size_t> ends;
    const auto order = by_class(labels, first, rows.size(), ends);
    Steps steps;
    for (std::size_t c = 0, i = 0; c < labels.n_classes; ++c) {
        for (; i < ends[c]; ++i) {
            const double weight = labels.weight_of(first + order[i]);
            steps.add(8 * (rows.end(order[i]) - rows.begin(order[i])));
            for (std::size_t at = rows.begin(order[i]); at < rows.end(order[i]); ++at)
                one.add(rows.tokens[at], weight * rows.counts[at], weight);
        }
        one.move_to(sums);
    }
    return sums;
}

// Some classes of all parts, added in the order of the parts; `one` is empty.
ClassSums add_classes(const std::vector<Part>& parts, std::size_t n_codes, std::size_t begin, std::size_t end,
                      OneClass& one) {
    std::size_t most = 0;
    for (const Part& part : parts) most += static_cast<std::size_t>(part.sums.indptr[end] - part.sums.indptr[begin]);
    ClassSums total;
    total.reserve(std::min(most, n_codes * (end - begin)));
    one.make_room(n_codes);
    Steps steps;
    for (std::size_t c = begin; c < end; ++c) {
        steps.add(n_codes / 64);
        for (const Part& part : parts) {
            steps.add(8 * part.size(c));
            part.each(c, [&](Code code, double occurrences, double held) {
                one.add(static_cast<std::size_t>(code), occurrences, held);
            });
        }
        one.move_to(total);
    }
    return total;
}

// The same by sorting: for few sums among many codes, whose rows would cost more than all else.
ClassSums add_few(const std::vector<Part>& parts, std::size_t begin, std::size_t end) {
    struct Sum {
        Code code;
        double occurrences, texts;
    };
    ClassSums total;
    std::vector<Sum> sums;
    Steps steps;
    for (std::size_t c = begin; c < end; ++c) {
        steps.add(64 * sums.size() + 1);
        sums.clear();
        for (const Part& part : parts)
            part.each(c,
                      [&](Code code, double occurrences, double held) { sums.push_back({code, occurrences, held}); });
        // Equal codes stay in the order of the parts.
        std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.code < b.code; });
        for (std::size_t i = 0; i < sums.size();) {
            Sum one = sums[i];
            while (++i < sums.size() && sums[i].code == one.code) {
                one.occurrences += sums[i].occurrences;
                one.texts += sums[i].texts;
            }
            total.append(static_cast<std::size_t>(one.code), one.occurrences, one.texts);
        }
        total.end_class();
    }
    return total;
}

ClassSums add_parts(const std::vector<Part>& parts, std::size_t n_codes, std::size_t n_classes, int n_threads) {
    std::size_t stored = 0;
    for (const Part& part : parts) stored += part.sums.codes.size();
    const std::size_t n_tasks = std::min<std::size_t>(16, n_classes);
    std::vector<ClassSums> done(n_tasks);
    const bool few = 8 * stored < n_codes * n_classes;
    parallel_loops(n_tasks, 4 * stored, n_threads, [&](auto&& next) {
        OneClass one;  // of each thread
        for (std::size_t t; next(t);) {
            const std::size_t begin = t * n_classes / n_tasks, end = (t + 1) * n_classes / n_tasks;
            done[t] = few ? add_few(parts, begin, end) : add_classes(parts, n_codes, begin, end, one);
        }
    });
    std::size_t n_sums = 0;
    for (const ClassSums& part : done) n_sums += part.codes.size();
    ClassSums total;
    total.reserve(n_sums);
    for (const ClassSums& part : done) total.append(part);
    return total;
}

std::vector<TokenTally> tally_cells(Texts texts, const Labels& labels, const FeatureList& features, bool grow,
                                    int n_threads) {
    auto passes = pass_over<CellKeeper>(texts, pass_bounds(texts), features, grow, n_threads,
                                        [&](std::size_t) { return CellKeeper(labels); });
    std::vector<TokenTally> out;
    for (auto& pass : passes) {
        std::vector<Part> parts;
        for (const auto& worker : pass.workers) parts.push_back({worker->keeper.sums(), &worker->codes});
        out.push_back({add_parts(parts, pass.coding.size(), labels.n_classes, n_threads), pass.coding});
        pass.workers.clear();  // whose cells take more than all the rest
    }
    return out;
}

std::vector<TokenTally> tally_rows(Texts texts, const Labels& labels, const FeatureList& features, bool grow,
                                   int n_threads) {
    const auto bounds = pass_bounds(texts);
    std::vector<std::vector<Part>> parts(features.size(), std::vector<Part>(bounds.size() - 1));
    const auto keep_for = [&](std::size_t feature) {
        return RowKeeper(true, [&, feature, one = OneClass()](std::size_t shard, const ShardRows& rows) mutable {
            one.make_room(rows.n_codes);
            parts[feature][shard] = {sums_of(rows, bounds[shard], labels, one), rows.codes};
        });
    };
    const auto passes = pass_over<decltype(keep_for(0))>(texts, bounds, features, grow, n_threads, keep_for);
    std::vector<TokenTally> out;
    for (std::size_t k = 0; k < features.size(); ++k)
        out.push_back({add_parts(parts[k], passes[k].coding.size(), labels.n_classes, n_threads), passes[k].coding});
    return out;
}

}  // namespace

std::vector<TokenTally> tally_tokens(Texts texts, const std::int32_t* classes, const double* weight,
                                     std::size_t n_classes, const FeatureList& features, bool grow, int n_threads) {
    const Labels labels{classes, weight, n_classes};
    return (fits_cells(texts, labels) ? tally_cells : tally_rows)(texts, labels, features, grow, n_threads);
}

}  // namespace candide
