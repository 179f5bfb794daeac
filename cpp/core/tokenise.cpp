#include "tokenise.hpp"

namespace candide {

void Tokeniser::add_given(const Recipe& recipe, const Byte* at, std::size_t n) {
    add_word(at, n);
    const std::size_t last = pieces_.count() - 1;
    if (!wanted(recipe, pieces_.at(last), n)) pieces_.drop_last();
}

void Tokeniser::collect_characters(const NormalText& text) {
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
    each_character(text, [&](const Byte* at, std::size_t n, bool is_space) {
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

void Tokeniser::collect_padded_word(const Byte* at, std::size_t n) {
    pieces_.clear(n + 2);
    const auto put_blank = [&] {
        pieces_.begin();
        pieces_.add(' ');
    };
    put_blank();
    for (std::size_t i = 0; i < n; ++i) {
        if (!continues(at[i])) pieces_.begin();
        pieces_.add(at[i]);
    }
    put_blank();
}

}  // namespace candide
