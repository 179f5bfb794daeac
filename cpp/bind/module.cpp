#include "arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() =
        "Loops over rows. Use candide.kernels.Kernels, which allocates results and raises errors with row and column.";
    candide::bind_columns(module);
    candide::bind_counting(module);
    candide::bind_scoring(module);
    candide::bind_left_out(module);
    candide::bind_dependence(module);
    candide::bind_texts(module);
    candide::bind_vocabulary(module);
    candide::bind_tokens(module);
    candide::bind_token_bins(module);
    candide::bind_memory(module);
    candide::bind_signals(module);
}
