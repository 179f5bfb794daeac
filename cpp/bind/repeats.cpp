#include "../core/repeats.hpp"

#include "arrays.hpp"

namespace candide {

void bind_repeats(nb::module_& module) {
    module.def(
        "has_repeats",
        [](nb::object indptr, nb::object indices, nb::object values, std::size_t n_columns, int n_threads) {
            return with_rows(indptr, indices, values, n_columns,
                             [&](const auto& rows) { return unlocked([&] { return has_repeats(rows, n_threads); }); });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("n_columns"), nb::arg("n_threads"));
}

}  // namespace candide
