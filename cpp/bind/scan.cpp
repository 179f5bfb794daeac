#include "../core/scan.hpp"

#include "arrays.hpp"

namespace candide {

void bind_scan(nb::module_& module) {
    module.def(
        "scan",
        [](nb::object source, int n_threads) {
            const Table table = table_of(source);
            std::vector<Extent> extents(table.n_columns);
            {
                const Unlocked released;
                scan(table, n_threads, extents.data());
            }
            nb::list out;
            for (const Extent& e : extents)
                out.append(nb::make_tuple(e.low, e.high, e.missing, e.first_fraction, e.first_infinite, e.first_huge));
            return out;
        },
        exact("table"), nb::arg("n_threads"));
}

}  // namespace candide
