// Token counts by class, in bins by how strongly a token separates the classes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "members.hpp"
#include "rows.hpp"

namespace candide {

// Token by token, an entry for every class that has it. Scores are of one kind, plain, or of two: by all other classes
// too.
struct TokenBins {
    std::size_t n_classes, n_bins, n_kinds, n_tokens, n_entries;
    const std::int32_t* place;    // of each code: its token, or -1 where no class has it
    const std::int64_t* indptr;   // of each token: where its entries begin
    const std::int32_t* classes;  // of each entry; ascending within a token
    const double* level;          // of each token: its bin, or between which two it is shared
    const double* logs;           // (n_entries, n_kinds): what the class gives more than one that never saw the token
    const double* log_size;       // (n_kinds, n_classes): what a token costs
};

// What the table was made of, for rows that are in it.
struct TokenBinSums {
    const double* count;      // of each entry
    const double* weight;     // of each token
    const double* evidence;   // of each token: G²
    const double* size;       // of each class: all its tokens
    const double* log_knots;  // (n_bins): logarithms of the evidence of a token that is in this bin alone
    double alpha;             // pseudo-count of a token
    double spare = 0.0;       // pseudo-counts of all tokens of a class, those included that the table leaves out
};

// scores: (n_kinds, n_bins, n_rows, n_classes); see candide.kernels.token_bins for the formulas. The columns of the
// rows are codes, each once; their values are not read.
template <class Index>
void token_bin_scores(const Rows<Index>& rows, const TokenBins& table, int n_threads, double* scores);

// The same, each row as if the sums did not contain it.
template <class Index>
void token_bin_left_out(const Members<Rows<Index>>& members, const TokenBins& table, const TokenBinSums& sums,
                        int n_threads, double* scores);

// The same, each row as if the sums contained no row of its fold; folds: (n_rows), below n_rows.
template <class Index>
void token_bin_fold_scores(const Members<Rows<Index>>& members, const std::int32_t* folds, const TokenBins& table,
                           const TokenBinSums& sums, int n_threads, double* scores);

}  // namespace candide
