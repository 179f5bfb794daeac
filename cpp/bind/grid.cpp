#include "../core/grid.hpp"

#include "../core/cell_codes.hpp"
#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_grid(nb::module_& module) {
    module.def(
        "grid",
        [](nb::object source, Positions classes, MaybeDoubles weight, std::size_t n_classes, std::size_t limit,
           int n_threads) {
            const Table table = table_of(source);
            require(limit > 0, "limit must be above 0");
            check_groups(table.n_rows, classes, weight, n_classes);
            Grid cells = unlocked([&] {
                return grid(table, classes.data(), data_or_null(weight), n_classes, limit, n_threads);
            });
            return nb::make_tuple(to_array(std::move(cells.offsets)), to_array(std::move(cells.key)),
                                  to_array(std::move(cells.shift)), to_array(std::move(cells.weight)),
                                  to_array(std::move(cells.classes)), to_array(std::move(cells.indptr)),
                                  cells.infinite);
        },
        nb::arg("table"), exact("classes"), exact("weight").none(), nb::arg("n_classes"), nb::arg("limit"),
        nb::arg("n_threads"));

    module.def(
        "cell_codes",
        [](nb::object source, Doubles cuts, Longs offsets, int n_threads, Codes codes) {
            const Table table = table_of(source);
            require(cuts.ndim() == 1, "cuts must be one-dimensional");
            slots_of(offsets, table.n_columns, cuts.shape(0), 0);
            check_shape(codes, {table.n_rows, table.n_columns}, "codes");
            return unlocked([&] { return cell_codes(table, cuts.data(), offsets.data(), n_threads, codes.data()); });
        },
        nb::arg("table"), exact("cuts"), exact("offsets"), nb::arg("n_threads"), exact("codes"));
}

}  // namespace candide
