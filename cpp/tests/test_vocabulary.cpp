#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bucket_list.hpp"
#include "helpers.hpp"
#include "shared_vocabulary.hpp"
#include "token_list.hpp"

using namespace candide;

namespace {

using Strings = std::vector<std::string>;

Vocabulary vocabulary_of(const Strings& strings) { return distinct_tokens(texts_of(strings)).first; }

Strings strings_of(const Vocabulary& tokens) {
    Strings out;
    for (std::size_t code = 0; code < tokens.size(); ++code)
        out.push_back(string_of(tokens.bytes(code).data(), tokens.bytes(code).size()));
    return out;
}

Strings numbered(int begin, int end) {
    Strings out;
    for (int i = begin; i < end; ++i) out.push_back("token number " + std::to_string(i));
    return out;
}

}  // namespace

TEST_CASE("distinct tokens are numbered in the order of their first appearance") {
    const Strings strings{"cat", "dog", "cat", "", "eel", ""};
    const std::vector<Text> texts = texts_of(strings);
    const auto [tokens, codes] = distinct_tokens(texts);
    CHECK(strings_of(tokens) == Strings{"cat", "dog", "", "eel"});
    CHECK(codes == std::vector<Code>{0, 1, 0, 2, 3, 2});
}

TEST_CASE("a vocabulary grows past its first capacity, with short and long tokens") {
    Strings strings = numbered(0, 5000);
    for (int i = 0; i < 5000; ++i) strings.push_back("s" + std::to_string(i));
    const Vocabulary tokens = vocabulary_of(strings);
    REQUIRE(tokens.size() == strings.size());
    CHECK(strings_of(tokens) == strings);
    for (std::size_t code = 0; code < tokens.size(); code += 97)
        CHECK(tokens.find(tokens.token(code)) == static_cast<Code>(code));
}

TEST_CASE("tokens that differ in their last byte or length alone are distinct") {
    const Strings strings{"abcdefgh", "abcdefgi", "abcdefg", "abcdefghi", std::string("a\0", 2), "a"};
    CHECK(vocabulary_of(strings).size() == strings.size());
}

TEST_CASE("a vocabulary made of bytes ends with the first repeated token") {
    const std::string bytes = "catdogcateel";
    const std::vector<std::int64_t> ends{3, 6, 9, 12};
    const Vocabulary tokens({reinterpret_cast<const Byte*>(bytes.data()), bytes.size()}, ends);
    CHECK(strings_of(tokens) == Strings{"cat", "dog"});
}

TEST_CASE("views of a shared vocabulary do not see what others add") {
    const SharedVocabulary first(vocabulary_of({"cat", "dog"}));
    const auto [second, codes] = first.with(vocabulary_of({"eel", "cat"}));
    CHECK(codes == std::vector<Code>{2, 0});
    CHECK(first.size() == 2);
    CHECK(second.size() == 3);
    CHECK(first.find_all(vocabulary_of({"eel", "dog"})) == std::vector<Code>{kUnknown, 1});
    // The first view was outgrown: it adds to a copy of its own tokens.
    const auto [third, others] = first.with(vocabulary_of({"fox"}));
    CHECK(others == std::vector<Code>{2});
    CHECK(strings_of(third.copy()) == Strings{"cat", "dog", "fox"});
    CHECK(strings_of(second.copy()) == Strings{"cat", "dog", "eel"});
}

TEST_CASE("the arrays of a view hold its own tokens alone") {
    const SharedVocabulary first(vocabulary_of({"cat", "eel"}));
    first.with(vocabulary_of({"fox"}));
    const auto [bytes, offsets] = first.arrays();
    CHECK(string_of(bytes.data(), bytes.size()) == "cateel");
    CHECK(offsets == std::vector<std::int64_t>{0, 3, 6});
}

TEST_CASE("buckets are fixed for all time") {
    const Strings strings{"cat", "dog"};
    CHECK(token_buckets(texts_of(strings), 10) == std::vector<Code>{621, 90});
}

TEST_CASE("a list of buckets numbers them in ascending order") {
    const BucketList some(10, {90, 300});
    CHECK(some.find(90) == 0);
    CHECK(some.find(300) == 1);
    CHECK(some.find(91) == kUnknown);
}
