// Any bytes as texts and settings, through all token kernels of the core. Built and run by tests/fuzz/run.sh.
#include <cstdlib>
#include <vector>

#include "token_list.hpp"
#include "token_rows.hpp"
#include "token_scores.hpp"
#include "token_tally.hpp"

namespace {

using namespace candide;

// What is wrong must be seen in a build without assertions too.
void check(bool holds) {
    if (!holds) std::abort();
}

// The first bytes choose settings, the others are the texts.
struct Input {
    const Byte* at;
    const Byte* end;

    Byte next() { return at < end ? *at++ : Byte{0}; }
    Bytes rest() const { return {at, end}; }
};

TokenizerConfig recipe_of(Input& in) {
    const Byte kind = in.next(), letters = in.next(), sizes = in.next();
    TokenizerConfig config;
    config.analyzer = static_cast<Analyzer>(kind % 5);
    config.ends = (kind & 128) != 0;
    config.normal = {(letters & 1) != 0, static_cast<Accents>((letters >> 1) % 3), (letters & 16) != 0};
    config.low = 1 + (sizes & 3);
    config.high = config.low + (sizes >> 2 & 3);
    config.words.min_length = 1 + (sizes >> 4 & 3);
    config.words.marks = (sizes & 128) != 0;
    if (sizes & 64) {
        auto stop = std::make_shared<Vocabulary>();
        const Byte word[16] = "of";
        stop->find_or_add(Token(word, 2));
        config.words.stop_words = stop;
    }
    return config;
}

// Cut at a byte, so that texts end in the middle of characters; stored in any of the ways that texts come in.
std::vector<Text> texts_of(Bytes bytes, Byte cut, Storage storage) {
    std::vector<Text> texts;
    const std::size_t width = storage == Storage::two ? 2 : storage == Storage::four ? 4 : 1;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= bytes.size(); i += width) {
        if (i + width <= bytes.size() && bytes[i] != cut) continue;
        if (i > bytes.size()) break;
        texts.push_back({bytes.data() + begin, (i - begin) / width, storage});
        begin = i + width;
        if (begin > bytes.size()) break;
    }
    texts.push_back({});
    return texts;
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
    std::int64_t total = 0;
    for (const std::int64_t value : values) total += value;
    return total;
}

// Counting, tallying and scoring must tell of the same tokens.
void compare(Texts texts, const TokenFeatures& feature, bool grow, Byte n_classes) {
    const auto rows = std::move(count_tokens(texts, {feature}, grow, true, 1)[0]);
    const auto present = std::move(count_tokens(texts, {feature}, grow, false, 1)[0]);
    check(present.codes == rows.codes && present.indptr == rows.indptr && present.counts.empty());
    double counted = 0, tallied = 0;
    for (std::size_t i = 0; i < rows.codes.size(); ++i) {
        check(rows.codes[i] >= 0 && static_cast<std::size_t>(rows.codes[i]) < rows.coding.size());
        counted += rows.counts[i];
    }
    std::vector<std::int32_t> classes(texts.size());
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i) % n_classes;
    const std::vector<double> weight(texts.size(), 1.0);
    for (const double* weights : {static_cast<const double*>(nullptr), weight.data()}) {
        const auto tally = tally_tokens(texts, classes.data(), weights, n_classes, {feature}, grow, 1);
        tallied = 0;
        for (const double value : tally[0].sums.occurrences) tallied += value;
        check(tallied == counted && tally[0].coding.size() == rows.coding.size());
    }
    std::vector<std::int64_t> known(texts.size()), unknown(texts.size()), distinct(texts.size());
    TokenScores scores;
    scores.known = known.data();
    scores.unknown = unknown.data();
    scores.distinct = distinct.data();
    score_tokens(texts, {{feature.config, rows.coding}}, {scores}, 1);
    check(static_cast<double>(sum(known)) == counted && sum(unknown) == sum(rows.unknown));
    check(static_cast<std::size_t>(sum(distinct)) == rows.codes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const Byte* data, std::size_t size) {
    Input in{data, data + size};
    TokenFeatures feature{recipe_of(in), {}};
    const Byte how = in.next();
    if (how & 1)
        feature.coding.bits = 1 + (how >> 1) % 12;
    else
        feature.coding.vocabulary = SharedVocabulary();
    const auto storage = static_cast<Storage>((how >> 4) % 4);
    // Python's arrays of two and four bytes a character are aligned; so is this copy.
    const Bytes rest = in.rest();
    std::vector<std::uint32_t> aligned(rest.size() / 4 + 1);
    if (!rest.empty()) std::memcpy(aligned.data(), rest.data(), rest.size());
    if (storage == Storage::four)
        for (std::uint32_t& unit : aligned) unit %= 0x110000;
    const auto texts = texts_of({reinterpret_cast<const Byte*>(aligned.data()), rest.size()}, in.next(), storage);
    compare(texts, feature, (how & 128) != 0, static_cast<Byte>(1 + how % 11));
    const auto [tokens, codes] = distinct_tokens(texts);
    check(codes.size() == texts.size());
    return 0;
}
