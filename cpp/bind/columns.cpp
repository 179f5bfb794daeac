#include "../core/labels.hpp"
#include "../core/repeats.hpp"
#include "../core/row_hash.hpp"
#include "../core/scan.hpp"

#include "arrays.hpp"
#include "fields.hpp"
#include "shapes.hpp"

namespace candide {

void bind_columns(nb::module_& module) {
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

    module.def(
        "has_repeats",
        [](nb::handle source, int n_threads) {
            return with_rows(source, n_columns_of(source),
                             [&](const auto& rows) { return unlocked([&] { return has_repeats(rows, n_threads); }); });
        },
        nb::arg("rows"), nb::arg("n_threads"));

    module.def(
        "hash_rows",
        [](nb::object source, const Hashes& keys, int n_threads) {
            const Table table = table_of(source);
            check_length(keys, table.n_columns, "keys");
            std::vector<std::uint64_t> sums(table.n_rows);
            {
                const Unlocked released;
                hash_rows(table, keys.data(), n_threads, sums.data());
            }
            return to_array(std::move(sums));
        },
        exact("values"), exact("keys"), nb::arg("n_threads"));

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
        exact("values"), nb::arg("n_threads"));
}

}  // namespace candide
