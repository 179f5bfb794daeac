#include "../core/cell_codes.hpp"
#include "../core/codes.hpp"
#include "../core/grid.hpp"
#include "../core/moments.hpp"
#include "../core/tally.hpp"
#include "../core/tally_rows.hpp"
#include "../core/tally_sparse.hpp"

#include "arrays.hpp"
#include "fields.hpp"
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

void bind_counting(nb::module_& module) {
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
        nb::arg("values"), exact("classes"), exact("weight").none(), nb::arg("threshold").none(), nb::arg("n_threads"),
        exact("total"), exact("missing"));

    module.def(
        "tally_rows",
        [](nb::handle source, Positions classes, MaybeDoubles weight, int cell, double threshold, MaybeDoubles center,
           int n_threads, Output total) {
            const Shape shape = shape_of(total, "total");
            const Request request = request_of(cell, threshold, center);
            check_shape(center, shape, "center");
            return with_rows(source, shape.n_columns, [&](const auto& rows) {
                check_groups(rows.n_rows, classes, weight, shape.n_rows);
                return as_tuple(unlocked([&] {
                    return tally_rows(rows, classes.data(), data_or_null(weight), shape.n_rows, request, n_threads,
                                      total.data());
                }));
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("cell"), nb::arg("threshold"),
        exact("center").none(), nb::arg("n_threads"), exact("total"));

    module.def(
        "tally_rows_sparse",
        [](nb::handle source, Positions classes, MaybeDoubles weight, int cell, double threshold, std::size_t n_classes,
           int n_threads) {
            const Request request = request_of(cell, threshold, std::nullopt);
            return with_rows(source, n_columns_of(source), [&](const auto& rows) {
                check_groups(rows.n_rows, classes, weight, n_classes);
                SparseTotals totals = unlocked([&] {
                    return tally_rows_sparse(rows, classes.data(), data_or_null(weight), n_classes, request, n_threads);
                });
                return nb::make_tuple(to_array(std::move(totals.indptr)), to_array(std::move(totals.indices)),
                                      to_array(std::move(totals.values)), as_tuple(totals.findings));
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("cell"), nb::arg("threshold"),
        nb::arg("n_classes"), nb::arg("n_threads"));

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
        nb::arg("values"), exact("classes"), exact("row_weight").none(), nb::arg("n_threads"), exact("weight"),
        exact("mean"), exact("scatter"));

    module.def(
        "grid",
        [](nb::object source, Positions classes, MaybeDoubles weight, std::size_t n_classes, std::size_t limit,
           int n_threads) {
            const Table table = table_of(source);
            require(limit > 0, "limit must be above 0");
            check_groups(table.n_rows, classes, weight, n_classes);
            Grid cells = unlocked(
                [&] { return grid(table, classes.data(), data_or_null(weight), n_classes, limit, n_threads); });
            return nb::make_tuple(to_array(std::move(cells.offsets)), to_array(std::move(cells.key)),
                                  to_array(std::move(cells.shift)), to_array(std::move(cells.weight)),
                                  to_array(std::move(cells.classes)), to_array(std::move(cells.indptr)),
                                  cells.infinite);
        },
        nb::arg("values"), exact("classes"), exact("weight").none(), nb::arg("n_classes"), nb::arg("limit"),
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
        nb::arg("values"), exact("cuts"), exact("offsets"), nb::arg("n_threads"), exact("codes"));

    module.def(
        "count_codes",
        [](nb::object source, Positions classes, MaybeDoubles weight, Longs offsets, int n_threads, Output counts) {
            const Table codes = table_of(source);
            const auto [n_classes, n_slots] = shape_of(counts, "counts");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 0);
            check_groups(codes.n_rows, classes, weight, n_classes);
            const Unlocked released;
            count_codes(codes, classes.data(), data_or_null(weight), n_classes, slots, n_threads, counts.data());
        },
        nb::arg("codes"), exact("classes"), exact("weight").none(), exact("offsets"), nb::arg("n_threads"),
        exact("counts"));
}

}  // namespace candide
