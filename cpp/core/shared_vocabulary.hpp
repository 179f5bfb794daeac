// A vocabulary that is immutable for its holders, and yet grows without a copy.
//
// Several views share one store, each of its own length: a view sees the tokens that were there when it was made. The
// view that sees all of them grows by adding to the store; one that others have outgrown takes a copy of its part
// first.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

namespace candide {

class SharedVocabulary {
  public:
    SharedVocabulary() : SharedVocabulary(Vocabulary{}) {}
    explicit SharedVocabulary(Vocabulary tokens)
        : store_(std::make_shared<Store>(std::move(tokens))), size_(store_->tokens.size()) {}

    std::size_t size() const { return size_; }

    // The tokens of the store, to be read while it is locked. What lies beyond the view's size is not its own.
    const Vocabulary& tokens() const { return store_->tokens; }
    std::shared_mutex& lock() const { return store_->lock; }

    Code find(const Token& token) const {
        const Code code = store_->tokens.find(token);
        return static_cast<std::size_t>(code) < size_ ? code : kUnknown;
    }

    // The view's own tokens as a vocabulary of their own.
    Vocabulary copy() const;

    // Their bytes one after the other, and where each begins and ends.
    std::pair<std::vector<Byte>, std::vector<std::int64_t>> arrays() const;

    // The code of each of some tokens, kUnknown where there is none.
    std::vector<Code> find_all(const Vocabulary& others) const;

    // A view that holds the others as well, in their order behind its own, and the code of each of them.
    std::pair<SharedVocabulary, std::vector<Code>> with(const Vocabulary& others) const;

  private:
    struct Store {
        explicit Store(Vocabulary first) : tokens(std::move(first)) {}
        Vocabulary tokens;
        std::shared_mutex lock;
    };

    std::shared_ptr<Store> store_;
    std::size_t size_;

    SharedVocabulary(std::shared_ptr<Store> store, std::size_t size) : store_(std::move(store)), size_(size) {}

    // The first tokens of a store.
    static Vocabulary first_of(Store& store, std::size_t n);
};

}  // namespace candide
