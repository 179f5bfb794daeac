#include "../core/complement.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_left_out(nb::module_& module) {
    module.def(
        "left_out_complement",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, MaybeDoubles weight,
           Doubles others, int n_threads, Output sums, Output zeros) {
            const Shape shape = shape_of(others, "others");
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_shape(sums, {rows.n_rows, shape.n_rows}, "sums");
                check_shape(zeros, {rows.n_rows, shape.n_rows}, "zeros");
                return as_tuple(unlocked(
                    [&] { return left_out_complement(members, others.data(), n_threads, sums.data(), zeros.data()); }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"),
        exact("weight").none(), exact("others"), nb::arg("n_threads"), exact("sums"), exact("zeros"));
}

}  // namespace candide
