#include "../core/score.hpp"
#include "../core/score_rows.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_score(nb::module_& module) {
    module.def(
        "linear_scores",
        [](nb::object source, Doubles weights, Doubles base, MaybeDoubles absent, std::optional<double> threshold,
           int n_threads, Output scores) {
            const Table table = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, table.n_rows);
            check_shape(weights, {n_classes, table.n_columns}, "weights");
            check_shape(absent, {n_classes, table.n_columns}, "absent");
            return as_tuple(unlocked([&] {
                return linear_scores(table, weights.data(), base.data(), data_or_null(absent), n_classes, threshold,
                                     n_threads, scores.data());
            }));
        },
        nb::arg("table"), exact("weights"), nb::arg("base"), exact("absent").none(), nb::arg("threshold").none(),
        nb::arg("n_threads"), exact("scores"));

    module.def(
        "quadratic_scores",
        [](nb::object source, Doubles precision, Doubles mean, Doubles constant, Doubles base, int n_threads,
           Output scores) {
            const Table table = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, table.n_rows);
            check_shape(precision, {n_classes, table.n_columns}, "precision");
            check_shape(mean, {n_classes, table.n_columns}, "mean");
            check_shape(constant, {n_classes, table.n_columns}, "constant");
            return as_tuple(unlocked([&] {
                return quadratic_scores(table, precision.data(), mean.data(), constant.data(), base.data(), n_classes,
                                        n_threads, scores.data());
            }));
        },
        nb::arg("table"), exact("precision"), exact("mean"), exact("constant"), nb::arg("base"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "linear_row_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Doubles weights, Doubles base,
           MaybeDoubles absent, std::optional<double> threshold, int n_threads, Output scores) {
            const std::size_t n_columns = shape_of(weights, "weights").n_rows;
            return with_rows(indptr, indices, values, n_columns, [&](const auto& rows) {
                const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
                const std::size_t stride = padded_width(weights, n_columns, n_classes, "weights");
                check_shape(absent, {n_columns, stride}, "absent");
                return as_tuple(unlocked([&] {
                    const LinearRows table{weights.data(), stride, base.data(), data_or_null(absent), n_classes};
                    return linear_row_scores(rows, table, threshold, n_threads, scores.data());
                }));
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("weights"), nb::arg("base"),
        exact("absent").none(), nb::arg("threshold").none(), nb::arg("n_threads"), exact("scores"));

    module.def(
        "factored_row_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Doubles shared, Doubles slope, Longs by_column,
           Longs classes, Doubles stored, Doubles base, std::optional<double> threshold, int n_threads,
           Output scores) {
            const std::size_t n_columns = shared.size();
            check_length(shared, n_columns, "shared");
            check_length(by_column, n_columns + 1, "by_column");
            check_length(stored, stored.size(), "stored");
            check_length(classes, stored.size(), "classes");
            return with_rows(indptr, indices, values, n_columns, [&](const auto& rows) {
                const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
                check_length(slope, n_classes, "slope");
                const FactoredWeights weights{shared.data(),  slope.data(),  by_column.data(),
                                              classes.data(), stored.data(), stored.size()};
                return as_tuple(unlocked([&] {
                    return factored_row_scores(rows, weights, base.data(), n_classes, threshold, n_threads,
                                               scores.data());
                }));
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("shared"), exact("slope"), exact("by_column"),
        exact("classes"), exact("stored"), nb::arg("base"), nb::arg("threshold").none(), nb::arg("n_threads"),
        exact("scores"));
}

}  // namespace candide
