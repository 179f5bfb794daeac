#include "token_pass.hpp"

#include <algorithm>
#include <numeric>

namespace candide {
namespace {

constexpr std::size_t kTokenSteps = 32;  // cost of one lookup, about
constexpr std::size_t kAtOnce = 64;      // tokens whose places arrive from memory while others are hashed

// Looks up tokens, adds those that are new, and appends their codes.
void join(const TokenList& tokens, Vocabulary& all, std::vector<Code>& codes) {
    Token some[kAtOnce];
    Steps steps;
    for (std::size_t begin = 0; begin < tokens.ends.size(); begin += kAtOnce) {
        const std::size_t n = std::min(kAtOnce, tokens.ends.size() - begin);
        steps.add(kTokenSteps * n);
        for (std::size_t i = 0; i < n; ++i) all.prefetch(some[i] = tokens.token(begin + i));
        for (std::size_t i = 0; i < n; ++i) codes.push_back(all.find_or_add(some[i]));
    }
}

}  // namespace

AnyTokenStream stream_for(const Coding& coding) {
    if (coding.vocabulary) return TokenStream<Vocabulary>(Vocabulary{});
    return TokenStream<BucketSet>(BucketSet(coding.bits));
}

TokenList new_tokens(const AnyTokenStream& stream, std::size_t& n_joined) {
    const auto* words = std::get_if<TokenStream<Vocabulary>>(&stream);
    if (!words) return {};
    const std::size_t since = n_joined;
    n_joined = words->local().size();
    return words->local().since(since);
}

Vocabulary take_tokens(AnyTokenStream& stream) {
    auto* words = std::get_if<TokenStream<Vocabulary>>(&stream);
    return words ? words->take_local() : Vocabulary{};
}

void Joined::hand_over(std::size_t shard, std::vector<HandedOver> found) {
    waiting_[shard] = std::move(found);
    commits_.done(shard, [&](std::size_t turn) {
        for (std::size_t k = 0; k < all_.size(); ++k) join(waiting_[turn][k].tokens, all_[k], *waiting_[turn][k].codes);
        waiting_[turn] = {};
    });
}

std::vector<Code> settle(Coding& coding, Vocabulary&& all, bool grow) {
    std::vector<Code> settled(all.size());
    std::iota(settled.begin(), settled.end(), 0);
    if (!coding.vocabulary) return settled;
    SharedVocabulary& vocabulary = *coding.vocabulary;
    if (grow && vocabulary.size() == 0)
        vocabulary = SharedVocabulary(std::move(all));
    else if (grow)
        std::tie(vocabulary, settled) = vocabulary.with(all);
    else
        settled = vocabulary.find_all(all);
    return settled;
}

const std::vector<Code>* met_buckets(const AnyTokenStream& stream) {
    const auto* hashed = std::get_if<TokenStream<BucketSet>>(&stream);
    return hashed ? &hashed->local().buckets() : nullptr;
}

void translate(const AnyTokenStream& stream, const Coding& coding, const std::vector<Code>& settled,
               std::vector<Code>& codes) {
    if (const auto* met = met_buckets(stream)) {
        codes = *met;
        Steps steps;
        for (Code& code : codes) {
            code = coding.code_of(code);
            steps.add(kTokenSteps);
        }
        return;
    }
    for (const auto [begin, end] : Ranges(codes.size())) {
        for (std::size_t i = begin; i < end; ++i) codes[i] = settled[static_cast<std::size_t>(codes[i])];
    }
}

}  // namespace candide
