#include "token_bin_entries.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "stop.hpp"

namespace candide {
namespace {

// Which codes occur, and how many are smaller: a bit each, as there may be millions of which few occur.
class Occurring {
  public:
    explicit Occurring(const SumRows& sums) : bits_(sums.n_codes / 64 + 1), before_(bits_.size()) {
        Steps steps;
        for (std::int64_t i = 0; i < sums.indptr[sums.n_classes]; ++i) {
            steps.add(4);
            const auto code = static_cast<std::size_t>(sums.codes[i]);
            if (sums.codes[i] < 0 || code >= sums.n_codes) throw std::invalid_argument("codes must lie in the table");
            if (sums.sums[i] > 0.0) bits_[code / 64] |= std::uint64_t{1} << code % 64;
        }
        for (std::size_t at = 0; at < bits_.size(); ++at) {
            before_[at] = size_;
            size_ += static_cast<std::uint32_t>(std::popcount(bits_[at]));
        }
    }

    std::size_t size() const { return size_; }

    std::size_t place(std::int32_t code) const {
        const auto at = static_cast<std::size_t>(code);
        const std::uint64_t smaller = bits_[at / 64] & ((std::uint64_t{1} << at % 64) - 1);
        return before_[at / 64] + static_cast<std::size_t>(std::popcount(smaller));
    }

    std::vector<std::int32_t> codes() const {
        std::vector<std::int32_t> out;
        out.reserve(size_);
        for (std::size_t at = 0; at < bits_.size(); ++at)
            for (std::uint64_t bits = bits_[at]; bits; bits &= bits - 1)
                out.push_back(static_cast<std::int32_t>(64 * at + static_cast<std::size_t>(std::countr_zero(bits))));
        return out;
    }

  private:
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint32_t> before_;
    std::uint32_t size_ = 0;
};

// Calls `visit(class, place among those that occur, sum)`, class after class.
template <class Visit>
void each_sum(const SumRows& sums, const Occurring& occurring, Visit&& visit) {
    Steps steps;
    for (std::size_t c = 0; c < sums.n_classes; ++c)
        for (std::int64_t i = sums.indptr[c]; i < sums.indptr[c + 1]; ++i, steps.add(8))
            if (sums.sums[i] > 0.0) visit(c, occurring.place(sums.codes[i]), sums.sums[i]);
}

// Where each comes if the heaviest is first; whole numbers up to a limit are told apart, equals keep their order.
std::vector<std::int32_t> by_weight(const std::vector<double>& weight) {
    constexpr std::size_t kMost = 1 << 16;
    const double heaviest = weight.empty() ? 0.0 : *std::max_element(weight.begin(), weight.end());
    // Weights are sums of numbers above 0: none is NaN or negative.
    const auto bounded = [](double w) { return w < static_cast<double>(kMost) ? static_cast<std::size_t>(w) : kMost; };
    const std::size_t most = bounded(heaviest);
    const auto light = [&](double w) { return most - bounded(w); };
    std::vector<std::int32_t> next(most + 2), place(weight.size());
    for (const double w : weight) ++next[light(w) + 1];
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (std::size_t i = 0; i < weight.size(); ++i) place[i] = next[light(weight[i])]++;
    return place;
}

}  // namespace

TokenBinEntries token_bin_entries(const SumRows& sums) {
    const Occurring occurring(sums);
    const std::size_t n = occurring.size();
    TokenBinEntries out;
    std::vector<double> weight(n);
    std::vector<std::int32_t> entries(n);
    out.size.assign(sums.n_classes, 0.0);
    each_sum(sums, occurring, [&](std::size_t c, std::size_t at, double sum) {
        weight[at] += sum;
        ++entries[at];
        out.size[c] += sum;
    });
    out.codes = occurring.codes();
    out.place = by_weight(weight);
    out.weight.resize(n);
    out.indptr.resize(n + 1);
    for (std::size_t at = 0; at < n; ++at) {
        const auto token = static_cast<std::size_t>(out.place[at]);
        out.weight[token] = weight[at];
        out.indptr[token + 1] = entries[at];
    }
    for (std::size_t token = 0; token < n; ++token) out.indptr[token + 1] += out.indptr[token];
    out.classes.resize(static_cast<std::size_t>(out.indptr[n]));
    out.count.resize(out.classes.size());
    std::vector<std::int64_t> next(out.indptr.begin(), out.indptr.end() - 1);
    each_sum(sums, occurring, [&](std::size_t c, std::size_t at, double sum) {
        const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(out.place[at])]++);
        out.classes[to] = static_cast<std::int32_t>(c);
        out.count[to] = sum;
    });
    return out;
}

}  // namespace candide
