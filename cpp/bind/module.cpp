#include "arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() = "The loops over rows. Call them through candide.kernels, which says what went wrong and where.";
    // Vocabularies of models that live until the interpreter ends are no leaks.
    nb::set_leak_warnings(false);
    candide::bind_tally(module);
    candide::bind_moments(module);
    candide::bind_codes(module);
    candide::bind_scan(module);
    candide::bind_score(module);
    candide::bind_own(module);
    candide::bind_predictive(module);
    candide::bind_left_out(module);
    candide::bind_presence(module);
    candide::bind_finish(module);
    candide::bind_labels(module);
    candide::bind_repeats(module);
    candide::bind_row_hash(module);
    candide::bind_grid(module);
    candide::bind_dependence(module);
    candide::bind_texts(module);
    candide::bind_vocabulary(module);
    candide::bind_tokens(module);
    candide::bind_bands(module);
    candide::bind_memory(module);
    candide::bind_signals(module);
}
