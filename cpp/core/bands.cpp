#include "bands.hpp"

#include "band_rows.hpp"

namespace candide {

template <class Index>
void band_scores(const Rows<Index>& rows, const BandTable& table, int n_threads, double* scores) {
    struct Nothing {};
    each_text<Nothing>(rows, table, n_threads, scores,
                       [&](std::size_t, const Tokens& tokens, RowSums& row, Nothing&) { add_new(tokens, table, row); });
}

template void band_scores(const Rows<std::int32_t>&, const BandTable&, int, double*);
template void band_scores(const Rows<std::int64_t>&, const BandTable&, int, double*);

}  // namespace candide
