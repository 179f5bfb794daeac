#include "../core/moments.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_moments(nb::module_& module) {
    module.def(
        "moments",
        [](nb::object source, Positions classes, MaybeDoubles row_weight, int n_threads, Output weight, Output mean,
           Output scatter) {
            const Table table = table_of(source);
            const Shape shape{shape_of(weight, "weight").n_rows, table.n_columns};
            check_shape(weight, shape, "weight");
            check_shape(mean, shape, "mean");
            check_shape(scatter, shape, "scatter");
            check_groups(table.n_rows, classes, row_weight, shape.n_rows);
            const Unlocked released;
            moments(table, classes.data(), data_or_null(row_weight), shape.n_rows, n_threads, weight.data(),
                    mean.data(), scatter.data());
        },
        nb::arg("table"), exact("classes"), exact("row_weight").none(), nb::arg("n_threads"), exact("weight"),
        exact("mean"), exact("scatter"));
}

}  // namespace candide
