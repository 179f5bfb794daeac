#include "dependence.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "elementary.hpp"
#include "gather.hpp"
#include "parallel.hpp"

namespace candide {
namespace {

constexpr std::size_t kTileRows = 64;
constexpr std::size_t kParents = 4;
// Counts that stay in the cache while all rows pass by.
constexpr std::size_t kBandCells = 1 << 15;

// e^x of numbers that are at most 0, in whole packs.
CANDIDE_CLONES void exponentials(double* x, std::size_t n) {
    for (std::size_t i = 0; i < n; i += kPack) store(x + i, exponential(loaded<Pack>(x + i)));
}

// Sums of n_terms rows of `stride` numbers, as logarithms, into the first of them.
void log_sum(double* terms, std::size_t n_terms, std::size_t stride, double* top, double* sum) {
    std::copy_n(terms, stride, top);
    for (std::size_t i = stride; i < n_terms * stride; i += stride)
        for (std::size_t c = 0; c < stride; ++c) top[c] = std::max(top[c], terms[i + c]);
    for (std::size_t i = 0; i < n_terms * stride; i += stride)
        for (std::size_t c = 0; c < stride; ++c) terms[i + c] -= top[c];
    exponentials(terms, padded(n_terms * stride));
    std::fill_n(sum, stride, 0.0);
    for (std::size_t i = 0; i < n_terms * stride; i += stride)
        for (std::size_t c = 0; c < stride; ++c) sum[c] += terms[i + c];
    for (std::size_t c = 0; c < stride; ++c) sum[c] = top[c] + std::log(sum[c]);
}

double rest(double count, double weight) { return std::max(count - weight, 0.0); }

// log of the product over slots of max(count - weight, 0) + prior; past the last slot stand priors of 1.
CANDIDE_CLONES double log_product(const double* count, const std::int32_t* slots, std::size_t n, double weight,
                                  const double* prior) {
    const Pack none{};
    Pack sum{};
    for (std::size_t first = 0; first < n; first += kFactors * kPack) {
        LogProduct product;
        const std::size_t end = std::min(n, first + kFactors * kPack);
        for (std::size_t j = first; j < end; j += kPack) {
            double picked[kPack] = {};
            for (std::size_t i = 0; i < std::min(kPack, n - j); ++i) picked[i] = count[slots[j + i]];
            const Pack left = loaded<Pack>(picked) - weight;
            product.multiply((left > none ? left : none) + loaded<Pack>(prior + j));
        }
        sum += product.value();
    }
    return total(sum);
}

// Four rows of sums side by side, since each waits for its last addition. A row of the table is one vector.
template <class Lanes>
CANDIDE_INLINE void add_four(const std::int32_t* slots, std::size_t n, const double* const* tables,
                             double* const* out) {
    constexpr std::size_t width = sizeof(Lanes) / sizeof(double);
    Lanes sum[4]{};
    for (std::size_t j = 0; j < n; ++j) {
        const std::size_t at = static_cast<std::size_t>(slots[j]) * width;
        for (int i = 0; i < 4; ++i) sum[i] += loaded<Lanes>(tables[i] + at);
    }
    for (int i = 0; i < 4; ++i) store(out[i], sum[i]);
}
CANDIDE_CLONES void add_four_of_two(const std::int32_t* slots, std::size_t n, const double* const* tables,
                                    double* const* out) {
    add_four<Lanes2>(slots, n, tables, out);
}
CANDIDE_CLONES void add_four_of_four(const std::int32_t* slots, std::size_t n, const double* const* tables,
                                     double* const* out) {
    add_four<Lanes4>(slots, n, tables, out);
}

// The sums of one row for `n_parents` of its parents, (n_parents, stride).
void sum_slots(const std::int32_t* parents, std::size_t n_parents, const std::int32_t* slots, std::size_t n,
               const double* table, std::size_t n_slots, std::size_t stride, double* sums) {
    const auto part_of = [=](std::size_t u) { return table + static_cast<std::size_t>(parents[u]) * n_slots * stride; };
    if (stride > 4) {
        for (std::size_t u = 0; u < n_parents; ++u)
            add_picked(slots, nullptr, n, part_of(u), stride, sums + u * stride);
        return;
    }
    for (std::size_t u = 0; u < n_parents; u += 4) {
        const double* parts[4];
        double* out[4];
        // Where fewer than four are left, the last is made several times.
        for (std::size_t i = 0; i < 4; ++i) {
            const std::size_t at = std::min(u + i, n_parents - 1);
            parts[i] = part_of(at);
            out[i] = sums + at * stride;
        }
        stride == 2 ? add_four_of_two(slots, n, parts, out) : add_four_of_four(slots, n, parts, out);
    }
}

template <class DoRows>
void each_tile(std::size_t n_rows, std::size_t work, int n_threads, DoRows&& do_rows) {
    parallel_for((n_rows + kTileRows - 1) / kTileRows, work, n_threads,
                 [&](std::size_t tile) { do_rows(tile * kTileRows, std::min(n_rows, (tile + 1) * kTileRows)); });
}

// The positions of a row that are at least 0, and the columns they stand in: a column that is not given has -1.
struct Present {
    std::vector<std::int32_t> at;
    std::vector<std::size_t> columns;

