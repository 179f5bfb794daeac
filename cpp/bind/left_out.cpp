#include "../core/complement.hpp"
#include "../core/shared_normal.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_left_out(nb::module_& module) {
    module.def(
        "left_out_complement",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, MaybeDoubles weight,
           Doubles count, NumberOrDoubles pseudo, int n_threads, Output sums, Output zeros, Output cells) {
            const Shape shape = shape_of(count, "count");
            const Totals others = totals_of(count, pseudo);
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_shape(sums, {rows.n_rows, shape.n_rows}, "sums");
                check_shape(zeros, {rows.n_rows, shape.n_rows}, "zeros");
                check_length(cells, rows.n_rows, "cells");
                return as_tuple(unlocked([&] {
                    return left_out_complement(members, others, n_threads, sums.data(), zeros.data(), cells.data());
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"),
        exact("weight").none(), exact("count"), exact("pseudo"), nb::arg("n_threads"), exact("sums"), exact("zeros"),
        exact("cells"));

    module.def(
        "left_out_shared",
        [](nb::object source, Positions classes, MaybeDoubles weight, Doubles location, Doubles strength, Doubles shape,
           Doubles scale, double extra, double floor, Doubles base, int n_threads, Output scores) {
            const Table rows = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
            check_shape(location, {n_classes, rows.n_columns}, "location");
            check_shape(strength, {n_classes, rows.n_columns}, "strength");
            check_length(shape, rows.n_columns, "shape");
            check_length(scale, rows.n_columns, "scale");
            const auto members = members_of(rows, classes, weight, n_classes);
            const NormalTable table{strength.data(), location.data(), shape.data(), scale.data()};
            return as_tuple(unlocked([&] {
                return left_out_shared(members, table, {extra, floor}, base.data(), n_threads, scores.data());
            }));
        },
        nb::arg("table"), exact("classes"), exact("weight").none(), exact("location"), exact("strength"),
        exact("shape"), exact("scale"), nb::arg("extra"), nb::arg("floor"), nb::arg("base"), nb::arg("n_threads"),
        exact("scores"));
}

}  // namespace candide
