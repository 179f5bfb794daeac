// The occupied cells of one binade (the doubles of one sign and exponent), with a weight per class.
//
// A cell is the mantissa without its last `shift` bits. Cells are looked up by a hash, or by their own number once few
// can exist. Up to twice as many as allowed are kept before they pair up: with no more than those allowed, a continuous
// column would pair its cells up again every few rows, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace candide {

class Binade {
  public:
    Binade(std::size_t n_classes, std::size_t limit);

    unsigned shift() const { return shift_; }
    std::size_t n_cells() const { return n_cells_; }
    std::uint64_t cell(std::size_t slot) const { return cells_[slot]; }
    bool empty(std::size_t slot) const { return cells_[slot] == kEmpty; }
    double* weight(std::size_t slot) { return weight_.data() + slot * n_classes_; }

    // The slot of a mantissa's cell, or the empty one where it would be.
    std::size_t find(std::uint64_t mantissa) const {
        const std::uint64_t cell = mantissa >> shift_;
        std::size_t at = cell * multiplier_ >> down_;
        while (cells_[at] != cell && cells_[at] != kEmpty) at = (at + 1) & (cells_.size() - 1);
        return at;
    }
    // The weights of a mantissa's cell, which need not exist yet.
    double* insert(std::uint64_t mantissa);
    void absorb(const Binade& other);
    // The smallest shift that keeps to the limit.
    void settle();
    // Its slots in the order of the cells.
    std::vector<std::size_t> in_order() const;

  private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    unsigned smallest_shift() const;
    bool needs_largest_shift(unsigned largest) const;
    void make_room();
    void rebuild(unsigned shift, std::size_t capacity);
    void move_from(const std::vector<std::uint64_t>& cells, const std::vector<double>& weight, unsigned by);

    std::uint64_t multiplier_ = 0;
    unsigned shift_ = 0, down_ = 0;
    std::vector<std::uint64_t> cells_;
    std::vector<double> weight_;
    std::size_t n_cells_ = 0, n_classes_, limit_;
};

}  // namespace candide
