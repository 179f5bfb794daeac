// Pieces of a text (words, characters) one after the other in a buffer that is padded for hashing.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "normal_text.hpp"

namespace candide {

class Pieces {
  public:
    void clear(std::size_t room) {
        if (bytes_.size() < room + NormalText::kPadding) bytes_.resize(room + NormalText::kPadding);
        starts_.clear();
        size_ = 0;
    }
    void begin() { starts_.push_back(size_); }
    void add(Byte byte) { bytes_[size_++] = byte; }
    void add(const Byte* from, std::size_t n) {
        if (n) std::memcpy(bytes_.data() + size_, from, n);
        size_ += n;
    }

    void drop_last() {
        size_ = starts_.back();
        starts_.pop_back();
    }

    std::size_t count() const { return starts_.size(); }
    std::size_t start(std::size_t i) const { return i < starts_.size() ? starts_[i] : size_; }
    const Byte* at(std::size_t i) const { return bytes_.data() + start(i); }

  private:
    std::vector<Byte> bytes_;
    std::vector<std::size_t> starts_;
    std::size_t size_ = 0;
};

}  // namespace candide
