#include "../core/tally.hpp"

#include "arrays.hpp"

namespace candide {
namespace {

nb::tuple as_tuple(const Findings& found) { return nb::make_tuple(found.negative, found.infinite, found.missing); }

Request request_of(int cell, double threshold, const MaybeDoubles& center) {
    return {static_cast<Cell>(cell), threshold, data_or_null(center)};
}

}  // namespace

void bind_tally(nb::module_& module) {
    module.def(
        "tally",
        [](nb::object source, Positions classes, MaybeDoubles weight, std::optional<double> threshold, int n_threads,
           Output total, Output missing) {
            const Table table = table_of(source);
            same_length(table.n_rows, classes, weight);
            Findings found;
            {
                nb::gil_scoped_release unlocked;
                found = tally(table, classes.data(), data_or_null(weight), total.shape(0), threshold, n_threads,
                              total.data(), missing.data());
            }
            return as_tuple(found);
        },
        nb::arg("table"), nb::arg("classes"), nb::arg("weight").none(), nb::arg("threshold").none(),
        nb::arg("n_threads"), nb::arg("total").noconvert(), nb::arg("missing").noconvert());

    module.def(
        "tally_rows",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight, int cell,
           double threshold, MaybeDoubles center, int n_threads, Output total) {
            return with_rows(indptr, indices, values, total.shape(1), [&](const auto& rows) {
                same_length(rows.n_rows, classes, weight);
                Findings found;
                {
                    nb::gil_scoped_release unlocked;
                    found = tally_rows(rows, classes.data(), data_or_null(weight), total.shape(0),
                                       request_of(cell, threshold, center), n_threads, total.data());
                }
                return as_tuple(found);
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("classes"), nb::arg("weight").none(),
        nb::arg("cell"), nb::arg("threshold"), nb::arg("center").none(), nb::arg("n_threads"), nb::arg("total").noconvert());

    module.def(
        "tally_rows_sparse",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight, int cell,
           double threshold, std::size_t n_classes, std::size_t n_columns, int n_threads) {
            return with_rows(indptr, indices, values, n_columns, [&](const auto& rows) {
                same_length(rows.n_rows, classes, weight);
                SparseTotals totals;
                {
                    nb::gil_scoped_release unlocked;
                    totals = tally_rows_sparse(rows, classes.data(), data_or_null(weight), n_classes,
                                               request_of(cell, threshold, std::nullopt), n_threads);
                }
                return nb::make_tuple(to_array(std::move(totals.indptr)), to_array(std::move(totals.indices)),
                                      to_array(std::move(totals.values)), as_tuple(totals.findings));
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("classes"), nb::arg("weight").none(),
        nb::arg("cell"), nb::arg("threshold"), nb::arg("n_classes"), nb::arg("n_columns"), nb::arg("n_threads"));
}

}  // namespace candide
