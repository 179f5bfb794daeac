#include "../core/finish.hpp"

#include "arrays.hpp"

namespace candide {

void bind_finish(nb::module_& module) {
    module.def(
        "normalise",
        [](Output scores, bool logarithm, int n_threads) {
            nb::gil_scoped_release unlocked;
            return normalise(scores.data(), scores.shape(0), scores.shape(1), logarithm, n_threads);
        },
        nb::arg("scores").noconvert(), nb::arg("logarithm"), nb::arg("n_threads"));

    module.def(
        "best",
        [](Doubles scores, int n_threads, nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
            nb::gil_scoped_release unlocked;
            return best(scores.data(), scores.shape(0), scores.shape(1), n_threads, out.data());
        },
        nb::arg("scores"), nb::arg("n_threads"), nb::arg("out").noconvert());
}

}  // namespace candide
