// The occupied cells of one column: a binade for every sign and exponent that occurred.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "binade.hpp"
#include "keys.hpp"

namespace candide {

// By the first bits of a key. Missing numbers go to the last one, which is never read: cheaper than a branch.
inline constexpr std::size_t kBinades = 4096, kMissing = kBinades - 1;

class CellTable {
  public:
    CellTable(std::size_t n_classes, std::size_t limit)
        : n_classes_(n_classes), limit_(limit), absent_(n_classes, limit) {
        binades_.fill(&absent_);
    }
    CellTable(const CellTable&) = delete;
    CellTable& operator=(const CellTable&) = delete;

    // The weights of the cell of a key, which need not exist yet.
    double* at(std::uint64_t key) {
        Binade& binade = *binades_[key >> kMantissaBits];
        const std::size_t slot = binade.find(key & kMantissa);
        if (binade.empty(slot)) [[unlikely]]
            return insert(key);
        return binade.weight(slot);
    }

    void absorb(const CellTable& other) {
        for (std::size_t b = 0; b < kMissing; ++b)
            if (other.binades_[b] != &other.absent_) own(b).absorb(*other.binades_[b]);
    }

    // Calls `visit(key of the smallest number, shift, weights)` for all cells in order, within the limit.
    template <class Visit>
    void settle(Visit&& visit) {
        for (std::size_t b = 0; b < kMissing; ++b) {
            Binade& binade = *binades_[b];
            if (&binade == &absent_) continue;
            binade.settle();
            for (const std::size_t slot : binade.in_order())
                visit(b << kMantissaBits | binade.cell(slot) << binade.shift(), binade.shift(), binade.weight(slot));
        }
    }

  private:
    double* insert(std::uint64_t key) { return own(key >> kMantissaBits).insert(key & kMantissa); }

    Binade& own(std::size_t b) {
        if (binades_[b] == &absent_) binades_[b] = &owned_.emplace_back(n_classes_, limit_);
        return *binades_[b];
    }

    std::size_t n_classes_, limit_;
    Binade absent_;
    std::array<Binade*, kBinades> binades_;
    std::deque<Binade> owned_;
};

}  // namespace candide
