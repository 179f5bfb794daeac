// Some of 2^bits buckets, numbered in ascending order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

class BucketList {
  public:
    // `buckets` are distinct, ascending and below 2^bits.
    BucketList(unsigned bits, std::vector<Code> buckets)
        : bits_(bits), shift_(bits - std::min(bits, first_bits(buckets.size()))), buckets_(std::move(buckets)) {
        begins_.resize((std::size_t{1} << (bits - shift_)) + 1);
        for (const Code bucket : buckets_) ++begins_[stretch_of(bucket) + 1];
        for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    }

    unsigned bits() const { return bits_; }
    std::size_t size() const { return buckets_.size(); }
    const std::vector<Code>& buckets() const { return buckets_; }

    // These and those of other lists, in any order. A bit for each of all buckets: sorting would take ten times as
    // long.
    BucketList with(std::vector<const std::vector<Code>*> lists) const {
        lists.push_back(&buckets_);
        std::vector<std::uint64_t> bits((std::size_t{1} << bits_) / 64 + 1);
        std::size_t n = 0;
        for (const auto* list : lists) {
            for (const Code bucket : *list) bits[bucket / 64] |= std::uint64_t{1} << bucket % 64;
            n += list->size();
        }
        std::vector<Code> all;
        all.reserve(n);
        for (std::size_t at = 0; at < bits.size(); ++at)
            for (; bits[at]; bits[at] &= bits[at] - 1)
                all.push_back(static_cast<Code>(64 * at + static_cast<std::size_t>(std::countr_zero(bits[at]))));
        return {bits_, std::move(all)};
    }

    // The number of a bucket, kUnknown if it is none of these.
    Code find(Code bucket) const {
        const std::size_t stretch = stretch_of(bucket);
        for (std::uint32_t i = begins_[stretch]; i < begins_[stretch + 1]; ++i)
            if (buckets_[i] == bucket) return static_cast<Code>(i);
        return kUnknown;
    }

  private:
    unsigned bits_, shift_;
    std::vector<Code> buckets_;
    std::vector<std::uint32_t>
        begins_;  // of the buckets that share their first bits: one or two, as bits are of hashes

    static unsigned first_bits(std::size_t n) { return static_cast<unsigned>(std::bit_width(n)); }
    std::size_t stretch_of(Code bucket) const { return static_cast<std::size_t>(bucket) >> shift_; }
};

}  // namespace candide