    void set(const std::int32_t* places, std::size_t width) {
        at.clear();
        columns.clear();
        for (std::size_t j = 0; j < width; ++j) {
            if (places[j] < 0) continue;
            at.push_back(places[j]);
            columns.push_back(j);
        }
    }
};

// The positions of a tile's rows that are at least 0, those of each row first in their place.
struct Compact {
    std::vector<std::int32_t> at;
    std::vector<std::size_t> size;
    std::size_t width;

    Compact(const Places& places, std::size_t begin, std::size_t end)
        : at((end - begin) * places.width), size(end - begin), width(places.width) {
        for (std::size_t r = begin; r < end; ++r)
            for (std::size_t j = 0; j < width; ++j)
                if (const std::int32_t place = places.row(r)[j]; place >= 0)
                    at[(r - begin) * width + size[r - begin]++] = place;
    }
    const std::int32_t* row(std::size_t r) const { return at.data() + r * width; }
};

// Probabilities of single columns with the row left out. Its class keeps its size: a smaller one would give more to
// each value, also to those that no other row has, and so reveal the class of the row.
struct Alone {
    const Pairs& pairs;
    double rows = 0.0;
    std::vector<double> single, share;  // the weight of each present slot, and p(slot | class)

    Alone(const Pairs& counts, std::size_t n_columns) : pairs(counts), single(n_columns), share(n_columns) {}

