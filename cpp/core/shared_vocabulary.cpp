#include "shared_vocabulary.hpp"

#include <algorithm>

#include "stop.hpp"

namespace candide {
namespace {

// Tokens that are worked on under a lock; before the next ones the call may end, and others may read and write.
constexpr std::size_t kBatch = 1 << 14;

template <class Visit>
void each_read(std::shared_mutex& lock, std::size_t n, Visit&& visit) {
    for (std::size_t i = 0; i < n;) {
        if (i > 0) check_stop();
        const std::shared_lock<std::shared_mutex> guard(lock);
        const Quiet quiet;
        for (const std::size_t end = std::min(n, i + kBatch); i < end; ++i) visit(i);
    }
}

}  // namespace

Vocabulary SharedVocabulary::first_of(Store& store, std::size_t n) {
    Vocabulary part;
    each_read(store.lock, n, [&](std::size_t i) { part.find_or_add(store.tokens.token(i)); });
    return part;
}

Vocabulary SharedVocabulary::copy() const { return first_of(*store_, size_); }

std::pair<std::vector<Byte>, std::vector<std::int64_t>> SharedVocabulary::arrays() const {
    const std::shared_lock<std::shared_mutex> guard(store_->lock);
    const auto& ends = store_->tokens.ends();
    const Byte* arena = store_->tokens.arena();
    return {{arena, arena + ends[size_]}, {ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(size_) + 1}};
}

std::vector<Code> SharedVocabulary::find_all(const Vocabulary& others) const {
    std::vector<Code> codes(others.size());
    each_read(store_->lock, codes.size(), [&](std::size_t i) { codes[i] = find(others.token(i)); });
    return codes;
}

std::pair<SharedVocabulary, std::vector<Code>> SharedVocabulary::with(const Vocabulary& others) const {
    std::vector<Code> codes(others.size());
    std::shared_ptr<Store> store = store_;
    std::size_t size = size_;
    for (std::size_t i = 0; i < codes.size();) {
        if (i > 0) check_stop();
        std::unique_lock<std::shared_mutex> guard(store->lock);
        if (store->tokens.size() != size) {
            // Another call has added tokens to it, or one that was interrupted.
            guard.unlock();
            store = std::make_shared<Store>(first_of(*store, size));
            guard = std::unique_lock<std::shared_mutex>(store->lock);
        }
        const Quiet quiet;
        for (const std::size_t end = std::min(codes.size(), i + kBatch); i < end; ++i)
            codes[i] = store->tokens.find_or_add(others.token(i));
        size = store->tokens.size();
    }
    return {SharedVocabulary(store, size), std::move(codes)};
}

}  // namespace candide
