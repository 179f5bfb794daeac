#include "../core/codes.hpp"
#include "../core/cosines.hpp"
#include "../core/normalize.hpp"
#include "../core/presence.hpp"
#include "../core/rising.hpp"
#include "../core/score.hpp"
#include "../core/score_rows.hpp"

#include "arrays.hpp"
#include "fields.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

// Scores of at least one class: there is a largest one.
template <class Array>
Shape scores_shape(const Array& scores) {
    const Shape shape = shape_of(scores, "scores");
    require(shape.n_rows == 0 || shape.n_columns > 0, "scores must have a class");
    return shape;
}

}  // namespace

void bind_scoring(nb::module_& module) {
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
        nb::arg("values"), exact("weights"), nb::arg("base"), exact("absent").none(), nb::arg("threshold").none(),
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
        nb::arg("values"), exact("precision"), exact("mean"), exact("constant"), nb::arg("base"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "linear_row_scores",
        [](nb::handle source, Doubles weights, Doubles base, MaybeDoubles absent, std::optional<double> threshold,
           int n_threads, Output scores) {
            const std::size_t n_columns = shape_of(weights, "weights").n_rows;
            return with_rows(source, n_columns, [&](const auto& rows) {
                const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
                const std::size_t stride = padded_width(weights, n_columns, n_classes, "weights");
                check_shape(absent, {n_columns, stride}, "absent");
                return as_tuple(unlocked([&] {
                    const LinearRows table{weights.data(), stride, base.data(), data_or_null(absent), n_classes};
                    return linear_row_scores(rows, table, threshold, n_threads, scores.data());
                }));
            });
        },
        nb::arg("rows"), exact("weights"), nb::arg("base"), exact("absent").none(), nb::arg("threshold").none(),
        nb::arg("n_threads"), exact("scores"));

    module.def(
        "factored_row_scores",
        [](nb::handle source, nb::handle table, Doubles base, std::optional<double> threshold, int n_threads,
           Output scores) {
            const auto shared = field<Doubles, "shared">(table), slope = field<Doubles, "slope">(table);
            const nb::object remainder = attribute<"stored">(table);
            const auto by_column = field<Longs, "indptr">(remainder), classes = field<Longs, "indices">(remainder);
            const auto stored = field<Doubles, "data">(remainder);
            const std::size_t n_columns = shared.size();
            check_length(shared, n_columns, "shared");
            check_length(by_column, n_columns + 1, "indptr");
            check_length(stored, stored.size(), "data");
            check_length(classes, stored.size(), "indices");
            return with_rows(source, n_columns, [&](const auto& rows) {
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
        nb::arg("rows"), nb::arg("table"), nb::arg("base"), nb::arg("threshold").none(), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "presence_scores",
        [](nb::object source, double threshold, Doubles bytes, Doubles weights, MaybeDoubles absent, Doubles base,
           int n_threads, Output scores) {
            const Table table = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, table.n_rows);
            const std::size_t stride = padded_width(bytes, 256 * ((table.n_columns + 7) / 8), n_classes, "bytes");
            check_shape(weights, {table.n_columns, stride}, "weights");
            check_shape(absent, {table.n_columns, stride}, "absent");
            const Presence presence{bytes.data(), weights.data(), data_or_null(absent), stride};
            return as_tuple(unlocked([&] {
                return presence_scores(table, threshold, presence, base.data(), n_classes, n_threads, scores.data());
            }));
        },
        nb::arg("values"), nb::arg("threshold"), exact("bytes"), exact("weights"), exact("absent").none(),
        nb::arg("base"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "rising_scores",
        [](nb::handle source, Doubles start, Doubles base, int n_threads, Output scores) {
            const Shape shape = shape_of(start, "start");
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
                check_shape(start, {n_classes, shape.n_columns}, "start");
                return as_tuple(unlocked([&] {
                    return rising_scores(rows, start.data(), base.data(), n_classes, n_threads, scores.data());
                }));
            });
        },
        nb::arg("rows"), exact("start"), nb::arg("base"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "student_scores",
        [](nb::object source, nb::handle student_table, Doubles base, int n_threads, Output scores) {
            const auto location = field<Doubles, "location">(student_table);
            const auto spread = field<Doubles, "spread">(student_table);
            const auto power = field<Doubles, "power">(student_table);
            const auto constant = field<Doubles, "constant">(student_table);
            const Table table = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, table.n_rows);
            const Shape wanted{n_classes, table.n_columns};
            check_shape(location, wanted, "location");
            check_shape(spread, wanted, "spread");
            check_shape(power, wanted, "power");
            check_shape(constant, wanted, "constant");
            const StudentTable student{location.data(), spread.data(), power.data(), constant.data()};
            return as_tuple(unlocked(
                [&] { return student_scores(table, student, base.data(), n_classes, n_threads, scores.data()); }));
        },
        nb::arg("values"), nb::arg("table"), nb::arg("base"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "cosine_features",
        [](Output angles) {
            const Unlocked released;
            cosines(angles.data(), angles.size());
        },
        exact("angles"));

    module.def(
        "normalize",
        [](Output scores, bool logarithm, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            const Unlocked released;
            return normalize(scores.data(), n_rows, n_classes, logarithm, n_threads);
        },
        exact("scores"), nb::arg("logarithm"), nb::arg("n_threads"));

    module.def(
        "put_own",
        [](Output scores, Positions classes, MaybeDoubles weight, Doubles values, Doubles by_class, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_groups(n_rows, classes, weight, n_classes);
            check_length(values, n_rows, "values");
            check_length(by_class, n_classes, "by_class");
            const Unlocked released;
            put_own(scores.data(), n_rows, n_classes, classes.data(), data_or_null(weight), values.data(),
                    by_class.data(), n_threads);
        },
        exact("scores"), exact("classes"), exact("weight").none(), exact("values"), exact("by_class"),
        nb::arg("n_threads"));

    module.def(
        "add_own",
        [](Output scores, Positions classes, Doubles change, bool by_class, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_groups(n_rows, classes, std::nullopt, n_classes);
            check_length(change, by_class ? n_classes : n_rows, "change");
            const Unlocked released;
            add_own(scores.data(), n_rows, n_classes, classes.data(), change.data(), by_class, n_threads);
        },
        exact("scores"), exact("classes"), exact("change"), nb::arg("by_class"), nb::arg("n_threads"));

    module.def(
        "best",
        [](Doubles scores, int n_threads, nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu> out) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_length(out, n_rows, "out");
            const Unlocked released;
            return best(scores.data(), n_rows, n_classes, n_threads, out.data());
        },
        exact("scores"), nb::arg("n_threads"), exact("out"));

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
}

}  // namespace candide
