#include "reader.hpp"

#include <algorithm>

namespace candide {

Reader::Reader(const Looks& looks) : looks_(looks) {
    for (const Look& look : looks) {
        const auto found = std::find(normals_.begin(), normals_.end(), look.recipe.normal);
        normal_of_.push_back(static_cast<std::size_t>(found - normals_.begin()));
        if (found == normals_.end()) normals_.push_back(look.recipe.normal);
    }
    normal_texts_.resize(normals_.size());
}

void Reader::open(const Text& text) {
    tokeniser_.begin_text();
    bytes_ = utf8_of(text, scratch_);
    for (std::size_t i = 0; i < normals_.size(); ++i) normal_texts_[i].read(bytes_, normals_[i]);
}

}  // namespace candide
