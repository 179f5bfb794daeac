#include "token_tally.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"

namespace candide {
namespace {

// Texts of a shard in the order of their classes.
std::vector<std::size_t> by_class(const std::int32_t* classes, std::size_t n, std::vector<std::size_t>& ends) {
    std::vector<std::size_t> order(n);
    for (std::size_t r = 0; r < n; ++r) ++ends[static_cast<std::size_t>(classes[r])];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (std::size_t r = n; r-- > 0;) order[--ends[static_cast<std::size_t>(classes[r])]] = r;
    std::rotate(ends.begin(), ends.begin() + 1, ends.end());
    ends.back() = n;
    return order;
}

template <class Local>
ClassSums sums_of(const ShardRows<Local>& rows, const std::int32_t* classes, const double* weight,
                  std::size_t n_classes) {
    ClassSums sums;
    OneClass one(rows.local().size());
    std::vector<std::size_t> ends(n_classes);
    const auto order = by_class(classes, rows.n_rows(), ends);
    for (std::size_t c = 0, i = 0; c < n_classes; ++c) {
        for (; i < ends[c]; ++i) {
            const std::size_t row = order[i];
            const double w = weight ? weight[row] : 1.0;
            for (std::size_t at = rows.begin(row); at < rows.end(row); ++at) {
                const Entry entry = rows.entries()[at];
                one.add(entry.code, w * entry.count, w);
            }
        }
        one.move_to(sums);
    }
    return sums;
}

// The shards' sums of some classes, added in the order of the shards.
ClassSums add_shards(const std::vector<ClassSums>& parts, const Pass& pass, std::size_t begin, std::size_t end) {
    ClassSums total;
    OneClass one(pass.coding.size());
    for (std::size_t c = begin; c < end; ++c) {
        for (std::size_t s = 0; s < parts.size(); ++s) {
            const ClassSums& part = parts[s];
            for (std::int64_t i = part.indptr[c]; i < part.indptr[c + 1]; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const Code code = pass.codes[s][static_cast<std::size_t>(part.codes[at])];
                if (code != kUnknown) one.add(static_cast<std::size_t>(code), part.occurrences[at], part.texts[at]);
            }
        }
        one.move_to(total);
    }
    return total;
}

ClassSums add_shards(const std::vector<ClassSums>& parts, const Pass& pass, std::size_t n_classes, int n_threads) {
    std::size_t stored = 0;
    for (const ClassSums& part : parts) stored += part.codes.size();
    const std::size_t n_tasks = std::min<std::size_t>(16, n_classes);
    std::vector<ClassSums> done(n_tasks);
    parallel_for(n_tasks, 4 * stored, n_threads, [&](std::size_t t) {
        done[t] = add_shards(parts, pass, t * n_classes / n_tasks, (t + 1) * n_classes / n_tasks);
    });
    ClassSums total;
    for (const ClassSums& part : done) total.append(part);
    return total;
}

}  // namespace

std::vector<TokenTally> tally_tokens(Texts texts, const std::int32_t* classes, const double* weight,
                                     std::size_t n_classes, const Looks& looks, bool grow, int n_threads) {
    const auto bounds = pass_bounds(texts);
    std::vector<std::vector<ClassSums>> parts(looks.size(), std::vector<ClassSums>(bounds.size() - 1));
    const auto add_up = [&](const Shard& shard, AnyShardRows& rows) {
        std::visit(
            [&](auto& made) {
                parts[shard.look][shard.number] = sums_of(made, classes + shard.first_row,
                                                          weight ? weight + shard.first_row : nullptr, n_classes);
                made.drop_rows();
            },
            rows);
    };
    const auto passes = pass_over(texts, bounds, looks, grow, n_threads, add_up);
    std::vector<TokenTally> out;
    for (std::size_t k = 0; k < looks.size(); ++k)
        out.push_back({add_shards(parts[k], passes[k], n_classes, n_threads), passes[k].coding});
    return out;
}

}  // namespace candide
