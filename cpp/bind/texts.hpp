// Texts as Python holds them, for as long as they are needed.
#pragma once

#include "../core/texts.hpp"
#include "arrays.hpp"

namespace candide {

using ByteArray = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

struct HeldTexts {
    std::vector<Text> rows;
    nb::object owner;

    Texts view() const { return rows; }
};

}  // namespace candide
