// One text in the form that is tokenized: valid UTF-8, on request in lower case and without accents.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "texts.hpp"

namespace candide {

enum class Accents : std::uint8_t { keep, strip, ascii };

struct Normal {
    bool lowercase = true;
    Accents accents = Accents::keep;
    bool fold_numbers = false;  // every digit is a 0

    bool operator==(const Normal&) const = default;
};

struct Run {
    std::size_t begin, end;
};

class NormalText {
  public:
    // Bytes that may be read behind the last one.
    static constexpr std::size_t kPadding = 64;

    void read(Bytes text, const Normal& how);

    const Byte* data() const { return bytes_.data(); }
    std::size_t size() const { return size_; }
    bool ascii() const { return ascii_; }

    // The runs of word characters.
    void word_runs(std::vector<Run>& runs) const;

  private:
    std::vector<Byte> bytes_;
    std::vector<std::uint64_t> words_;  // a bit for every byte: whether it belongs to a word character
    std::size_t size_ = 0;
    bool ascii_ = true;

    const Byte* read_block(const Byte* at, const Byte* end, const Normal& how);
    const Byte* read_character(Bytes text, const Byte* at, const Normal& how);
    void put(char32_t character, const Normal& how);
    void put_bits(std::uint64_t bits, std::size_t n);
    void make_room(std::size_t n);
};

}  // namespace candide
