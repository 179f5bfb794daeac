// NumPy arrays as the core sees them. No arithmetic here: only types, layout and ownership.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <cstdlib>
#include <vector>

#include "../core/findings.hpp"
#include "../core/rows.hpp"
#include "../core/stop.hpp"
#include "../core/table.hpp"

namespace nb = nanobind;

namespace candide {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using MaybeDoubles = std::optional<Doubles>;
using NumberOrDoubles = std::variant<double, Doubles>;
using Output = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<std::int32_t, nb::c_contig, nb::device::cpu>;
using Longs = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
using Hashes = nb::ndarray<const std::uint64_t, nb::c_contig, nb::device::cpu>;

// No silent copies of large arrays: one of another type or layout is an error.
inline auto exact(const char* name) { return nb::arg(name).noconvert(); }
template <class Array>
Array array_of(nb::handle source) {
    Array array;
    if (!nb::try_cast<Array>(source, array, false))
        throw nb::type_error("an array of another type or layout was expected");
    return array;
}

inline Type type_of(const AnyArray& array) {
    using Code = nb::dlpack::dtype_code;
    const auto dtype = array.dtype();
    const auto code = static_cast<Code>(dtype.code);
    if (code == Code::Float && dtype.bits == 64) return Type::f64;
    if (code == Code::Float && dtype.bits == 32) return Type::f32;
    if (code == Code::Bool) return Type::u8;
    if (code == Code::Int)
        return dtype.bits == 64 ? Type::i64 : dtype.bits == 32 ? Type::i32 : dtype.bits == 16 ? Type::i16 : Type::i8;
    if (code == Code::UInt)
        return dtype.bits == 64 ? Type::u64 : dtype.bits == 32 ? Type::u32 : dtype.bits == 16 ? Type::u16 : Type::u8;
    throw nb::type_error("the kernels take real numbers of up to 64 bits");
}

inline Column column_of(const AnyArray& array, std::size_t axis, std::ptrdiff_t offset) {
    const auto size = static_cast<std::ptrdiff_t>(array.itemsize());
    const auto stride = static_cast<std::ptrdiff_t>(array.stride(axis)) * size;
    return {static_cast<const std::byte*>(array.data()) + offset, stride, type_of(array)};
}

// One two-dimensional array, or a sequence of one-dimensional ones of equal length.
inline Table table_of(nb::handle source) {
    Table table;
    if (nb::isinstance<nb::tuple>(source)) {
        const auto parts = nb::cast<nb::tuple>(source);
        table.n_columns = parts.size();
        for (std::size_t j = 0; j < parts.size(); ++j) {
            const auto array = array_of<AnyArray>(parts[j]);
            if (array.ndim() != 1) throw nb::value_error("a column must be one-dimensional");
            if (j == 0) table.n_rows = array.shape(0);
            if (array.shape(0) != table.n_rows) throw nb::value_error("columns must be of equal length");
            table.columns.push_back(column_of(array, 0, 0));
        }
        return table;
    }
    const auto array = array_of<AnyArray>(source);
    if (array.ndim() > 2 || array.ndim() == 0) throw nb::value_error("a table must be one- or two-dimensional");
    table.n_rows = array.shape(0);
    table.n_columns = array.ndim() == 2 ? array.shape(1) : 1;
    const auto size = static_cast<std::ptrdiff_t>(array.itemsize());
    const std::ptrdiff_t step = array.ndim() == 2 ? static_cast<std::ptrdiff_t>(array.stride(1)) * size : 0;
    table.columns.reserve(table.n_columns);
    for (std::size_t j = 0; j < table.n_columns; ++j)
        table.columns.push_back(column_of(array, 0, static_cast<std::ptrdiff_t>(j) * step));
    table.row_major = table.n_columns <= 1 || std::abs(step) <= std::abs(array.stride(0) * size);
    return table;
}

inline const double* data_or_null(const MaybeDoubles& array) { return array ? array->data() : nullptr; }

// Python runs signal handlers on the main thread alone. Returns the check for signals there, and null elsewhere.
StopCheck signal_check();

// While this lives, the interpreter lock is free, and a signal that raises in Python ends the core's loops.
class Unlocked {
  private:
    nb::gil_scoped_release released_;
    Watched watched_{signal_check()};
};

template <class Work>
auto unlocked(Work&& work) {
    const Unlocked released;
    return work();
}

inline nb::tuple as_tuple(const Findings& found) {
    return nb::make_tuple(found.negative, found.infinite, found.missing);
}

// A vector becomes a NumPy array without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_array(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

void bind_columns(nb::module_& module);
void bind_counting(nb::module_& module);
void bind_scoring(nb::module_& module);
void bind_left_out(nb::module_& module);
void bind_dependence(nb::module_& module);
void bind_texts(nb::module_& module);
void bind_vocabulary(nb::module_& module);
void bind_tokens(nb::module_& module);
void bind_token_bins(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_signals(nb::module_& module);

}  // namespace candide
