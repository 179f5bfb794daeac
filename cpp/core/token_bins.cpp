#include "token_bins.hpp"

#include "token_bin_rows.hpp"

namespace candide {

template <class Index>
void token_bin_scores(const Rows<Index>& rows, const TokenBins& table, int n_threads, double* scores) {
    struct Nothing {};
    each_text<Nothing>(rows, table, n_threads, scores,
                       [&](std::size_t, const Tokens& tokens, RowSums& row, Nothing&) { add_new(tokens, table, row); });
}

template void token_bin_scores(const Rows<std::int32_t>&, const TokenBins&, int, double*);
template void token_bin_scores(const Rows<std::int64_t>&, const TokenBins&, int, double*);

}  // namespace candide
