#include "../core/codes.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_codes(nb::module_& module) {
    module.def(
        "count_codes",
        [](nb::object source, Positions classes, MaybeDoubles weight, Longs offsets, int n_threads, Output counts) {
            const Table codes = table_of(source);
            const auto [n_classes, n_slots] = shape_of(counts, "counts");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 0);
            check_groups(codes.n_rows, classes, weight, n_classes);
            const Unlocked released;
            count_codes(codes, classes.data(), data_or_null(weight), n_classes, slots, n_threads, counts.data());
        },
        nb::arg("codes"), exact("classes"), exact("weight").none(), exact("offsets"), nb::arg("n_threads"),
        exact("counts"));

    module.def(
        "code_scores",
        [](nb::object source, Longs offsets, Doubles table, Doubles base, int n_threads, Output scores) {
            const Table codes = table_of(source);
            const std::size_t n_classes = shape_of(scores, "scores").n_columns;
            const std::size_t n_slots = shape_of(table, "table").n_rows;
            const std::size_t stride = padded_width(table, n_slots, n_classes, "table");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 1);
            check_length(base, n_classes, "base");
            check_shape(scores, {codes.n_rows, n_classes}, "scores");
            const Unlocked released;
            code_scores(codes, slots, table.data(), stride, base.data(), n_classes, n_threads, scores.data());
        },
        nb::arg("codes"), exact("offsets"), exact("table"), nb::arg("base"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "left_out_code_scores",
        [](nb::object source, Positions classes, Longs offsets, Doubles table, Doubles own_table, Doubles base,
           int n_threads, Output scores, Output own) {
            const Table codes = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, codes.n_rows);
            const std::size_t n_slots = shape_of(table, "table").n_rows;
            const std::size_t stride = padded_width(table, n_slots, n_classes, "table");
            check_shape(own_table, {n_slots, stride}, "own_table");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 1);
            const auto members = members_of(codes, classes, std::nullopt, n_classes);
            check_length(own, codes.n_rows, "own");
            const Unlocked released;
            left_out_code_scores(members, slots, table.data(), own_table.data(), stride, base.data(), n_threads,
                                 scores.data(), own.data());
        },
        nb::arg("codes"), exact("classes"), exact("offsets"), exact("table"), exact("own_table"), nb::arg("base"),
        nb::arg("n_threads"), exact("scores"), exact("own"));

    module.def(
        "own_code_scores",
        [](nb::object source, Positions classes, Longs offsets, Doubles table, int n_threads, Output scores) {
            const Table codes = table_of(source);
            const auto [n_slots, stride] = shape_of(table, "table");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 1);
            const auto members = members_of(codes, classes, std::nullopt, stride);
            check_length(scores, codes.n_rows, "scores");
            const Unlocked released;
            own_code_scores(members, slots, table.data(), stride, n_threads, scores.data());
        },
        nb::arg("codes"), exact("classes"), exact("offsets"), exact("table"), nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
