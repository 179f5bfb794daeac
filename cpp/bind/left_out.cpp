#include "../core/complement.hpp"
#include "../core/left_out_scores.hpp"
#include "../core/shared_normal.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

// Weights as the kernels for such rows want them: (n_classes, n_columns), or by column and padded.
template <class Data>
LinearTables linear_tables(const Data& rows, const Doubles& weights, const Doubles& base, const MaybeDoubles& absent,
                           std::optional<double> threshold, std::size_t n_classes) {
    check_length(base, n_classes, "base");
    Shape wanted{n_classes, rows.n_columns};
    if constexpr (!std::is_same_v<Data, Table>)
        wanted = {rows.n_columns, padded_width(weights, rows.n_columns, n_classes, "weights")};
    check_shape(weights, wanted, "weights");
    check_shape(absent, wanted, "absent");
    return {weights.data(), wanted.n_columns, base.data(), data_or_null(absent), n_classes, threshold};
}

}  // namespace

void bind_left_out(nb::module_& module) {
    module.def(
        "left_out_counts",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, MaybeDoubles weight,
           Doubles weights, Doubles base, MaybeDoubles absent, Doubles count, NumberOrDoubles pseudo, int n_threads,
           Output scores, Output sums, Output zeros, Output cells) {
            const Shape shape = shape_of(count, "count");
            const Totals totals = totals_of(count, pseudo);
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                const LinearTables tables = linear_tables(rows, weights, base, absent, std::nullopt, shape.n_rows);
                check_shape(scores, {rows.n_rows, shape.n_rows}, "scores");
                check_length(sums, rows.n_rows, "sums");
                check_length(zeros, rows.n_rows, "zeros");
                check_length(cells, rows.n_rows, "cells");
                return as_tuple(unlocked([&] {
                    const OwnLogSums own(members, totals, n_threads, {sums.data(), zeros.data(), cells.data()});
                    return left_out_scores(rows, tables, n_threads, scores.data(), own);
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"),
        exact("weight").none(), exact("weights"), exact("base"), exact("absent").none(), exact("count"),
        exact("pseudo"), nb::arg("n_threads"), exact("scores"), exact("sums"), exact("zeros"), exact("cells"));

    module.def(
        "left_out_linear",
        [](nb::object values, nb::object indptr, nb::object indices, Positions classes, Doubles weights, Doubles base,
           MaybeDoubles absent, Doubles own_weights, Doubles own_base, MaybeDoubles own_absent,
           std::optional<double> threshold, int n_threads, Output scores, Output own) {
            const Shape shape = shape_of(own_weights, "own_weights");
            check_shape(own_absent, shape, "own_absent");
            check_length(own_base, shape.n_rows, "own_base");
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, std::nullopt, shape.n_rows);
                const LinearTables tables = linear_tables(rows, weights, base, absent, threshold, shape.n_rows);
                check_shape(scores, {rows.n_rows, shape.n_rows}, "scores");
                check_length(own, rows.n_rows, "own");
                return as_tuple(unlocked([&] {
                    const OwnLinear score_own(members, own_weights.data(), own_base.data(), data_or_null(own_absent),
                                              n_threads, own.data());
                    return left_out_scores(rows, tables, n_threads, scores.data(), score_own);
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("classes"), exact("weights"),
        exact("base"), exact("absent").none(), exact("own_weights"), exact("own_base"), exact("own_absent").none(),
        nb::arg("threshold").none(), nb::arg("n_threads"), exact("scores"), exact("own"));

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
