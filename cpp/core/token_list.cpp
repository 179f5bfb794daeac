#include "token_list.hpp"

#include "buckets.hpp"
#include "normal_text.hpp"
#include "stop.hpp"

namespace candide {
namespace {

template <class Visit>
std::vector<Code> each_token(Texts texts, Visit&& visit) {
    const Normal as_it_is{.lowercase = false};
    std::vector<Code> codes;
    std::vector<Byte> scratch;
    NormalText token;
    Steps steps;
    for (const Text& text : texts) {
        steps.add(64 + text.units);
        token.read(utf8_of(text, scratch), as_it_is);
        codes.push_back(visit(Token(token.data(), token.size())));
    }
    return codes;
}

}  // namespace

std::pair<Vocabulary, std::vector<Code>> distinct_tokens(Texts texts) {
    Vocabulary tokens;
    auto codes = each_token(texts, [&](const Token& token) { return tokens.find_or_add(token); });
    return {std::move(tokens), std::move(codes)};
}

std::vector<Code> token_buckets(Texts texts, unsigned bits) {
    return each_token(texts, [&](const Token& token) { return bucket_of(token, bits); });
}

}  // namespace candide
