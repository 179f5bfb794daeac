#include "../core/rising.hpp"
#include "../core/score.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_predictive(nb::module_& module) {
    module.def(
        "rising_scores",
        [](nb::object values, nb::object indptr, nb::object indices, Doubles start, Doubles base, int n_threads,
           Output scores) {
            const Shape shape = shape_of(start, "start");
            return with_data(values, indptr, indices, shape.n_columns, [&](const auto& rows) {
                const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
                check_shape(start, {n_classes, shape.n_columns}, "start");
                return as_tuple(unlocked([&] {
                    return rising_scores(rows, start.data(), base.data(), n_classes, n_threads, scores.data());
                }));
            });
        },
        nb::arg("values"), nb::arg("indptr").none(), nb::arg("indices").none(), exact("start"), nb::arg("base"),
        nb::arg("n_threads"), exact("scores"));

    module.def(
        "student_scores",
        [](nb::object source, Doubles location, Doubles spread, Doubles power, Doubles constant, Doubles base,
           int n_threads, Output scores) {
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
        nb::arg("table"), exact("location"), exact("spread"), exact("power"), exact("constant"), nb::arg("base"),
        nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
