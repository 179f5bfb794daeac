#include "../core/rising.hpp"

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
}

}  // namespace candide
