#include "../core/moments.hpp"

#include "arrays.hpp"

namespace candide {

void bind_moments(nb::module_& module) {
    module.def(
        "moments",
        [](nb::object source, Positions classes, MaybeDoubles row_weight, int n_threads, Output weight, Output mean,
           Output scatter) {
            const Table table = table_of(source);
            same_length(table.n_rows, classes, row_weight);
            nb::gil_scoped_release unlocked;
            moments(table, classes.data(), data_or_null(row_weight), weight.shape(0), n_threads, weight.data(),
                    mean.data(), scatter.data());
        },
        nb::arg("table"), nb::arg("classes"), nb::arg("row_weight").none(), nb::arg("n_threads"), nb::arg("weight").noconvert(),
        nb::arg("mean").noconvert(), nb::arg("scatter").noconvert());
}

}  // namespace candide
