#include "../core/codes.hpp"

#include "arrays.hpp"

namespace candide {

void bind_codes(nb::module_& module) {
    module.def(
        "count_codes",
        [](nb::object source, Positions classes, MaybeDoubles weight, Longs offsets, int n_threads, Output counts) {
            const Table codes = table_of(source);
            same_length(codes.n_rows, classes, weight);
            nb::gil_scoped_release unlocked;
            count_codes(codes, classes.data(), data_or_null(weight), counts.shape(0),
                        Slots{offsets.data(), codes.n_columns}, n_threads, counts.data());
        },
        nb::arg("codes"), nb::arg("classes"), nb::arg("weight").none(), nb::arg("offsets"), nb::arg("n_threads"),
        nb::arg("counts").noconvert());

    module.def(
        "code_scores",
        [](nb::object source, Longs offsets, Doubles table, Doubles base, int n_threads, Output scores) {
            const Table codes = table_of(source);
            nb::gil_scoped_release unlocked;
            code_scores(codes, Slots{offsets.data(), codes.n_columns}, table.data(), table.shape(1), base.data(),
                        scores.shape(1), n_threads, scores.data());
        },
        nb::arg("codes"), nb::arg("offsets"), nb::arg("table"), nb::arg("base"), nb::arg("n_threads"), nb::arg("scores").noconvert());

    module.def(
        "scan",
        [](nb::object source, int n_threads) {
            const Table table = table_of(source);
            std::vector<Extent> extents(table.n_columns);
            {
                nb::gil_scoped_release unlocked;
                scan(table, n_threads, extents.data());
            }
            nb::list out;
            for (const Extent& e : extents)
                out.append(nb::make_tuple(e.low, e.high, e.missing, e.first_fraction, e.first_infinite, e.first_huge));
            return out;
        },
        nb::arg("table"), nb::arg("n_threads"));
}

}  // namespace candide
