// Inputs of tests: texts and tables of literals.
#pragma once

#include <string>
#include <vector>

#include "table.hpp"
#include "texts.hpp"

namespace candide {

inline Text text_of(const std::string& text) { return {text.data(), text.size(), Storage::utf8}; }

inline std::vector<Text> texts_of(const std::vector<std::string>& strings) {
    std::vector<Text> texts;
    for (const std::string& string : strings) texts.push_back(text_of(string));
    return texts;
}

inline std::string string_of(const Byte* at, std::size_t n) { return {reinterpret_cast<const char*>(at), n}; }

// Rows of numbers, one after the other. The table reads the vector, which must outlive it.
template <class Number>
Table table_of(const std::vector<Number>& values, std::size_t n_columns, Type type) {
    Table table;
    table.n_rows = n_columns ? values.size() / n_columns : 0;
    table.n_columns = n_columns;
    table.row_major = true;
    const auto* data = reinterpret_cast<const std::byte*>(values.data());
    for (std::size_t j = 0; j < n_columns; ++j)
        table.columns.push_back(
            {data + j * sizeof(Number), static_cast<std::ptrdiff_t>(n_columns * sizeof(Number)), type});
    return table;
}

inline Table table_of(const std::vector<double>& values, std::size_t n_columns) {
    return table_of(values, n_columns, Type::f64);
}

}  // namespace candide
