#include "reader.hpp"

#include <algorithm>

namespace candide {

Reader::Reader(const FeatureList& features) : features_(features) {
    for (const TokenFeatures& feature : features) {
        const auto found = std::find(normals_.begin(), normals_.end(), feature.config.normal);
        normal_of_.push_back(static_cast<std::size_t>(found - normals_.begin()));
        if (found == normals_.end()) normals_.push_back(feature.config.normal);
    }
    for (std::size_t k = 0; k < features.size(); ++k)
        if (is_within_words(k)) within_words_.insert(normal_of_[k]);
    normal_texts_.resize(normals_.size());
    blank_words_.resize(normals_.size());
    memos_.resize(features.size());
}

void Reader::open(const Text& text) {
    tokenizer_.begin_text();
    steps_.add(text.units);
    bytes_ = utf8_of(text, scratch_);
    for (std::size_t i = 0; i < normals_.size(); ++i) normal_texts_[i].read(bytes_, normals_[i]);
    if (std::any_of(memos_.begin(), memos_.end(), [](const WordMemo& memo) { return memo.full(); })) forget_words();
    for (const std::size_t i : within_words_) blank_words_[i].read(normal_texts_[i]);
}

void Reader::forget_words() {
    for (BlankWords& words : blank_words_) words.forget();
    for (WordMemo& memo : memos_) memo = {};
}

}  // namespace candide
