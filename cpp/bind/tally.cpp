#include "../core/tally.hpp"
#include "../core/tally_rows.hpp"
#include "../core/tally_sparse.hpp"

#include <iterator>

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

Request request_of(int cell, double threshold, const MaybeDoubles& center) {
    require(cell >= 0 && cell < static_cast<int>(std::size(kCellNames)), "there is no such kind of cell");
    const Request request{static_cast<Cell>(cell), threshold, data_or_null(center)};
    require(center || !request.centered(), "this kind of cell needs a center");
    return request;
}

}  // namespace

void bind_tally(nb::module_& module) {
    nb::list cells;
    for (const char* name : kCellNames) cells.append(name);
    module.attr("CELLS") = nb::tuple(cells);  // kinds of cells, by number

    module.def(
        "tally",
        [](nb::object source, Positions classes, MaybeDoubles weight, std::optional<double> threshold, int n_threads,
           Output total, Output missing) {
            const Table table = table_of(source);
            const Shape shape{shape_of(total, "total").n_rows, table.n_columns};
            check_shape(total, shape, "total");
            check_shape(missing, shape, "missing");
            check_groups(table.n_rows, classes, weight, shape.n_rows);
            return as_tuple(unlocked([&] {
                return tally(table, classes.data(), data_or_null(weight), shape.n_rows, threshold, n_threads,
                             total.data(), missing.data());
            }));
        },
        nb::arg("table"), exact("classes"), exact("weight").none(), nb::arg("threshold").none(), nb::arg("n_threads"),
        exact("total"), exact("missing"));

    module.def(
        "tally_rows",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight, int cell,
           double threshold, MaybeDoubles center, int n_threads, Output total) {
            const Shape shape = shape_of(total, "total");
            const Request request = request_of(cell, threshold, center);
            check_shape(center, shape, "center");
            return with_rows(indptr, indices, values, shape.n_columns, [&](const auto& rows) {
                check_groups(rows.n_rows, classes, weight, shape.n_rows);
                return as_tuple(unlocked([&] {
                    return tally_rows(rows, classes.data(), data_or_null(weight), shape.n_rows, request, n_threads,
                                      total.data());
                }));
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("classes"), exact("weight").none(),
        nb::arg("cell"), nb::arg("threshold"), exact("center").none(), nb::arg("n_threads"), exact("total"));

    module.def(
        "tally_rows_sparse",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight, int cell,
           double threshold, std::size_t n_classes, std::size_t n_columns, int n_threads) {
            const Request request = request_of(cell, threshold, std::nullopt);
            return with_rows(indptr, indices, values, n_columns, [&](const auto& rows) {
                check_groups(rows.n_rows, classes, weight, n_classes);
                SparseTotals totals = unlocked([&] {
                    return tally_rows_sparse(rows, classes.data(), data_or_null(weight), n_classes, request, n_threads);
                });
                return nb::make_tuple(to_array(std::move(totals.indptr)), to_array(std::move(totals.indices)),
                                      to_array(std::move(totals.values)), as_tuple(totals.findings));
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("classes"), exact("weight").none(),
        nb::arg("cell"), nb::arg("threshold"), nb::arg("n_classes"), nb::arg("n_columns"), nb::arg("n_threads"));
}

}  // namespace candide
