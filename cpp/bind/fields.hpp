// Attributes of Python objects, read by name: bindings take the layouts and tables of candide.kernels as they are.
#pragma once

#include <cstddef>
#include <string>

#include "arrays.hpp"

namespace candide {

// The name of an attribute as a template argument.
template <std::size_t Size>
struct FieldName {
    char text[Size];

    constexpr FieldName(const char (&name)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
    }
};

// Looking up an interned string is twice as fast as making a new one for every call.
template <FieldName Name>
nb::object attribute(nb::handle source) {
    static PyObject* const name = PyUnicode_InternFromString(Name.text);
    PyObject* found = PyObject_GetAttr(source.ptr(), name);
    if (!found) throw nb::python_error();
    return nb::steal(found);
}

// An attribute that is an array, or None, or either. It is not converted.
template <class Value, FieldName Name>
Value field(nb::handle source) {
    Value value;
    if (!nb::try_cast<Value>(attribute<Name>(source), value, false))
        throw nb::type_error((std::string(Name.text) + " has another type or layout than expected").c_str());
    return value;
}

// An attribute that is no array; NumPy's scalars are converted.
template <class Value, FieldName Name>
Value scalar(nb::handle source) {
    return nb::cast<Value>(attribute<Name>(source));
}

// Compressed sparse rows (candide.kernels.layouts.Sparse). The two index arrays share a type; dispatches on it.
template <class Visit>
auto with_rows(nb::handle source, std::size_t n_columns, Visit&& visit) {
    const nb::object indptr = attribute<"indptr">(source), indices = attribute<"indices">(source);
    const nb::object values = attribute<"values">(source);
    auto make = [&](auto kind) {
        using Index = decltype(kind);
        using Array = nb::ndarray<const Index, nb::c_contig, nb::device::cpu>;
        const auto pointers = array_of<Array>(indptr);
        const auto columns = array_of<Array>(indices);
        const Table cells = table_of(values);
        if (pointers.ndim() != 1 || pointers.shape(0) == 0) throw nb::value_error("indptr must be a row of numbers");
        if (columns.ndim() != 1 || cells.n_columns != 1 || columns.shape(0) != cells.n_rows)
            throw nb::value_error("indices and values must be one-dimensional and of equal length");
        return visit(Rows<Index>{pointers.shape(0) - 1, n_columns, pointers.data(), columns.data(), cells});
    };
    return array_of<AnyArray>(indptr).itemsize() == 4 ? make(std::int32_t{}) : make(std::int64_t{});
}

inline std::size_t n_columns_of(nb::handle rows) { return scalar<std::size_t, "n_columns">(rows); }

// Rows of either layout, Dense or Sparse.
template <class Visit>
auto with_data(nb::handle source, std::size_t n_columns, Visit&& visit) {
    if (attribute<"is_sparse">(source).is(nb::handle(Py_True))) return with_rows(source, n_columns, visit);
    const nb::object values = attribute<"values">(source);
    const Table table = table_of(values);
    if (table.n_columns != n_columns) throw nb::value_error("values must have a column for each column of the tables");
    return visit(table);
}

}  // namespace candide
