#include "../core/own.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_own(nb::module_& module) {
    module.def(
        "own_linear_scores",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, Doubles weights, Doubles base,
           MaybeDoubles absent, std::optional<double> threshold, int n_threads, Output scores) {
            const Shape shape = shape_of(weights, "weights");
            check_shape(absent, shape, "absent");
            check_length(base, shape.n_rows, "base");
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, std::nullopt, shape.n_rows);
                check_length(scores, rows.n_rows, "scores");
                return as_tuple(unlocked([&] {
                    return own_linear_scores(members, weights.data(), base.data(), data_or_null(absent), threshold,
                                             n_threads, scores.data());
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"), exact("weights"),
        nb::arg("base"), exact("absent").none(), nb::arg("threshold").none(), nb::arg("n_threads"), exact("scores"));

    module.def(
        "own_log_sums",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, MaybeDoubles weight,
           Doubles part, int n_threads, Output sums, Output zeros) {
            const Shape shape = shape_of(part, "part");
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_length(sums, rows.n_rows, "sums");
                check_length(zeros, rows.n_rows, "zeros");
                return as_tuple(unlocked(
                    [&] { return own_log_sums(members, part.data(), n_threads, sums.data(), zeros.data()); }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"),
        exact("weight").none(), exact("part"), nb::arg("n_threads"), exact("sums"), exact("zeros"));
}

}  // namespace candide
