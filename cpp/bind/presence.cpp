#include "../core/presence.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_presence(nb::module_& module) {
    module.def(
        "presence_scores",
        [](nb::object source, double threshold, Doubles bytes, Doubles weights, MaybeDoubles absent, Doubles base,
           int n_threads, Output scores) {
            const Table table = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, table.n_rows);
            const std::size_t stride = padded_width(bytes, 256 * ((table.n_columns + 7) / 8), n_classes, "bytes");
            check_shape(weights, {table.n_columns, stride}, "weights");
            check_shape(absent, {table.n_columns, stride}, "absent");
            const Presence presence{bytes.data(), weights.data(), data_or_null(absent), stride};
            return as_tuple(unlocked([&] {
                return presence_scores(table, threshold, presence, base.data(), n_classes, n_threads, scores.data());
            }));
        },
        nb::arg("table"), nb::arg("threshold"), exact("bytes"), exact("weights"), exact("absent").none(),
        nb::arg("base"), nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
