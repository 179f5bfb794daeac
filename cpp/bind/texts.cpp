#include "texts.hpp"

#include <nanobind/stl/pair.h>
#include <cmath>
#include <limits>

#include "shapes.hpp"

namespace candide {
namespace {

// So that counts within a text are 32-bit numbers.
constexpr std::size_t kLongest = std::numeric_limits<std::int32_t>::max();

// Characters that become strings, with the interpreter lock, before signals are looked for.
constexpr std::size_t kBetweenSignals = std::size_t{1} << 20;

void check_size(std::size_t units, std::size_t row) {
    if (units <= kLongest) return;  // before a message is made, which takes longer than all else here
    require(false, "the text at row " + std::to_string(row) + " is longer than 2^31 - 1; cut it into several");
}

Storage storage_of(PyObject* text) {
    if (PyUnicode_IS_ASCII(text)) return Storage::utf8;
    switch (PyUnicode_KIND(text)) {
        case PyUnicode_1BYTE_KIND: return Storage::one;
        case PyUnicode_2BYTE_KIND: return Storage::two;
        default: return Storage::four;
    }
}

bool is_missing(PyObject* item) {
    return item == Py_None || (PyFloat_Check(item) && std::isnan(PyFloat_AS_DOUBLE(item)));
}

// The texts of a list, up to the first item that is neither a text nor missing; where that is, -1 if nowhere.
std::pair<HeldTexts, std::ptrdiff_t> texts_of_list(const nb::list& items) {
    HeldTexts texts;
    const nb::tuple kept(items);  // the list may change while the texts are read without the interpreter lock
    texts.owner = kept;
    const auto n = static_cast<std::ptrdiff_t>(kept.size());
    texts.rows.reserve(kept.size());
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        PyObject* item = PyTuple_GET_ITEM(kept.ptr(), i);
        if (PyUnicode_Check(item)) {
            const auto units = static_cast<std::size_t>(PyUnicode_GET_LENGTH(item));
            check_size(units, static_cast<std::size_t>(i));
            texts.rows.push_back({PyUnicode_DATA(item), units, storage_of(item)});
        } else if (is_missing(item)) {
            texts.rows.push_back({});
        } else {
            return {std::move(texts), i};
        }
    }
    return {std::move(texts), -1};
}

using MaybeBools = std::optional<nb::ndarray<const bool, nb::c_contig, nb::device::cpu>>;

template <class Offset>
std::vector<Text> slices(const ByteArray& data, const Offset* offsets, std::size_t n, const bool* valid) {
    std::vector<Text> rows(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Offset begin = offsets[i], end = offsets[i + 1];
        require(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= data.shape(0),
                "offsets must rise within the bytes");
        const auto units = static_cast<std::size_t>(end - begin);
        check_size(units, i);
        if (!valid || valid[i]) rows[i] = {data.data() + begin, units, Storage::utf8};
    }
    return rows;
}

// Arrow's layout: the bytes of all texts and where each begins and ends, as 32- or 64-bit numbers.
HeldTexts texts_of_buffers(nb::object bytes, nb::object offsets, const MaybeBools& valid) {
    const auto data = array_of<ByteArray>(bytes);
    const auto make = [&](auto kind) {
        using Offset = decltype(kind);
        const auto at = array_of<nb::ndarray<const Offset, nb::c_contig, nb::device::cpu>>(offsets);
        require(at.ndim() == 1 && at.shape(0) > 0 && data.ndim() == 1, "bytes and offsets must be one-dimensional");
        const std::size_t n = at.shape(0) - 1;
        if (valid) check_length(*valid, n, "valid");
        return HeldTexts{slices(data, at.data(), n, valid ? valid->data() : nullptr), bytes};
    };
    return array_of<AnyArray>(offsets).itemsize() == 4 ? make(std::int32_t{}) : make(std::int64_t{});
}

HeldTexts joined(const nb::list& parts) {
    HeldTexts all;
    all.owner = nb::tuple(parts);
    for (const nb::handle part : parts) {
        const auto& rows = nb::cast<const HeldTexts&>(part).rows;
        all.rows.insert(all.rows.end(), rows.begin(), rows.end());
    }
    return all;
}

HeldTexts stretch(const HeldTexts& texts, std::size_t begin, std::size_t end) {
    require(begin <= end && end <= texts.rows.size(), "rows must lie within the texts");
    return {{texts.rows.begin() + begin, texts.rows.begin() + end}, texts.owner};
}

HeldTexts taken(const HeldTexts& texts, const Longs& rows) {
    HeldTexts some{{}, texts.owner};
    check_length(rows, rows.size(), "rows");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(rows.data()[i]);
        require(row < texts.rows.size(), "rows must lie within the texts");
        some.rows.push_back(texts.rows[row]);
    }
    return some;
}

nb::list strings(const HeldTexts& texts) {
    nb::list out;
    std::vector<Byte> scratch;
    std::size_t units = 0;
    for (const Text& text : texts.rows) {
        units += text.units;
        if (units > kBetweenSignals) {
            units = 0;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        }
        const Bytes bytes = utf8_of(text, scratch);
        const auto* data = reinterpret_cast<const char*>(bytes.data());
        const auto size = static_cast<Py_ssize_t>(bytes.size());
        out.append(text.missing() ? nb::none() : nb::steal(PyUnicode_DecodeUTF8(data, size, "replace")));
    }
    return out;
}

nb::object missing(const HeldTexts& texts) {
    std::vector<std::uint8_t> out;
    for (const Text& text : texts.rows) out.push_back(text.missing());
    return to_array(std::move(out)).cast().attr("view")("bool");
}

auto sizes(const HeldTexts& texts, int n_threads) {
    std::vector<std::int64_t> out(texts.rows.size());
    unlocked([&] {
        text_sizes(texts.view(), n_threads, out.data());
        return 0;
    });
    return to_array(std::move(out));
}

auto hashes(const HeldTexts& texts, int n_threads) {
    std::vector<std::uint64_t> out(texts.rows.size());
    unlocked([&] {
        text_hashes(texts.view(), n_threads, out.data());
        return 0;
    });
    return to_array(std::move(out));
}

nb::tuple packed(const HeldTexts& texts) {
    std::vector<Byte> bytes;
    std::vector<std::int64_t> offsets(texts.rows.size() + 1);
    unlocked([&] {
        pack_texts(texts.view(), bytes, offsets.data() + 1);
        return 0;
    });
    return nb::make_tuple(to_array(std::move(bytes)), to_array(std::move(offsets)));
}

}  // namespace

void bind_texts(nb::module_& module) {
    nb::class_<HeldTexts>(module, "Texts")
        .def_static("of_list", &texts_of_list, nb::arg("items"))
        .def_static("of_buffers", &texts_of_buffers, nb::arg("data"), nb::arg("offsets"), nb::arg("valid").none())
        .def_static("joined", &joined, nb::arg("parts"))
        .def("__len__", [](const HeldTexts& texts) { return texts.rows.size(); })
        .def("units", [](const HeldTexts& texts) { return total_units(texts.view()); })
        .def("rows", &stretch, nb::arg("begin"), nb::arg("end"))
        .def("take", &taken, exact("rows"))
        .def("sizes", &sizes, nb::arg("n_threads"))
        .def("hashes", &hashes, nb::arg("n_threads"))
        .def("packed", &packed)
        .def("missing", &missing)
        .def("strings", &strings);
}

}  // namespace candide
