#include "tokenizer.hpp"

#include <cstring>

#include "stop.hpp"

namespace candide {
namespace {

constexpr std::size_t kWordSteps = 16;  // what it takes about to copy one

}  // namespace

bool Tokenizer::is_stop_word(const WordRule& rule, const Byte* at, std::size_t n) {
    return rule.stop_words->find(Token(at, n)) != kUnknown;
}

void Tokenizer::read_words(const WordRule& rule, const NormalText& text) {
    if (read_from_ == &text && *read_by_ == rule) return;
    words_.begin_text(text.size());
    Steps steps;
    each_word(rule, text, [&](const Byte* at, std::size_t n) {
        words_.add(at, n);
        steps.add(kWordSteps);
    });
    words_.end_text();
    read_from_ = &text;
    read_by_ = &rule;
}

void Tokenizer::read_given(const WordRule& rule, Bytes text) {
    read_from_ = nullptr;
    words_.begin_text(text.size());
    Steps steps;
    for (const Byte *at = text.data(), *end = at + text.size(); at < end;) {
        steps.add(kWordSteps);
        const auto* stop = static_cast<const Byte*>(std::memchr(at, kTokenEnd, static_cast<std::size_t>(end - at)));
        const Byte* until = stop ? stop : end;
        const auto n = static_cast<std::size_t>(until - at);
        words_.add(at, n);
        // Only what is in a padded buffer can be looked up.
        if (!wanted(rule, words_.last(), n)) words_.drop_last();
        at = until + 1;
    }
    words_.end_text();
}

void Tokenizer::collect_characters(const NormalText& text) {
    pieces_.clear(text.size());
    const Byte* space = nullptr;  // a white space that waits for what comes after it
    std::size_t space_length = 0, n_spaces = 0;
    const Byte blank = ' ';
    const auto put = [&](const Byte* at, std::size_t n) {
        pieces_.begin();
        pieces_.add(at, n);
    };
    const auto put_space = [&] {
        if (n_spaces == 1) put(space, space_length);
        if (n_spaces > 1) put(&blank, 1);
        n_spaces = 0;
    };
    Steps steps;
    each_character(text, [&](const Byte* at, std::size_t n, bool is_space) {
        steps.add(n);
        if (is_space) {
            space = at;
            space_length = n;
            ++n_spaces;
            return;
        }
        put_space();
        put(at, n);
    });
    put_space();
}

void Tokenizer::collect_padded_word(const Byte* at, std::size_t n) {
    pieces_.clear(n + 2);
    const auto put_blank = [&] {
        pieces_.begin();
        pieces_.add(' ');
    };
    put_blank();
    for (const auto [begin, end] : Ranges(n)) {
        for (std::size_t i = begin; i < end; ++i) {
            if (!continues(at[i])) pieces_.begin();
            pieces_.add(at[i]);
        }
    }
    put_blank();
}

}  // namespace candide
