// Sums of tokens by class, turned round: token by token, an entry for every class that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace candide {

// Sums as compressed rows, one for each class.
struct SumRows {
    std::size_t n_classes, n_codes;
    const std::int64_t* indptr;
    const std::int32_t* codes;  // within a class each at most once
    const double* sums;         // at least 0
};

struct TokenBinEntries {
    std::vector<std::int32_t> codes;  // that some class has, ascending
    std::vector<std::int32_t> place;  // of each of these: its token. Heavy ones come first: frequent ones lie together.
    std::vector<std::int64_t> indptr;   // of each token: where its entries begin
    std::vector<std::int32_t> classes;  // of each entry; ascending within a token
    std::vector<double> count;          // of each entry, above 0
    std::vector<double> weight;         // of each token
    std::vector<double> size;           // of each class
};

TokenBinEntries token_bin_entries(const SumRows& sums);

}  // namespace candide
