#include "../core/score.hpp"

#include "arrays.hpp"

namespace candide {
namespace {

// Runs without the interpreter lock; what was met comes back as (infinite, negative).
template <class Work>
nb::tuple unlocked(Work&& work) {
    Odd odd;
    {
        nb::gil_scoped_release released;
        odd = work();
    }
    return nb::make_tuple(odd.infinite, odd.negative);
}

}  // namespace

void bind_score(nb::module_& module) {
    module.def(
        "linear_scores",
        [](nb::object source, Doubles weights, Doubles base, MaybeDoubles absent, std::optional<double> threshold,
           int n_threads, Output scores) {
            const Table table = table_of(source);
            return unlocked([&] {
                return linear_scores(table, weights.data(), base.data(), data_or_null(absent), scores.shape(1),
                                     threshold, n_threads, scores.data());
            });
        },
        nb::arg("table"), nb::arg("weights"), nb::arg("base"), nb::arg("absent").none(), nb::arg("threshold").none(),
        nb::arg("n_threads"), nb::arg("scores").noconvert());

    module.def(
        "quadratic_scores",
        [](nb::object source, Doubles precision, Doubles mean, Doubles constant, Doubles base, int n_threads,
           Output scores) {
            const Table table = table_of(source);
            return unlocked([&] {
                return quadratic_scores(table, precision.data(), mean.data(), constant.data(), base.data(),
                                        scores.shape(1), n_threads, scores.data());
            });
        },
        nb::arg("table"), nb::arg("precision"), nb::arg("mean"), nb::arg("constant"), nb::arg("base"),
        nb::arg("n_threads"), nb::arg("scores").noconvert());

    module.def(
        "linear_row_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Doubles weights, Doubles base,
           MaybeDoubles absent, std::optional<double> threshold, int n_threads, Output scores) {
            return with_rows(indptr, indices, values, weights.shape(0), [&](const auto& rows) {
                return unlocked([&] {
                    return linear_row_scores(rows, weights.data(), weights.shape(1), base.data(), data_or_null(absent),
                                             scores.shape(1), threshold, n_threads, scores.data());
                });
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("weights"), nb::arg("base"),
        nb::arg("absent").none(), nb::arg("threshold").none(), nb::arg("n_threads"), nb::arg("scores").noconvert());

    module.def(
        "factored_row_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Doubles shared, Doubles slope, Longs by_column,
           Longs classes, Doubles stored, Doubles base, std::optional<double> threshold, int n_threads,
           Output scores) {
            return with_rows(indptr, indices, values, shared.shape(0), [&](const auto& rows) {
                const FactoredWeights weights{shared.data(), slope.data(), by_column.data(), classes.data(),
                                              stored.data()};
                return unlocked([&] {
                    return factored_row_scores(rows, weights, base.data(), scores.shape(1), threshold, n_threads,
                                               scores.data());
                });
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("shared"), nb::arg("slope"),
        nb::arg("by_column"), nb::arg("classes"), nb::arg("stored"), nb::arg("base"), nb::arg("threshold").none(),
        nb::arg("n_threads"), nb::arg("scores").noconvert());
}

}  // namespace candide
