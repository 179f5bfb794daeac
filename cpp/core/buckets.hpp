// Tokens by their hash alone: a fixed number of buckets, and those of them that occurred.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

inline Code bucket_of(const Token& token, unsigned bits) { return static_cast<Code>(token.hash >> (64 - bits)); }

// Buckets, numbered in the order in which they first occurred.
class BucketSet {
  public:
    explicit BucketSet(unsigned bits) : bits_(bits) {}

    std::size_t size() const { return buckets_.size(); }
    const std::vector<Code>& buckets() const { return buckets_; }

    void prefetch(const Token& token) const { candide::prefetch(&slots_[token.hash >> shift_]); }

    Code find_or_add(const Token& token) {
        const Code bucket = bucket_of(token, bits_);
        std::size_t at = place(bucket);
        while (slots_[at].code != kUnknown && slots_[at].bucket != bucket) at = (at + 1) & (slots_.size() - 1);
        return slots_[at].code != kUnknown ? slots_[at].code : add(bucket, at);
    }

  private:
    struct Slot {
        Code bucket = 0, code = kUnknown;
    };

    static constexpr unsigned kFirstBits = 8;

    unsigned bits_, shift_ = 64 - kFirstBits;
    std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << kFirstBits);
    std::vector<Code> buckets_;

    // The first bits of the hash, which the bucket begins with.
    std::size_t place(Code bucket) const { return static_cast<std::uint64_t>(bucket) << (64 - bits_) >> shift_; }

    Code add(Code bucket, std::size_t at) {
        const auto code = static_cast<Code>(size());
        slots_[at] = {bucket, code};
        buckets_.push_back(bucket);
        if (2 * size() > slots_.size()) grow();
        return code;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), {});
        --shift_;
        for (std::size_t code = 0; code < size(); ++code) {
            std::size_t at = place(buckets_[code]);
            while (slots_[at].code != kUnknown) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = {buckets_[code], static_cast<Code>(code)};
        }
    }
};

}  // namespace candide
