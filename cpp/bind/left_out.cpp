#include "../core/complement.hpp"
#include "../core/left_out_scores.hpp"
#include "../core/own.hpp"
#include "../core/own_normal.hpp"
#include "../core/rising.hpp"
#include "../core/shared_normal.hpp"

#include "arrays.hpp"
#include "fields.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

// candide.kernels.tables.LinearTerms: weights of cells, scores of missing cells, and what every row adds.
struct LinearTerms {
    Doubles weights;
    MaybeDoubles absent;
    Doubles base;
};

LinearTerms linear_terms(nb::handle source) {
    return {field<Doubles, "weights">(source), field<MaybeDoubles, "absent">(source), field<Doubles, "base">(source)};
}

// The shape of terms that are (n_classes, n_columns).
Shape check_terms(const LinearTerms& terms) {
    const Shape shape = shape_of(terms.weights, "weights");
    check_shape(terms.absent, shape, "absent");
    check_length(terms.base, shape.n_rows, "base");
    return shape;
}

// Weights in the layout that kernels read for such rows: (n_classes, n_columns), or by column and padded.
template <class Data>
LinearTables linear_tables(const Data& rows, const LinearTerms& terms, std::optional<double> threshold,
                           std::size_t n_classes) {
    check_length(terms.base, n_classes, "base");
    Shape wanted{n_classes, rows.n_columns};
    if constexpr (!std::is_same_v<Data, Table>)
        wanted = {rows.n_columns, padded_width(terms.weights, rows.n_columns, n_classes, "weights")};
    check_shape(terms.weights, wanted, "weights");
    check_shape(terms.absent, wanted, "absent");
    return {terms.weights.data(),       wanted.n_columns, terms.base.data(),
            data_or_null(terms.absent), n_classes,        threshold};
}

// candide.kernels.tables.SmoothedCounts
std::pair<Doubles, NumberOrDoubles> smoothed_counts(nb::handle source) {
    return {field<Doubles, "counts">(source), field<NumberOrDoubles, "pseudo">(source)};
}

// candide.kernels.tables.LogSums, where results are written.
struct LogSumArrays {
    Output sums, zeros, cells;

    LogSums pointers() const { return {sums.data(), zeros.data(), cells.data()}; }
};

LogSumArrays log_sum_arrays(nb::handle out) {
    return {field<Output, "sums">(out), field<Output, "zeros">(out), field<Output, "cells">(out)};
}

// candide.kernels.tables.NormalTable
struct NormalArrays {
    Doubles strength, location, shape, scale;

    NormalTable table() const { return {strength.data(), location.data(), shape.data(), scale.data()}; }
};

NormalArrays read_normal(nb::handle source) {
    return {field<Doubles, "strength">(source), field<Doubles, "location">(source), field<Doubles, "shape">(source),
            field<Doubles, "scale">(source)};
}

NormalArrays normal_arrays(nb::handle source, std::size_t n_columns) {
    const NormalArrays arrays = read_normal(source);
    const Shape wanted{shape_of(arrays.strength, "strength").n_rows, n_columns};
    check_shape(arrays.strength, wanted, "strength");
    check_shape(arrays.location, wanted, "location");
    check_shape(arrays.shape, wanted, "shape");
    check_shape(arrays.scale, wanted, "scale");
    return arrays;
}

}  // namespace

