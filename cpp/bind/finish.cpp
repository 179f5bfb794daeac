#include "../core/finish.hpp"

#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

// Scores of at least one class: there is a largest one.
template <class Array>
Shape scores_shape(const Array& scores) {
    const Shape shape = shape_of(scores, "scores");
    require(shape.n_rows == 0 || shape.n_columns > 0, "scores must have a class");
    return shape;
}

}  // namespace

void bind_finish(nb::module_& module) {
    module.def(
        "normalise",
        [](Output scores, bool logarithm, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            nb::gil_scoped_release unlocked;
            return normalise(scores.data(), n_rows, n_classes, logarithm, n_threads);
        },
        exact("scores"), nb::arg("logarithm"), nb::arg("n_threads"));

    module.def(
        "best",
        [](Doubles scores, int n_threads, nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu> out) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_length(out, n_rows, "out");
            nb::gil_scoped_release unlocked;
            return best(scores.data(), n_rows, n_classes, n_threads, out.data());
        },
        exact("scores"), nb::arg("n_threads"), exact("out"));
}

}  // namespace candide
