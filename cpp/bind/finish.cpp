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
            const Unlocked released;
            return normalise(scores.data(), n_rows, n_classes, logarithm, n_threads);
        },
        exact("scores"), nb::arg("logarithm"), nb::arg("n_threads"));

    module.def(
        "put_own",
        [](Output scores, Positions classes, MaybeDoubles weight, Doubles values, Doubles by_class, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_groups(n_rows, classes, weight, n_classes);
            check_length(values, n_rows, "values");
            check_length(by_class, n_classes, "by_class");
            const Unlocked released;
            put_own(scores.data(), n_rows, n_classes, classes.data(), data_or_null(weight), values.data(),
                    by_class.data(), n_threads);
        },
        exact("scores"), exact("classes"), exact("weight").none(), exact("values"), exact("by_class"),
        nb::arg("n_threads"));

    module.def(
        "add_own",
        [](Output scores, Positions classes, Doubles change, bool by_class, int n_threads) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_groups(n_rows, classes, std::nullopt, n_classes);
            check_length(change, by_class ? n_classes : n_rows, "change");
            const Unlocked released;
            add_own(scores.data(), n_rows, n_classes, classes.data(), change.data(), by_class, n_threads);
        },
        exact("scores"), exact("classes"), exact("change"), nb::arg("by_class"), nb::arg("n_threads"));

    module.def(
        "best",
        [](Doubles scores, int n_threads, nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu> out) {
            const auto [n_rows, n_classes] = scores_shape(scores);
            check_length(out, n_rows, "out");
            const Unlocked released;
            return best(scores.data(), n_rows, n_classes, n_threads, out.data());
        },
        exact("scores"), nb::arg("n_threads"), exact("out"));
}

}  // namespace candide
