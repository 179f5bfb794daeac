#include "../core/bands.hpp"

#include "../core/band_entries.hpp"
#include "arrays.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

template <class Array>
std::size_t length_of(const Array& array, const char* name) {
    require(array.ndim() == 1, std::string(name) + " must be one-dimensional");
    return array.shape(0);
}

// Views are `n_equal` of bands for each kind, or of kinds for each band.
void check_scores(const Output& scores, std::size_t n_rows, std::size_t n_classes, std::size_t n_equal) {
    require(scores.ndim() == 3 && scores.shape(1) == n_rows && scores.shape(2) == n_classes,
            "scores must have " + std::to_string(n_rows) + " rows and " + std::to_string(n_classes) + " classes");
    require(n_equal > 0 && scores.shape(0) > 0 && scores.shape(0) % n_equal == 0,
            "scores must have views of every kind");
}

BandTable band_table(const Positions& place, const Longs& by_token, const Positions& held_by, const Doubles& level,
                     const Doubles& logs, const Doubles& log_size, const Output& scores, std::size_t n_rows) {
    const std::size_t n_tokens = length_of(level, "level"), n_entries = length_of(held_by, "held_by");
    const auto [n_kinds, n_classes] = shape_of(log_size, "log_size");
    require(n_kinds == 1 || n_kinds == 2, "log_size must be of one kind or of two");
    length_of(place, "place");
    check_length(by_token, n_tokens + 1, "by_token");
    check_shape(logs, {n_entries, n_kinds}, "logs");
    check_scores(scores, n_rows, n_classes, n_kinds);
    return {n_classes,    scores.shape(0) / n_kinds, n_kinds,        n_tokens,    n_entries,
            place.data(), by_token.data(),           held_by.data(), level.data(), logs.data(),
            log_size.data()};
}

BandSums band_sums(const BandTable& table, const Doubles& count, const Doubles& token_weight,
                   const Doubles& evidence, const Doubles& size, const Doubles& log_knots, double alpha) {
    check_length(count, table.n_entries, "count");
    check_length(token_weight, table.n_tokens, "token_weight");
    check_length(evidence, table.n_tokens, "evidence");
    check_length(size, table.n_classes, "size");
    check_length(log_knots, table.n_bands, "log_knots");
    return {count.data(), token_weight.data(), evidence.data(), size.data(), log_knots.data(), alpha};
}

// One array for each class of what it sums, in order.
void check_sums(const Longs& indptr, const Positions& codes, const Doubles& sums) {
    require(indptr.ndim() == 1 && indptr.shape(0) > 0, "indptr must be one-dimensional and not empty");
    check_length(codes, length_of(sums, "sums"), "codes");
    const std::int64_t* at = indptr.data();
    require(at[0] == 0 && std::is_sorted(at, at + indptr.shape(0)), "indptr must rise from 0");
    require(static_cast<std::size_t>(at[indptr.shape(0) - 1]) == sums.shape(0), "indptr must end with the last sum");
}

}  // namespace

void bind_bands(nb::module_& module) {
    module.def(
        "band_entries",
        [](Longs indptr, Positions codes, Doubles sums, std::size_t n_codes) {
            check_sums(indptr, codes, sums);
            BandEntries found;
            {
                const Unlocked released;
                found = band_entries({indptr.shape(0) - 1, n_codes, indptr.data(), codes.data(), sums.data()});
            }
            return nb::make_tuple(to_array(std::move(found.codes)), to_array(std::move(found.place)),
                                  to_array(std::move(found.indptr)), to_array(std::move(found.classes)),
                                  to_array(std::move(found.count)), to_array(std::move(found.weight)),
                                  to_array(std::move(found.size)));
        },
        exact("indptr"), exact("codes"), exact("sums"), nb::arg("n_codes"));

    module.def(
        "band_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Positions place, Longs by_token, Positions held_by, Doubles level,
           Doubles logs, Doubles log_size, int n_threads, Output scores) {
            with_rows(indptr, indices, values, place.size(), [&](const auto& rows) {
                const BandTable table =
                    band_table(place, by_token, held_by, level, logs, log_size, scores, rows.n_rows);
                unlocked([&] { band_scores(rows, table, n_threads, scores.data()); });
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("place"), exact("by_token"), exact("held_by"), exact("level"),
        exact("logs"), exact("log_size"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "band_left_out",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight,
           Positions place, Longs by_token, Positions held_by, Doubles level, Doubles logs, Doubles log_size,
           Doubles count, Doubles token_weight, Doubles evidence, Doubles size, Doubles log_knots, double alpha,
           int n_threads, Output scores) {
            with_rows(indptr, indices, values, place.size(), [&](const auto& rows) {
                const BandTable table =
                    band_table(place, by_token, held_by, level, logs, log_size, scores, rows.n_rows);
                const BandSums sums =
                    band_sums(table, count, token_weight, evidence, size, log_knots, alpha);
                const auto members = members_of(rows, classes, weight, table.n_classes);
                unlocked([&] { band_left_out(members, table, sums, n_threads, scores.data()); });
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("classes"), exact("weight").none(),
        exact("place"), exact("by_token"), exact("held_by"), exact("level"), exact("logs"),
        exact("log_size"), exact("count"), exact("token_weight"), exact("evidence"), exact("size"), exact("log_knots"),
        nb::arg("alpha"), nb::arg("n_threads"), exact("scores"));

    // Of the table, what is known before anything is left out: logarithms and levels are made for each fold.
    module.def(
        "band_fold_scores",
        [](nb::object indptr, nb::object indices, nb::object values, Positions classes, MaybeDoubles weight,
           Positions folds, Positions place, Longs by_token, Positions held_by, Doubles count,
           Doubles token_weight, Doubles size, Doubles log_knots, double alpha, double spare,
           int n_threads, Output scores) {
            with_rows(indptr, indices, values, place.size(), [&](const auto& rows) {
                const std::size_t n_bands = length_of(log_knots, "log_knots");
                check_scores(scores, rows.n_rows, length_of(size, "size"), n_bands);
                const BandTable table{size.size(), n_bands, scores.shape(0) / n_bands,
                                      length_of(token_weight, "token_weight"), length_of(held_by, "held_by"),
                                      place.data(), by_token.data(), held_by.data(), nullptr, nullptr, nullptr};
                length_of(place, "place");
                check_length(by_token, table.n_tokens + 1, "by_token");
                check_length(count, table.n_entries, "count");
                const BandSums sums{count.data(),     token_weight.data(), nullptr, size.data(),
                                    log_knots.data(), alpha,               spare};
                const auto members = members_of(rows, classes, weight, table.n_classes);
                check_length(folds, rows.n_rows, "folds");
                require(all_below(folds.data(), rows.n_rows, rows.n_rows), "folds must lie in 0 ... n_rows - 1");
                unlocked([&] { band_fold_scores(members, folds.data(), table, sums, n_threads, scores.data()); });
            });
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), exact("classes"), exact("weight").none(),
        exact("folds"), exact("place"), exact("by_token"), exact("held_by"), exact("count"),
        exact("token_weight"), exact("size"), exact("log_knots"), nb::arg("alpha"), nb::arg("spare"),
        nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
