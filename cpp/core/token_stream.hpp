// Tokens to codes that are one thread's own: no lock, and what codes mean in the end is found out later.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "buckets.hpp"
#include "stop.hpp"
#include "vocabulary.hpp"

namespace candide {

template <class Local>
class TokenStream {
  public:
    explicit TokenStream(Local local) : local_(std::move(local)) {}

    const Local& local() const { return local_; }
    Local take_local() { return std::move(local_); }

    // The bytes of a token must stay until `flush`. Its code goes to the keeper, now or later.
    template <class Keeper>
    void add(const Byte* at, std::size_t n, Keeper& keeper) {
        waiting_[n_waiting_] = Token(at, n);
        local_.prefetch(waiting_[n_waiting_]);
        if (++n_waiting_ < kWaiting) return;
        flush(keeper);
        steps_.add(kWaiting * kSteps);
    }

    template <class Keeper>
    void flush(Keeper& keeper) {
        Code codes[kWaiting];
        for (std::size_t i = 0; i < n_waiting_; ++i) {
            codes[i] = local_.find_or_add(waiting_[i]);
            keeper.expect(codes[i]);
        }
        for (std::size_t i = 0; i < n_waiting_; ++i) keeper.add(codes[i], 1);
        n_waiting_ = 0;
    }

    // At once, if it was prefetched some time before.
    void ask(const Token& token) const { local_.prefetch(token); }
    Code code_of(const Token& token) { return local_.find_or_add(token); }

  private:
    // Long enough for prefetched memory to arrive.
    static constexpr std::size_t kWaiting = 32;
    // What it takes about to number one.
    static constexpr std::size_t kSteps = 32;

    Local local_;
    Steps steps_;
    Token waiting_[kWaiting];
    std::size_t n_waiting_ = 0;
};

using AnyTokenStream = std::variant<TokenStream<Vocabulary>, TokenStream<BucketSet>>;

}  // namespace candide
