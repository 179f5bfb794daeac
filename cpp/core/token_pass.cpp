#include "token_pass.hpp"

#include <numeric>

namespace candide {
namespace {

constexpr std::size_t kTokenSteps = 32;  // cost of one lookup, about

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

void Joined::hand_over(std::size_t shard, std::vector<HandedOver> found) {
    waiting_[shard] = std::move(found);
    Steps steps;
    commits_.done(shard, [&](std::size_t turn) {
        for (std::size_t k = 0; k < all_.size(); ++k) {
            const auto& [tokens, codes] = waiting_[turn][k];
            for (std::size_t i = 0; i < tokens.ends.size(); ++i, steps.add(kTokenSteps))
                codes->push_back(all_[k].find_or_add(tokens.token(i)));
        }
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