    void set(const Present& present, std::size_t c, double weight) {
        rows = pairs.rows[c];
        const std::int32_t* slots = present.at.data();
        for (std::size_t j = 0; j < present.at.size(); ++j) {
            single[j] = rest(pairs.joint.row(c, slots[j])[slots[j]], weight);
            share[j] = (single[j] + 0.5) / (rows + pairs.spare[present.columns[j]]);
        }
    }
};

// 0 for no terms: a row without given columns adds nothing.
double log_of_sum(std::vector<double>& terms, std::size_t n) {
    if (n == 0) return 0.0;
    double top, sum;
    log_sum(terms.data(), n, 1, &top, &sum);
    return sum;
}

// Two columns that are super-parents together.
struct Couple {
    std::size_t one, other;
};

std::vector<Couple> couples_of(const std::int32_t* columns, std::size_t n) {
    std::vector<Couple> couples(n);
    for (std::size_t p = 0; p < n; ++p)
        couples[p] = {static_cast<std::size_t>(columns[2 * p]), static_cast<std::size_t>(columns[2 * p + 1])};
    return couples;
}

// Each column that is in some couple, once.
std::vector<std::size_t> columns_of(const std::vector<Couple>& couples) {
    std::vector<std::size_t> columns;
    for (const auto& [one, other] : couples) columns.insert(columns.end(), {one, other});
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

// p(column | column s, class) for the present columns of a row without itself; s is a place among them.
void given_one(const double* count, const std::vector<std::int32_t>& slots, double weight, const Alone& alone,
               std::size_t s, double strength, double* given) {
    const double whole = 1.0 / (alone.single[s] + strength);
    for (std::size_t j = 0; j < slots.size(); ++j)
        given[j] = (rest(count[slots[j]], weight) + strength * alone.share[j]) * whole;
}

}  // namespace

void joint_counts(const Places& parents, const Places& slots, const std::int32_t* classes, const double* weight,
                  std::size_t n_classes, std::size_t n_parents, std::size_t n_slots, int n_threads, double* joint) {
    if (n_parents == 0) return;
    // A block of parents is one thread's alone, and every cell is added to in the order of the rows.
    const std::size_t threads = 4 * static_cast<std::size_t>(std::max(1, n_threads));
    const std::size_t cached = std::min(slots.width, n_classes * n_parents * n_slots / kBandCells);
    const std::size_t n_blocks = std::clamp<std::size_t>(std::max(threads, cached), 1, n_parents);
    parallel_for(n_blocks, slots.n_rows * parents.width * slots.width, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * n_parents / n_blocks, size = (block + 1) * n_parents / n_blocks - begin;
        Steps steps;
        for (std::size_t r = 0; r < slots.n_rows; ++r) {
            steps.add(parents.width + slots.width);
            const double w = weight ? weight[r] : 1.0;
            double* of_class = joint + static_cast<std::size_t>(classes[r]) * n_parents * n_slots;
            const std::int32_t *parent = parents.row(r), *slot = slots.row(r);
            for (std::size_t u = 0; u < parents.width; ++u) {
                const auto at = static_cast<std::size_t>(parent[u]);  // -1 lies in no block
                if (at - begin >= size) continue;
                double* out = of_class + at * n_slots;
                for (std::size_t j = 0; j < slots.width; ++j)
                    if (slot[j] >= 0) out[slot[j]] += w;
            }
        }
    });
}

void joint_scores(const Places& parents, const Places& slots, const double* table, std::size_t n_slots,
                  std::size_t stride, std::size_t n_classes, int n_threads, double* scores) {
    const std::size_t width = padded(parents.width * stride), work = slots.n_rows * width * slots.width;
    each_tile(slots.n_rows, work, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> sums((end - begin) * width), top(stride), sum(stride);
        const Compact from(parents, begin, end), to(slots, begin, end);
        // A few parents at a time, so that the part of the table that all rows of the tile read stays in the cache.
        Steps steps;
        for (std::size_t u = 0; u < parents.width;
             u += kParents, steps.add(kTileRows * kParents * slots.width * stride))
            for (std::size_t r = 0; r < end - begin; ++r)
                if (u < from.size[r])
                    sum_slots(from.row(r) + u, std::min(kParents, from.size[r] - u), to.row(r), to.size[r], table,
                              n_slots, stride, sums.data() + r * width + u * stride);
        for (std::size_t r = begin; r < end; ++r) {
            const std::size_t n_terms = from.size[r - begin];
            if (n_terms == 0)
                std::fill(sum.begin(), sum.end(), 0.0);
            else
                log_sum(sums.data() + (r - begin) * width, n_terms, stride, top.data(), sum.data());
            std::copy_n(sum.data(), n_classes, scores + r * n_classes);
        }
    });
}

