#include "words.hpp"

namespace candide {

void Words::tag_places() {
    constexpr std::size_t kTag = 3;  // bytes
    tagged_.clear(2 * pieces_.start(pieces_.count()) + kTag * (kFirst + kLast));
    for (std::size_t i = 0; i < std::min(kFirst, count()); ++i) tag(1 + i, false, i);
    for (std::size_t i = 0; i < std::min(kLast, count()); ++i) tag(count() - i, true, i);
}

void Words::tag(std::size_t piece, bool from_end, std::size_t place) {
    tagged_.begin();
    if (from_end) tagged_.add('-');
    tagged_.add(static_cast<Byte>('0' + place));
    tagged_.add(':');
    tagged_.add(pieces_.at(piece), joined_size(piece, 1));
}

}  // namespace candide
