#include "../core/own.hpp"
#include "../core/own_normal.hpp"
#include "../core/rising.hpp"

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
                    const OwnLinear own(members, weights.data(), base.data(), data_or_null(absent), n_threads,
                                        scores.data());
                    using Scratch = typename decltype(own)::Scratch;
                    return each_row<Scratch>(rows, 1, {!threshold, threshold}, n_threads, own);
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"), exact("weights"),
        nb::arg("base"), exact("absent").none(), nb::arg("threshold").none(), nb::arg("n_threads"), exact("scores"));

    module.def(
        "own_normal_scores",
        [](nb::object source, Positions classes, MaybeDoubles weight, Doubles strength, Doubles location, Doubles shape,
           Doubles scale, double extra, double floor, bool student, int n_threads, Output scores) {
            const Table rows = table_of(source);
            const Shape wanted{shape_of(strength, "strength").n_rows, rows.n_columns};
            check_shape(strength, wanted, "strength");
            check_shape(location, wanted, "location");
            check_shape(shape, wanted, "shape");
            check_shape(scale, wanted, "scale");
            const auto members = members_of(rows, classes, weight, wanted.n_rows);
            check_length(scores, rows.n_rows, "scores");
            const NormalTable table{strength.data(), location.data(), shape.data(), scale.data()};
            return as_tuple(unlocked([&] {
                return student ? own_student_scores(members, table, n_threads, scores.data())
                               : own_normal_scores(members, table, {extra, floor}, n_threads, scores.data());
            }));
        },
        nb::arg("table"), exact("classes"), exact("weight").none(), exact("strength"), exact("location"),
        exact("shape"), exact("scale"), nb::arg("extra"), nb::arg("floor"), nb::arg("student"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "own_rising_scores",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, MaybeDoubles weight,
           Doubles count, NumberOrDoubles pseudo, int n_threads, Output scores) {
            const Shape shape = shape_of(count, "count");
            const Totals totals = totals_of(count, pseudo);
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_length(scores, rows.n_rows, "scores");
                return as_tuple(unlocked([&] { return own_rising_scores(members, totals, n_threads, scores.data()); }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"),
        exact("weight").none(), exact("count"), exact("pseudo"), nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