void own_pair_scores(const Places& slots, const Owned& own, const Pairs& pairs, double strength, int n_threads,
                     double* scores) {
    const std::size_t width = slots.width;
    each_tile(slots.n_rows, slots.n_rows * width * width, n_threads, [&](std::size_t begin, std::size_t end) {
        Alone alone(pairs, width);
        Present present;
        std::vector<double> prior(padded(width)), terms(padded(width));
        Steps steps;
        for (std::size_t r = begin; r < end; ++r) {
            steps.add(2 * width * width);
            present.set(slots.row(r), width);
            const std::int32_t* slot = present.at.data();
            const std::size_t n = present.at.size();
            const auto c = static_cast<std::size_t>(own.classes[r]);
            const double w = own.weights[r];
            alone.set(present, c, w);
            for (std::size_t j = 0; j < n; ++j) prior[j] = strength * alone.share[j];
            std::fill(prior.begin() + static_cast<std::ptrdiff_t>(n), prior.end(), 1.0);
            for (std::size_t u = 0; u < n; ++u) {
                // The product has a factor for u beside itself, where p(u | class) belongs.
                const double whole = alone.single[u] + strength,
                             instead = alone.share[u] / (alone.single[u] + prior[u]);
                terms[u] = log_product(pairs.joint.row(c, slot[u]), slot, n, w, prior.data()) + std::log(instead) -
                           static_cast<double>(n - 1) * std::log(whole);
            }
            scores[r] = log_of_sum(terms, n);
        }
    });
}

void own_triple_scores(const Places& parents, const Places& slots, const Owned& own, const Triples& triples,
                       double strength, int n_threads, double* scores) {
    const std::size_t width = slots.width;
    const std::vector<Couple> couples = couples_of(triples.columns, parents.width);
    const std::vector<std::size_t> used = columns_of(couples);
    const std::size_t work = slots.n_rows * width * (parents.width + used.size());
    each_tile(slots.n_rows, work, n_threads, [&](std::size_t begin, std::size_t end) {
        Alone alone(triples.singles, width);
        Present present, pairs;
        std::vector<std::size_t> place(width);  // of each present column among those
        std::vector<double> given(width * width), prior(padded(width)), terms(padded(parents.width));
        Steps steps;
        for (std::size_t r = begin; r < end; ++r) {
            steps.add(2 * width * (parents.width + used.size()));
            present.set(slots.row(r), width);
            pairs.set(parents.row(r), parents.width);
            const std::int32_t* slot = present.at.data();
            const std::size_t n = present.at.size();
            std::size_t n_terms = 0;
            for (std::size_t j = 0; j < n; ++j) place[present.columns[j]] = j;
            const auto c = static_cast<std::size_t>(own.classes[r]);
            const double w = own.weights[r];
            alone.set(present, c, w);
            for (const std::size_t column : used) {
                if (slots.row(r)[column] < 0) continue;
                const std::size_t s = place[column];
                given_one(triples.singles.joint.row(c, slot[s]), present.at, w, alone, s, triples.back_strength,
                          given.data() + s * n);
            }
            std::fill(prior.begin() + static_cast<std::ptrdiff_t>(n), prior.end(), 1.0);
            for (std::size_t p = 0; p < pairs.at.size(); ++p) {
                const Couple& couple = couples[pairs.columns[p]];
                // A pair stands for its two columns; without either it adds nothing.
                if (slots.row(r)[couple.one] < 0 || slots.row(r)[couple.other] < 0) continue;
                const std::size_t s = place[couple.one], t = place[couple.other];
                const double* count = triples.joint.row(c, pairs.at[p]);
                const double both = rest(count[slot[s]], w);
                for (std::size_t j = 0; j < n; ++j) prior[j] = 0.5 * strength * (given[s * n + j] + given[t * n + j]);
                // The product has factors for the two columns themselves, where p(both | class) belongs.
                const double instead = (both + strength * alone.share[s] * alone.share[t]) / (both + prior[s]) /
                                       (both + prior[t]) / (alone.rows + strength);
                terms[n_terms++] = log_product(count, slot, n, w, prior.data()) + std::log(instead) -
                                   static_cast<double>(n - 2) * std::log(both + strength);
            }
            scores[r] = log_of_sum(terms, n_terms);
        }
    });
}

}  // namespace candide
