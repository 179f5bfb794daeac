#include "blank_words.hpp"

#include "stop.hpp"

namespace candide {
namespace {

template <class Visit>
void each_word(const NormalText& text, Visit&& visit) {
    const Byte *at = text.data(), *end = at + text.size(), *begin = nullptr;
    for (const auto part : Ranges(text.size())) {
        for (const Byte* stop = text.data() + part.end; at < stop;) {
            const Decoded found = decode(at, end);
            if (!(kFlags[found.character] & kSpace)) {
                if (!begin) begin = at;
            } else if (begin) {
                visit(begin, static_cast<std::size_t>(at - begin));
                begin = nullptr;
            }
            at += found.length;
        }
    }
    if (begin) visit(begin, static_cast<std::size_t>(end - begin));
}

}  // namespace

void BlankWords::read(const NormalText& text) {
    words_.clear();
    ++text_;
    each_word(text, [&](const Byte* at, std::size_t size) { add(at, size); });
    flush();
}

void BlankWords::flush() {
    for (std::size_t i = 0; i < n_waiting_; ++i) count(waiting_[i]);
    n_waiting_ = 0;
}

void BlankWords::count(const Token& word) {
    const auto number = static_cast<std::size_t>(numbers_.find_or_add(word));
    if (number == marks_.size()) marks_.emplace_back();
    Mark& mark = marks_[number];
    if (mark.text == text_) {
        ++words_[mark.place].times;
        return;
    }
    mark = {text_, words_.size()};
    words_.push_back({word.at, word.length, number, 1});
}

}  // namespace candide
