#include "../core/row_hash.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {

void bind_row_hash(nb::module_& module) {
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
        exact("table"), exact("keys"), nb::arg("n_threads"));
}

}  // namespace candide
