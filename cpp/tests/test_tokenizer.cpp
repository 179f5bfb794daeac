#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "helpers.hpp"
#include "reader.hpp"
#include "token_rows.hpp"
#include "token_tally.hpp"

using namespace candide;

namespace {

using Strings = std::vector<std::string>;

// The tokens of one text in order. Characters within words are read word by word.
Strings tokens_of(const std::string& text, const TokenizerConfig& config) {
    const FeatureList features{{config, {SharedVocabulary(), 0}}};
    Reader reader(features);
    reader.open(text_of(text));
    Strings found;
    reader.each_token(0, [&](const Byte* at, std::size_t n) { found.push_back(string_of(at, n)); });
    return found;
}

TokenizerConfig words(std::size_t low, std::size_t high) {
    TokenizerConfig config;
    config.low = low;
    config.high = high;
    return config;
}

// Counts of all tokens in a vocabulary that grows, with some threads.
TokenRows counted(const Strings& strings, const TokenizerConfig& config, int n_threads) {
    const std::vector<Text> texts = texts_of(strings);
    return std::move(count_tokens(texts, {{config, {SharedVocabulary(), 0}}}, true, true, n_threads)[0]);
}

Strings vocabulary_of(const TokenRows& rows) {
    const Vocabulary tokens = rows.coding.vocabulary->copy();
    Strings out;
    for (std::size_t code = 0; code < tokens.size(); ++code) {
        const Bytes bytes = tokens.bytes(code);
        out.push_back(string_of(bytes.data(), bytes.size()));
    }
    return out;
}

}  // namespace

TEST_CASE("words are runs of two or more word characters in lower case") {
    CHECK(tokens_of("The cat, a CAT!", words(1, 1)) == Strings{"the", "cat", "cat"});
    CHECK(tokens_of("", words(1, 1)).empty());
    CHECK(tokens_of(" .,;!? ", words(1, 1)).empty());
}

TEST_CASE("non-ASCII letters belong to words") {
    CHECK(tokens_of("Élan vital, ÀÉ", words(1, 1)) == Strings{"élan", "vital", "àé"});
    CHECK(tokens_of("日本 語", words(1, 1)) == Strings{"日本"});
}

TEST_CASE("accents are stripped on request") {
    TokenizerConfig config = words(1, 1);
    config.normal.accents = Accents::strip;
    CHECK(tokens_of("Élan", config) == Strings{"elan"});
}

TEST_CASE("invalid UTF-8 is replaced and read within bounds") {
    for (const std::string& text : Strings{"ab\xff", "\xe2\x80", "ab \xf0\x9f\x8e", std::string("a\0b cd", 6)})
        for (const Analyzer analyzer : {Analyzer::word, Analyzer::character, Analyzer::place}) {
            TokenizerConfig config = words(1, analyzer == Analyzer::place ? 1 : 3);
            config.analyzer = analyzer;
            for (const std::string& token : tokens_of(text, config)) CHECK(token.size() <= 4 * text.size() + 8);
        }
}

TEST_CASE("n-grams of words are ordered by length") {
    CHECK(tokens_of("one two six", words(1, 2)) == Strings{"one", "two", "six", "one two", "two six"});
    CHECK(tokens_of("one two six", words(4, 5)).empty());
}

TEST_CASE("an empty word before the first and after the last marks the ends") {
    TokenizerConfig config = words(2, 2);
    config.ends = true;
    CHECK(tokens_of("hello you", config) == Strings{" hello", "hello you", "you "});
}

TEST_CASE("punctuation marks are words on request") {
    TokenizerConfig config = words(1, 1);
    config.words.marks = true;
    CHECK(tokens_of("so, yes!", config) == Strings{"so", ",", "yes", "!"});
}

TEST_CASE("stop words are left out before words are joined") {
    auto stop = std::make_shared<Vocabulary>();
    const std::string word = "the" + std::string(16, '\0');
    stop->find_or_add(Token(reinterpret_cast<const Byte*>(word.data()), 3));
    TokenizerConfig config = words(1, 2);
    config.words.stop_words = stop;
    CHECK(tokens_of("on the mat", config) == Strings{"on", "mat", "on mat"});
}

TEST_CASE("n-grams of characters collapse white space") {
    TokenizerConfig config = words(2, 2);
    config.analyzer = Analyzer::character;
    CHECK(tokens_of("a  bc", config) == Strings{"a ", " b", "bc"});
}

TEST_CASE("n-grams within words do not cross blanks") {
    TokenizerConfig config = words(3, 3);
    config.analyzer = Analyzer::within_words;
    const TokenRows rows = counted({"ab cd"}, config, 1);
    CHECK(vocabulary_of(rows) == Strings{" ab", "ab ", " cd", "cd "});
}

TEST_CASE("codes follow the first appearance, whatever the number of threads") {
    Strings strings;
    for (int i = 0; i < 3000; ++i) strings.push_back("w" + std::to_string(i * 7919 % 1013) + " and some words more");
    const TokenRows one = counted(strings, words(1, 2), 1), four = counted(strings, words(1, 2), 4);
    CHECK(one.codes == four.codes);
    CHECK(one.counts == four.counts);
    CHECK(one.indptr == four.indptr);
    CHECK(vocabulary_of(one) == vocabulary_of(four));
    CHECK(vocabulary_of(one).front() == "w0");
}

TEST_CASE("sums of tokens equal the counts of rows") {
    const Strings strings{"red red fish", "blue fish", "red"};
    const std::vector<Text> texts = texts_of(strings);
    const std::vector<std::int32_t> classes{0, 1, 0};
    const FeatureList features{{words(1, 1), {SharedVocabulary(), 0}}};
    const auto tally = tally_tokens(texts, classes.data(), nullptr, 2, features, true, 1);
    double occurrences = 0, held = 0;
    for (const double value : tally[0].sums.occurrences) occurrences += value;
    for (const double value : tally[0].sums.texts) held += value;
    CHECK(occurrences == 6.0);
    CHECK(held == 5.0);
}
