#include "../core/token_bins.hpp"

#include <algorithm>

#include "../core/token_bin_entries.hpp"
#include "arrays.hpp"
#include "fields.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

template <class Array>
std::size_t length_of(const Array& array, const char* name) {
    require(array.ndim() == 1, std::string(name) + " must be one-dimensional");
    return array.shape(0);
}

// Views are `n_equal` of bins for each kind, or of kinds for each bin.
void check_scores(const Output& scores, std::size_t n_rows, std::size_t n_classes, std::size_t n_equal) {
    require(scores.ndim() == 3 && scores.shape(1) == n_rows && scores.shape(2) == n_classes,
            "scores must have " + std::to_string(n_rows) + " rows and " + std::to_string(n_classes) + " classes");
    require(n_equal > 0 && scores.shape(0) > 0 && scores.shape(0) % n_equal == 0,
            "scores must have views of every kind");
}

// candide.kernels.token_bins.TokenBins: which tokens exist, and which classes hold them.
struct EntryArrays {
    Positions place;
    Longs indptr;
    Positions classes;

    explicit EntryArrays(nb::handle source)
        : place(field<Positions, "place">(source)),
          indptr(field<Longs, "indptr">(source)),
          classes(field<Positions, "classes">(source)) {
        length_of(place, "place");
        length_of(classes, "classes");
    }

    TokenBins table(std::size_t n_classes, std::size_t n_bins, std::size_t n_kinds, std::size_t n_tokens) const {
        check_length(indptr, n_tokens + 1, "indptr");
        return {n_classes,     n_bins,         n_kinds, n_tokens, classes.shape(0), place.data(),
                indptr.data(), classes.data(), nullptr, nullptr,  nullptr};
    }
};

// The same, with what is added to scores.
struct ScoreArrays {
    EntryArrays entries;
    Doubles level, logs, log_size;

    explicit ScoreArrays(nb::handle source)
        : entries(source),
          level(field<Doubles, "level">(source)),
          logs(field<Doubles, "logs">(source)),
          log_size(field<Doubles, "log_size">(source)) {}

    TokenBins table(const Output& scores, std::size_t n_rows) const {
        const auto [n_kinds, n_classes] = shape_of(log_size, "log_size");
        require(n_kinds == 1 || n_kinds == 2, "log_size must be of one kind or of two");
        check_scores(scores, n_rows, n_classes, n_kinds);
        TokenBins table = entries.table(n_classes, scores.shape(0) / n_kinds, n_kinds, length_of(level, "level"));
        check_shape(logs, {table.n_entries, n_kinds}, "logs");
        table.level = level.data();
        table.logs = logs.data();
        table.log_size = log_size.data();
        return table;
    }
};

// The sums that the table was computed from.
struct SumArrays {
    Doubles count, weight, size, log_knots;
    double alpha;

    explicit SumArrays(nb::handle source)
        : count(field<Doubles, "count">(source)),
          weight(field<Doubles, "weight">(source)),
          size(field<Doubles, "size">(source)),
          log_knots(field<Doubles, "log_knots">(source)),
          alpha(scalar<double, "alpha">(source)) {}

    TokenBinSums checked(const TokenBins& table) const {
        check_length(count, table.n_entries, "count");
        check_length(weight, table.n_tokens, "weight");
        check_length(size, table.n_classes, "size");
        check_length(log_knots, table.n_bins, "log_knots");
        return {count.data(), weight.data(), nullptr, size.data(), log_knots.data(), alpha};
    }
};

// One array for each class of what it sums, in order.
void check_sums(const Longs& indptr, const Positions& codes, const Doubles& sums) {
    require(indptr.ndim() == 1 && indptr.shape(0) > 0, "indptr must be one-dimensional and not empty");
    check_length(codes, length_of(sums, "sums"), "codes");
    const std::int64_t* at = indptr.data();
    require(at[0] == 0 && std::is_sorted(at, at + indptr.shape(0)), "indptr must rise from 0");
    require(static_cast<std::size_t>(at[indptr.shape(0) - 1]) == sums.shape(0), "indptr must end with the last sum");
}

}  // namespace

void bind_token_bins(nb::module_& module) {
    module.def(
        "token_bin_entries",
        [](Longs indptr, Positions codes, Doubles sums, std::size_t n_codes) {
            check_sums(indptr, codes, sums);
            TokenBinEntries found;
            {
                const Unlocked released;
                found = token_bin_entries({indptr.shape(0) - 1, n_codes, indptr.data(), codes.data(), sums.data()});
            }
            return nb::make_tuple(to_array(std::move(found.codes)), to_array(std::move(found.place)),
                                  to_array(std::move(found.indptr)), to_array(std::move(found.classes)),
                                  to_array(std::move(found.count)), to_array(std::move(found.weight)),
                                  to_array(std::move(found.size)));
        },
        exact("indptr"), exact("codes"), exact("sums"), nb::arg("n_codes"));

    module.def(
        "token_bin_scores",
        [](nb::handle source, nb::handle bins, int n_threads, Output scores) {
            const ScoreArrays arrays(bins);
            with_rows(source, arrays.entries.place.size(), [&](const auto& rows) {
                const TokenBins table = arrays.table(scores, rows.n_rows);
                unlocked([&] { token_bin_scores(rows, table, n_threads, scores.data()); });
            });
        },
        nb::arg("rows"), nb::arg("bins"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "token_bin_left_out",
        [](nb::handle source, Positions classes, MaybeDoubles weight, nb::handle bins, int n_threads, Output scores) {
            const ScoreArrays arrays(bins);
            const SumArrays sum_arrays(bins);
            const auto evidence = field<Doubles, "evidence">(bins);
            with_rows(source, arrays.entries.place.size(), [&](const auto& rows) {
                const TokenBins table = arrays.table(scores, rows.n_rows);
                TokenBinSums sums = sum_arrays.checked(table);
                check_length(evidence, table.n_tokens, "evidence");
                sums.evidence = evidence.data();
                const auto members = members_of(rows, classes, weight, table.n_classes);
                unlocked([&] { token_bin_left_out(members, table, sums, n_threads, scores.data()); });
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("bins"), nb::arg("n_threads"),
        exact("scores"));

    // Logarithms and levels of tokens are computed for each fold: the table is read without them.
    module.def(
        "token_bin_fold_scores",
        [](nb::handle source, Positions classes, MaybeDoubles weight, Positions folds, nb::handle bins, int n_threads,
           Output scores) {
            const EntryArrays arrays(bins);
            const SumArrays sum_arrays(bins);
            with_rows(source, arrays.place.size(), [&](const auto& rows) {
                const std::size_t n_bins = length_of(sum_arrays.log_knots, "log_knots");
                const std::size_t n_classes = length_of(sum_arrays.size, "size");
                check_scores(scores, rows.n_rows, n_classes, n_bins);
                const TokenBins table =
                    arrays.table(n_classes, n_bins, scores.shape(0) / n_bins, length_of(sum_arrays.weight, "weight"));
                TokenBinSums sums = sum_arrays.checked(table);
                sums.spare = scalar<double, "spare">(bins);
                const auto members = members_of(rows, classes, weight, table.n_classes);
                check_length(folds, rows.n_rows, "folds");
                require(all_below(folds.data(), rows.n_rows, rows.n_rows), "folds must lie in 0 ... n_rows - 1");
                unlocked([&] { token_bin_fold_scores(members, folds.data(), table, sums, n_threads, scores.data()); });
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), exact("folds"), nb::arg("bins"),
        nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
