// Sums by class and token: sparse rows of classes, of occurrences and of texts that hold the token.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace candide {

struct ClassSums {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> codes;  // ascending within a class
    std::vector<double> occurrences, texts;

    void reserve(std::size_t n) {
        codes.reserve(n);
        occurrences.reserve(n);
        texts.reserve(n);
    }

    void append(std::size_t code, double n_occurrences, double n_texts) {
        codes.push_back(static_cast<std::int32_t>(code));
        occurrences.push_back(n_occurrences);
        texts.push_back(n_texts);
    }

    void end_class() { indptr.push_back(static_cast<std::int64_t>(codes.size())); }

    // The classes of another one behind these.
    void append(const ClassSums& other) {
        const auto stored = static_cast<std::int64_t>(codes.size());
        for (std::size_t c = 1; c < other.indptr.size(); ++c) indptr.push_back(stored + other.indptr[c]);
        codes.insert(codes.end(), other.codes.begin(), other.codes.end());
        occurrences.insert(occurrences.end(), other.occurrences.begin(), other.occurrences.end());
        texts.insert(texts.end(), other.texts.begin(), other.texts.end());
    }
};

// The sums of one class in two dense rows. Bits on two levels find again what was touched, in order.
class OneClass {
  public:
    void make_room(std::size_t n_codes) {
        if (n_codes <= cells_.size()) return;
        cells_.resize(n_codes);
        touched_.resize(n_codes / 64 + 1);
        blocks_.resize(n_codes / 4096 + 1);
    }

    void add(std::size_t code, double occurrences, double texts) {
        cells_[code].occurrences += occurrences;
        cells_[code].texts += texts;
        touched_[code / 64] |= std::uint64_t{1} << code % 64;
        blocks_[code / 4096] |= std::uint64_t{1} << code / 64 % 64;
    }

    // Hands over what was added, as the next class, and begins again at 0.
    void move_to(ClassSums& out) {
        each_bit(blocks_, [&](std::size_t word) {
            for (; touched_[word]; touched_[word] &= touched_[word] - 1) take(64 * word + first(touched_[word]), out);
        });
        out.end_class();
    }

  private:
    struct Cell {
        double occurrences = 0, texts = 0;
    };

    std::vector<Cell> cells_;
    std::vector<std::uint64_t> touched_, blocks_;

    static std::size_t first(std::uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

    template <class Visit>
    static void each_bit(std::vector<std::uint64_t>& words, Visit&& visit) {
        for (std::size_t at = 0; at < words.size(); ++at)
            for (; words[at]; words[at] &= words[at] - 1) visit(64 * at + first(words[at]));
    }

    void take(std::size_t code, ClassSums& out) {
        out.append(code, cells_[code].occurrences, cells_[code].texts);
        cells_[code] = {};
    }
};

}  // namespace candide
