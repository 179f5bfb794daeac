#include "../core/labels.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_labels(nb::module_& module) {
    module.def(
        "encode_labels",
        [](nb::object source, int n_threads) -> nb::object {
            const Table labels = table_of(source);
            require(labels.n_columns == 1, "labels must be one column");
            std::vector<std::int64_t> distinct;
            std::vector<std::int32_t> positions(labels.n_rows);
            bool done;
            {
                const Unlocked released;
                done = encode_labels(labels, n_threads, distinct, positions.data());
            }
            if (!done) return nb::none();
            return nb::make_tuple(to_array(std::move(distinct)), to_array(std::move(positions)));
        },
        nb::arg("labels"), nb::arg("n_threads"));
}

}  // namespace candide
