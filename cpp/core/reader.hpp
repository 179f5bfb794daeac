// Reads texts for several tokenizers; what they have in common is done once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "blank_words.hpp"
#include "bucket_list.hpp"
#include "stop.hpp"
#include "tokenizer.hpp"
#include "tokenizer_config.hpp"
#include "word_memo.hpp"

namespace candide {

// Tokens are numbered by a vocabulary, or by 2^bits buckets, of which perhaps some alone have numbers.
struct Coding {
    std::optional<SharedVocabulary> vocabulary;
    unsigned bits = 0;
    std::shared_ptr<BucketList> some = nullptr;

    std::size_t size() const {
        if (vocabulary) return vocabulary->size();
        return some ? some->size() : std::size_t{1} << bits;
    }
    Code code_of(Code bucket) const { return some ? some->find(bucket) : bucket; }
};

// A tokenizer and the numbering of its tokens.
struct TokenFeatures {
    TokenizerConfig config;
    Coding coding;
};

using FeatureList = std::vector<TokenFeatures>;

class Reader {
  public:
    explicit Reader(const FeatureList& features);

    void open(const Text& text);

    // The tokens of the open text by one of the configs.
    template <class Sink>
    void each_token(std::size_t feature, Sink&& sink) {
        tokenizer_.each_token(features_[feature].config, bytes_, normal_texts_[normal_of_[feature]], sink);
    }

    bool is_within_words(std::size_t feature) const {
        return features_[feature].config.analyzer == Analyzer::within_words;
    }

    // Word by word the codes of the tokens within it, where that is the config; of a new word by `code_of(token)`, some
    // time after `ask(token)`. `take(codes, times)`, with how often the word stands in the text, comes some time after
    // `expect(codes)`. Every text that is opened must be read so.
    template <class Ask, class CodeOf, class Expect, class Take>
    void each_word(std::size_t feature, Ask&& ask, CodeOf&& code_of, Expect&& expect, Take&& take) {
        const std::vector<BlankWord>& words = blank_words_[normal_of_[feature]].words();
        WordMemo& memo = memos_[feature];
        for (std::size_t begin = 0; begin < words.size(); begin += kTogether) {
            steps_.add(kTogether * kWordSteps);
            const std::span together(words.data() + begin, std::min(kTogether, words.size() - begin));
            for (const BlankWord& word : together)
                memo.learn(word.number,
                           [&](std::vector<Code>& codes) { put_codes(feature, word, ask, code_of, codes); });
            for (const BlankWord& word : together) expect(memo.codes(word.number));
            for (const BlankWord& word : together) take(memo.codes(word.number), word.times);
        }
    }

  private:
    // Words of which all that is needed has arrived when the last one is read.
    static constexpr std::size_t kTogether = 8;
    // What it takes about to take the tokens of a word, and to number one.
    static constexpr std::size_t kWordSteps = 256, kTokenSteps = 32;
    // Tokens of a word that are numbered together: few have more.
    static constexpr std::size_t kMostWithin = 256;

    const FeatureList& features_;
    std::vector<Normal> normals_;
    std::vector<std::size_t> normal_of_;
    std::vector<NormalText> normal_texts_;
    std::set<std::size_t> within_words_;  // the normal texts of which words between blanks are needed
    std::vector<BlankWords> blank_words_;
    std::vector<WordMemo> memos_;  // of each feature
    std::vector<Token> within_;    // of one word, or of a part of it
    std::vector<Byte> scratch_;
    Bytes bytes_;
    Tokenizer tokenizer_;
    Steps steps_;

    void forget_words();

    template <class Ask, class CodeOf>
    void put_codes(std::size_t feature, const BlankWord& word, Ask&& ask, CodeOf&& code_of, std::vector<Code>& codes) {
        const auto number = [&] {
            steps_.add(kTokenSteps * within_.size());
            for (const Token& token : within_) codes.push_back(code_of(token));
            within_.clear();
        };
        within_.clear();
        tokenizer_.each_within(features_[feature].config, word.at, word.size, [&](const Byte* at, std::size_t size) {
            within_.emplace_back(at, size);
            ask(within_.back());
            if (within_.size() == kMostWithin) number();
        });
        number();
    }
};

}  // namespace candide
