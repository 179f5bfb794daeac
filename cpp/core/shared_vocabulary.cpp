#include "shared_vocabulary.hpp"

namespace candide {

Vocabulary SharedVocabulary::copy() const {
    const std::shared_lock<std::shared_mutex> guard(store_->lock);
    return store_->tokens.first(size_);
}

std::pair<std::vector<Byte>, std::vector<std::int64_t>> SharedVocabulary::arrays() const {
    const std::shared_lock<std::shared_mutex> guard(store_->lock);
    const auto& ends = store_->tokens.ends();
    const Byte* arena = store_->tokens.arena();
    return {{arena, arena + ends[size_]}, {ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(size_) + 1}};
}

std::vector<Code> SharedVocabulary::find_all(const Vocabulary& others) const {
    std::vector<Code> codes(others.size());
    const std::shared_lock<std::shared_mutex> guard(store_->lock);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = find(others.token(i));
    return codes;
}

std::pair<SharedVocabulary, std::vector<Code>> SharedVocabulary::with(const Vocabulary& others) const {
    std::vector<Code> codes(others.size());
    const std::unique_lock<std::shared_mutex> guard(store_->lock);
    const bool latest = store_->tokens.size() == size_;
    const auto store = latest ? store_ : std::make_shared<Store>(store_->tokens.first(size_));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = store->tokens.find_or_add(others.token(i));
    return {SharedVocabulary(store, store->tokens.size()), std::move(codes)};
}

}  // namespace candide
