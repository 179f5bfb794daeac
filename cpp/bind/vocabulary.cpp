#include <nanobind/stl/pair.h>

#include <algorithm>

#include "../core/bucket_list.hpp"
#include "../core/shared_vocabulary.hpp"
#include "../core/token_list.hpp"
#include "shapes.hpp"
#include "texts.hpp"

namespace candide {
namespace {

// For each text the code of the token that it is.
std::vector<Code> spread(const std::vector<Code>& which, const std::vector<Code>& codes) {
    std::vector<Code> out;
    out.reserve(which.size());
    for (const Code i : which) out.push_back(codes[static_cast<std::size_t>(i)]);
    return out;
}

auto codes_of(const SharedVocabulary& vocabulary, const HeldTexts& texts) {
    return to_array(unlocked([&] {
        const auto [tokens, which] = distinct_tokens(texts.view());
        return spread(which, vocabulary.find_all(tokens));
    }));
}

// From Arrow's layout of strings.
SharedVocabulary of_buffers(const ByteArray& bytes, const Longs& offsets) {
    require(bytes.ndim() == 1 && offsets.ndim() == 1 && offsets.shape(0) > 0, "bytes and offsets must be lists");
    const std::span<const std::int64_t> bounds(offsets.data(), offsets.shape(0));
    const bool rising = bounds.front() == 0 && std::ranges::is_sorted(bounds);
    require(rising && static_cast<std::size_t>(bounds.back()) == bytes.shape(0), "offsets must rise to the last byte");
    return unlocked([&] { return SharedVocabulary(Vocabulary({bytes.data(), bytes.shape(0)}, bounds.subspan(1))); });
}

SharedVocabulary of_texts(const HeldTexts& texts) {
    return unlocked([&] { return SharedVocabulary(distinct_tokens(texts.view()).first); });
}

nb::tuple with_vocabulary(const SharedVocabulary& vocabulary, const SharedVocabulary& other) {
    auto [grown, codes] = unlocked([&] { return vocabulary.with(other.copy()); });
    return nb::make_tuple(std::move(grown), to_array(std::move(codes)));
}

nb::tuple arrays(const SharedVocabulary& vocabulary) {
    auto [bytes, offsets] = unlocked([&] { return vocabulary.arrays(); });
    return nb::make_tuple(to_array(std::move(bytes)), to_array(std::move(offsets)));
}

void check_bits(unsigned bits) { require(bits >= 1 && bits <= 30, "bits must lie in 1 ... 30"); }

void list_buckets(BucketList* self, unsigned bits, const Positions& buckets) {
    check_bits(bits);
    check_length(buckets, buckets.size(), "buckets");
    std::vector<Code> list(buckets.data(), buckets.data() + buckets.size());
    require(std::ranges::is_sorted(list, std::ranges::less_equal{}), "buckets must be distinct and ascending");
    require(list.empty() || (list.front() >= 0 && list.back() >> bits == 0), "buckets must lie in 0 ... 2^bits - 1");
    new (self) BucketList(bits, std::move(list));
}

}  // namespace

void bind_vocabulary(nb::module_& module) {
    nb::class_<SharedVocabulary>(module, "Vocabulary")
        .def(nb::init<>())
        .def_static("of_buffers", &of_buffers, exact("bytes"), exact("offsets"))
        .def_static("of_tokens", &of_texts, nb::arg("tokens"))
        .def("__len__", &SharedVocabulary::size)
        .def("arrays", &arrays)
        .def("codes", &codes_of, nb::arg("tokens"))
        .def("merged", &with_vocabulary, nb::arg("other"));
    nb::class_<BucketList>(module, "BucketList")
        .def("__init__", &list_buckets, nb::arg("bits"), exact("buckets"))
        .def("__len__", &BucketList::size)
        .def("bits", &BucketList::bits)
        .def("buckets", [](const BucketList& list) { return to_array(std::vector<Code>(list.buckets())); });
    module.def(
        "token_buckets",
        [](const HeldTexts& tokens, unsigned bits) {
            check_bits(bits);
            return to_array(unlocked([&] { return token_buckets(tokens.view(), bits); }));
        },
        nb::arg("tokens"), nb::arg("bits"));
}

}  // namespace candide