void bind_left_out(nb::module_& module) {
    module.def(
        "own_linear_scores",
        [](nb::handle source, Positions classes, nb::handle terms, std::optional<double> threshold, int n_threads,
           Output scores) {
            const LinearTerms linear = linear_terms(terms);
            const Shape shape = check_terms(linear);
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, std::nullopt, shape.n_rows);
                check_length(scores, rows.n_rows, "scores");
                return as_tuple(unlocked([&] {
                    const OwnLinear own(members, linear.weights.data(), linear.base.data(), data_or_null(linear.absent),
                                        n_threads, scores.data());
                    using Scratch = typename decltype(own)::Scratch;
                    return each_row<Scratch>(rows, 1, {!threshold, threshold}, n_threads, own);
                }));
            });
        },
        nb::arg("rows"), exact("classes"), nb::arg("terms"), nb::arg("threshold").none(), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "own_normal_scores",
        [](nb::object source, Positions classes, MaybeDoubles weight, nb::handle posterior, double extra, double floor,
           int n_threads, Output scores) {
            const Table rows = table_of(source);
            const NormalArrays arrays = normal_arrays(posterior, rows.n_columns);
            const auto members = members_of(rows, classes, weight, arrays.strength.shape(0));
            check_length(scores, rows.n_rows, "scores");
            return as_tuple(unlocked(
                [&] { return own_normal_scores(members, arrays.table(), {extra, floor}, n_threads, scores.data()); }));
        },
        nb::arg("values"), exact("classes"), exact("weight").none(), nb::arg("posterior"), nb::arg("extra"),
        nb::arg("floor"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "own_student_scores",
        [](nb::object source, Positions classes, MaybeDoubles weight, nb::handle posterior, int n_threads,
           Output scores) {
            const Table rows = table_of(source);
            const NormalArrays arrays = normal_arrays(posterior, rows.n_columns);
            const auto members = members_of(rows, classes, weight, arrays.strength.shape(0));
            check_length(scores, rows.n_rows, "scores");
            return as_tuple(
                unlocked([&] { return own_student_scores(members, arrays.table(), n_threads, scores.data()); }));
        },
        nb::arg("values"), exact("classes"), exact("weight").none(), nb::arg("posterior"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "own_rising_scores",
        [](nb::handle source, Positions classes, MaybeDoubles weight, nb::handle counts, int n_threads, Output scores) {
            const auto [count, pseudo] = smoothed_counts(counts);
            const Shape shape = shape_of(count, "count");
            const Totals totals = totals_of(count, pseudo);
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_length(scores, rows.n_rows, "scores");
                return as_tuple(unlocked([&] { return own_rising_scores(members, totals, n_threads, scores.data()); }));
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("counts"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "left_out_counts",
        [](nb::handle source, Positions classes, MaybeDoubles weight, nb::handle terms, nb::handle counts,
           int n_threads, Output scores, nb::handle out) {
            const LinearTerms linear = linear_terms(terms);
            const auto [count, pseudo] = smoothed_counts(counts);
            const LogSumArrays arrays = log_sum_arrays(out);
            const Shape shape = shape_of(count, "count");
            const Totals totals = totals_of(count, pseudo);
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                const LinearTables tables = linear_tables(rows, linear, std::nullopt, shape.n_rows);
                check_shape(scores, {rows.n_rows, shape.n_rows}, "scores");
                check_length(arrays.sums, rows.n_rows, "sums");
                check_length(arrays.zeros, rows.n_rows, "zeros");
                check_length(arrays.cells, rows.n_rows, "cells");
                return as_tuple(unlocked([&] {
                    const OwnLogSums own(members, totals, n_threads, arrays.pointers());
                    return left_out_scores(rows, tables, n_threads, scores.data(), own);
                }));
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("terms"), nb::arg("counts"),
        nb::arg("n_threads"), exact("scores"), nb::arg("log_sums"));

    module.def(
        "left_out_linear",
        [](nb::handle source, Positions classes, nb::handle terms, nb::handle own_terms,
           std::optional<double> threshold, int n_threads, Output scores, Output own) {
            const LinearTerms linear = linear_terms(terms), own_linear = linear_terms(own_terms);
            const Shape shape = check_terms(own_linear);
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, std::nullopt, shape.n_rows);
                const LinearTables tables = linear_tables(rows, linear, threshold, shape.n_rows);
                check_shape(scores, {rows.n_rows, shape.n_rows}, "scores");
                check_length(own, rows.n_rows, "own");
                return as_tuple(unlocked([&] {
                    const OwnLinear score_own(members, own_linear.weights.data(), own_linear.base.data(),
                                              data_or_null(own_linear.absent), n_threads, own.data());
                    return left_out_scores(rows, tables, n_threads, scores.data(), score_own);
                }));
            });
        },
        nb::arg("rows"), exact("classes"), nb::arg("terms"), nb::arg("own_terms"), nb::arg("threshold").none(),
        nb::arg("n_threads"), exact("scores"), exact("own"));

    module.def(
        "left_out_complement",
        [](nb::handle source, Positions classes, MaybeDoubles weight, nb::handle counts, int n_threads,
           nb::handle out) {
            const auto [count, pseudo] = smoothed_counts(counts);
            const LogSumArrays arrays = log_sum_arrays(out);
            const Shape shape = shape_of(count, "count");
            const Totals others = totals_of(count, pseudo);
            return with_data(source, shape.n_columns, [&](const auto& rows) {
                const auto members = members_of(rows, classes, weight, shape.n_rows);
                check_shape(arrays.sums, {rows.n_rows, shape.n_rows}, "sums");
                check_shape(arrays.zeros, {rows.n_rows, shape.n_rows}, "zeros");
                check_length(arrays.cells, rows.n_rows, "cells");
                return as_tuple(unlocked([&] {
                    return left_out_complement(members, others, n_threads, arrays.sums.data(), arrays.zeros.data(),
                                               arrays.cells.data());
                }));
            });
        },
        nb::arg("rows"), exact("classes"), exact("weight").none(), nb::arg("counts"), nb::arg("n_threads"),
        nb::arg("log_sums"));

    module.def(
        "left_out_shared",
        [](nb::object source, Positions classes, MaybeDoubles weight, nb::handle posterior, double extra, double floor,
           Doubles base, int n_threads, Output scores) {
            const Table rows = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, rows.n_rows);
            const NormalArrays arrays = read_normal(posterior);
            check_shape(arrays.location, {n_classes, rows.n_columns}, "location");
            check_shape(arrays.strength, {n_classes, rows.n_columns}, "strength");
            check_length(arrays.shape, rows.n_columns, "shape");
            check_length(arrays.scale, rows.n_columns, "scale");
            const auto members = members_of(rows, classes, weight, n_classes);
            return as_tuple(unlocked([&] {
                return left_out_shared(members, arrays.table(), {extra, floor}, base.data(), n_threads, scores.data());
            }));
        },
        nb::arg("values"), exact("classes"), exact("weight").none(), nb::arg("posterior"), nb::arg("extra"),
        nb::arg("floor"), nb::arg("base"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "own_code_scores",
        [](nb::object source, Positions classes, Longs offsets, Doubles table, int n_threads, Output scores) {
            const Table codes = table_of(source);
            const auto [n_slots, stride] = shape_of(table, "table");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 1);
            const auto members = members_of(codes, classes, std::nullopt, stride);
            check_length(scores, codes.n_rows, "scores");
            const Unlocked released;
            own_code_scores(members, slots, table.data(), stride, n_threads, scores.data());
        },
        nb::arg("codes"), exact("classes"), exact("offsets"), exact("table"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "left_out_code_scores",
        [](nb::object source, Positions classes, Longs offsets, Doubles table, Doubles own_table, Doubles base,
           int n_threads, Output scores, Output own) {
            const Table codes = table_of(source);
            const std::size_t n_classes = count_classes(scores, base, codes.n_rows);
            const std::size_t n_slots = shape_of(table, "table").n_rows;
            const std::size_t stride = padded_width(table, n_slots, n_classes, "table");
            check_shape(own_table, {n_slots, stride}, "own_table");
            const Slots slots = slots_of(offsets, codes.n_columns, n_slots, 1);
            const auto members = members_of(codes, classes, std::nullopt, n_classes);
            check_length(own, codes.n_rows, "own");
            const Unlocked released;
            left_out_code_scores(members, slots, table.data(), own_table.data(), stride, base.data(), n_threads,
                                 scores.data(), own.data());
        },
        nb::arg("codes"), exact("classes"), exact("offsets"), exact("table"), exact("own_table"), nb::arg("base"),
        nb::arg("n_threads"), exact("scores"), exact("own"));
}

}  // namespace candide
