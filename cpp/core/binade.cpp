#include "binade.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "keys.hpp"

namespace candide {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
constexpr std::size_t kLeastCapacity = 64;

}  // namespace

Binade::Binade(std::size_t n_classes, std::size_t limit) : n_classes_(n_classes), limit_(limit) {
    rebuild(0, kLeastCapacity);
}

double* Binade::insert(std::uint64_t mantissa) {
    std::size_t at = find(mantissa);
    if (empty(at)) {
        make_room();
        at = find(mantissa);
        n_cells_ += empty(at);
        cells_[at] = mantissa >> shift_;
    }
    return weight(at);
}

void Binade::make_room() {
    const bool all_have_room = cells_.size() >> (kMantissaBits - shift_) > 0;
    if (all_have_room || 2 * (n_cells_ + 1) <= cells_.size()) return;
    if (n_cells_ < 2 * limit_)
        rebuild(shift_, std::min(4 * cells_.size(), std::bit_ceil(4 * limit_)));
    else
        rebuild(smallest_shift(), cells_.size());
}

void Binade::absorb(const Binade& other) {
    if (other.shift_ > shift_) rebuild(other.shift_, cells_.size());
    for (std::size_t slot = 0; slot < other.cells_.size(); ++slot) {
        if (other.empty(slot)) continue;
        double* to = insert(other.cells_[slot] << other.shift_);
        for (std::size_t c = 0; c < n_classes_; ++c) to[c] += other.weight_[slot * n_classes_ + c];
    }
}

void Binade::settle() {
    if (n_cells_ > limit_) rebuild(smallest_shift(), cells_.size());
}

std::vector<std::size_t> Binade::in_order() const {
    std::vector<std::size_t> slots;
    slots.reserve(n_cells_);
    for (std::size_t slot = 0; slot < cells_.size(); ++slot)
        if (!empty(slot)) slots.push_back(slot);
    auto before = [&](std::size_t a, std::size_t b) { return cells_[a] < cells_[b]; };
    if (!std::is_sorted(slots.begin(), slots.end(), before)) std::sort(slots.begin(), slots.end(), before);
    return slots;
}

// Where all cells that can exist keep to the limit, one shift less would not do for most continuous columns: that is
// seen without sorting.
bool Binade::needs_largest_shift(unsigned largest) const {
    std::vector<bool> occupied(std::size_t{1} << (kMantissaBits - largest + 1));
    for (const std::uint64_t cell : cells_)
        if (cell != kEmpty) occupied[cell >> (largest - 1 - shift_)] = true;
    return static_cast<std::size_t>(std::count(occupied.begin(), occupied.end(), true)) > limit_;
}

// Neighbors become one at the shift that is the length of their difference; all but limit - 1 pairs must.
unsigned Binade::smallest_shift() const {
    const unsigned largest = kMantissaBits - static_cast<unsigned>(std::bit_width(limit_) - 1);
    if (needs_largest_shift(largest)) return largest;
    const std::vector<std::size_t> slots = in_order();
    std::vector<int> lengths;
    for (std::size_t i = 1; i < slots.size(); ++i)
        lengths.push_back(static_cast<int>(std::bit_width(cells_[slots[i - 1]] ^ cells_[slots[i]])));
    const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(limit_ - 1);
    std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
    return shift_ + static_cast<unsigned>(*last);
}

void Binade::rebuild(unsigned shift, std::size_t capacity) {
    const unsigned by = shift - shift_, bits = kMantissaBits - shift;
    const std::uint64_t possible = std::uint64_t{1} << bits;
    const bool by_number = possible <= 2 * limit_;
    if (by_number) capacity = std::max<std::size_t>(kLeastCapacity, possible);
    shift_ = shift;
    down_ = static_cast<unsigned>(64 - std::countr_zero(capacity));
    multiplier_ = by_number ? std::uint64_t{1} << down_ : kGolden;
    std::vector<std::uint64_t> cells(capacity, kEmpty);
    std::vector<double> weight(capacity * n_classes_);
    cells.swap(cells_);
    weight.swap(weight_);
    move_from(cells, weight, by);
}

void Binade::move_from(const std::vector<std::uint64_t>& cells, const std::vector<double>& weight, unsigned by) {
    n_cells_ = 0;
    for (std::size_t slot = 0; slot < cells.size(); ++slot) {
        if (cells[slot] == kEmpty) continue;
        const std::uint64_t cell = cells[slot] >> by;
        const std::size_t at = find(cell << shift_);
        n_cells_ += empty(at);
        cells_[at] = cell;
        for (std::size_t c = 0; c < n_classes_; ++c) this->weight(at)[c] += weight[slot * n_classes_ + c];
    }
}

}  // namespace candide
