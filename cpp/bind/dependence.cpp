#include "../core/dependence.hpp"
#include "../core/grid_cells.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "fields.hpp"
#include "shapes.hpp"

namespace candide {
namespace {

// Rows of positions below a limit, or -1 for what is passed over.
Places places_or_none(const Positions& array, std::size_t limit, const char* name) {
    const auto [n_rows, width] = shape_of(array, name);
    const std::int32_t* at = array.data();
    require(std::all_of(at, at + n_rows * width,
                        [=](std::int32_t place) { return place >= -1 && place < static_cast<std::int64_t>(limit); }),
            std::string(name) + " must lie in -1 ... " + std::to_string(limit) + " - 1");
    return {at, n_rows, width};
}

// Rows of positions below a limit.
Places places_of(const Positions& array, std::size_t limit, const char* name) {
    const auto [n_rows, width] = shape_of(array, name);
    require(all_below(array.data(), n_rows * width, limit),
            std::string(name) + " must lie in 0 ... " + std::to_string(limit) + " - 1");
    return {array.data(), n_rows, width};
}

// Parents and slots of the same rows.
void check_rows(const Places& parents, const Places& slots) {
    require(parents.n_rows == slots.n_rows, "parents and slots must be of as many rows");
}

template <class Array>
void check_cube(const Array& array, const char* name) {
    require(array.ndim() == 3, std::string(name) + " must be three-dimensional");
}

Joint joint_of(const Doubles& array, std::size_t n_classes, const char* name) {
    check_cube(array, name);
    require(array.shape(0) == n_classes, std::string(name) + " must have a table for each class");
    return {array.data(), n_classes, array.shape(1), array.shape(2)};
}

// candide.kernels.scoring.PairTable
struct PairArrays {
    Doubles joint, rows, spare;

    explicit PairArrays(nb::handle source)
        : joint(field<Doubles, "joint">(source)),
          rows(field<Doubles, "rows">(source)),
          spare(field<Doubles, "spare">(source)) {}

    Pairs checked(const Positions& slots) const {
        require(rows.ndim() == 1, "rows must be one-dimensional");
        const Joint counts = joint_of(joint, rows.shape(0), "joint");
        require(counts.n_parents == counts.n_slots, "joint must be square");
        check_length(spare, shape_of(slots, "slots").n_columns, "spare");
        return {counts, rows.data(), spare.data()};
    }
};

Owned owned_of(const Positions& classes, const Doubles& weight, std::size_t n_rows, std::size_t n_classes) {
    check_groups(n_rows, classes, weight, n_classes);
    return {classes.data(), weight.data()};
}

using Words = nb::ndarray<const std::uint32_t, nb::c_contig, nb::device::cpu>;
using Singles = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

GridWords grid_words(const Words& array) {
    const auto [n_grids, n_slots] = shape_of(array, "words");
    return {array.data(), n_grids, n_slots};
}

// candide.kernels.scoring.GridCells
struct GridArrays {
    Words keys;
    Positions starts;
    Singles weights;

    explicit GridArrays(nb::handle source)
        : keys(field<Words, "keys">(source)),
          starts(field<Positions, "starts">(source)),
          weights(field<Singles, "weights">(source)) {}

    GridWeights checked() const {
        require(keys.ndim() == 1, "keys must be one-dimensional");
        const auto [n_keys, n_classes] = shape_of(weights, "weights");
        check_length(keys, n_keys, "keys");
        require(starts.ndim() == 1 && starts.shape(0) > 1, "starts must have the ends of at least one bucket");
        const std::size_t n_buckets = starts.shape(0) - 1;
        require((n_buckets & (n_buckets - 1)) == 0, "the number of buckets must be a power of two");
        int shift = 32;
        for (std::size_t n = n_buckets; n > 1; n /= 2) --shift;
        require(shift >= 0, "there are more buckets than keys of 32 bits");
        const std::int32_t* at = starts.data();
        require(
            at[0] == 0 && static_cast<std::size_t>(at[n_buckets]) == n_keys && std::is_sorted(at, at + n_buckets + 1),
            "starts must ascend from 0 to the number of keys");
        return {keys.data(), at, shift, weights.data(), n_classes};
    }
};

}  // namespace

void bind_dependence(nb::module_& module) {
    module.def(
        "joint_counts",
        [](Positions parents, Positions slots, Positions classes, MaybeDoubles weight, int n_threads, Output joint) {
            check_cube(joint, "joint");
            const std::size_t n_classes = joint.shape(0), n_parents = joint.shape(1), n_slots = joint.shape(2);
            const Places from = places_or_none(parents, n_parents, "parents"),
                         to = places_or_none(slots, n_slots, "slots");
            check_rows(from, to);
            check_groups(to.n_rows, classes, weight, n_classes);
            const Unlocked released;
            joint_counts(from, to, classes.data(), data_or_null(weight), n_classes, n_parents, n_slots, n_threads,
                         joint.data());
        },
        exact("parents"), exact("slots"), exact("classes"), exact("weight").none(), nb::arg("n_threads"),
        exact("joint"));

    module.def(
        "joint_scores",
        [](Positions parents, Positions slots, Doubles table, int n_threads, Output scores) {
            check_cube(table, "table");
            const std::size_t n_slots = table.shape(1), stride = table.shape(2);
            const Places from = places_or_none(parents, table.shape(0), "parents"),
                         to = places_or_none(slots, n_slots, "slots");
            check_rows(from, to);
            require(from.width > 0, "parents must have a column");
            const std::size_t n_classes = shape_of(scores, "scores").n_columns;
            check_shape(scores, {to.n_rows, n_classes}, "scores");
            require(stride == (n_classes <= 2 ? 2 : (n_classes + 3) / 4 * 4),
                    "table must be padded to two classes or to a multiple of four");
            const Unlocked released;
            joint_scores(from, to, table.data(), n_slots, stride, n_classes, n_threads, scores.data());
        },
        exact("parents"), exact("slots"), exact("table"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "own_pair_scores",
        [](Positions slots, Positions classes, Doubles weight, nb::handle table, double strength, int n_threads,
           Output scores) {
            const PairArrays arrays(table);
            const Pairs pairs = arrays.checked(slots);
            const Places to = places_or_none(slots, pairs.joint.n_slots, "slots");
            require(to.width > 0, "slots must have a column");
            const Owned own = owned_of(classes, weight, to.n_rows, pairs.joint.n_classes);
            check_length(scores, to.n_rows, "scores");
            const Unlocked released;
            own_pair_scores(to, own, pairs, strength, n_threads, scores.data());
        },
        exact("slots"), exact("classes"), exact("weight"), nb::arg("table"), nb::arg("strength"), nb::arg("n_threads"),
        exact("scores"));

    module.def(
        "own_triple_scores",
        [](Positions parents, Positions slots, Positions classes, Doubles weight, nb::handle table, double strength,
           double back_strength, int n_threads, Output scores) {
            const PairArrays singles(attribute<"singles">(table));
            const auto columns = field<Positions, "columns">(table);
            const auto joint = field<Doubles, "joint">(table);
            const Pairs pairs = singles.checked(slots);
            const Joint counts = joint_of(joint, pairs.joint.n_classes, "joint");
            require(counts.n_slots == pairs.joint.n_slots, "joint must have as many slots as singles");
            const Places from = places_or_none(parents, counts.n_parents, "parents");
            const Places to = places_or_none(slots, counts.n_slots, "slots");
            check_rows(from, to);
            require(from.width > 0, "parents must have a column");
            check_shape(columns, {from.width, 2}, "columns");
            places_of(columns, to.width, "columns");
            const Owned own = owned_of(classes, weight, to.n_rows, counts.n_classes);
            check_length(scores, to.n_rows, "scores");
            const Unlocked released;
            own_triple_scores(from, to, own, {pairs, columns.data(), counts, back_strength}, strength, n_threads,
                              scores.data());
        },
        exact("parents"), exact("slots"), exact("classes"), exact("weight"), nb::arg("table"), nb::arg("strength"),
        nb::arg("back_strength"), nb::arg("n_threads"), exact("scores"));

    module.def(
        "grid_keys",
        [](Positions slots, Words words, int n_threads,
           nb::ndarray<std::uint32_t, nb::c_contig, nb::device::cpu> keys) {
            const GridWords grids = grid_words(words);
            const Places places = places_of(slots, grids.n_slots, "slots");
            check_shape(keys, {places.n_rows, grids.n_grids}, "keys");
            const Unlocked released;
            grid_keys(places, grids, n_threads, keys.data());
        },
        exact("slots"), exact("words"), nb::arg("n_threads"), exact("keys"));

    module.def(
        "indicator_product",
        [](Positions ends, Positions columns, Singles factor, int n_threads,
           nb::ndarray<float, nb::c_contig, nb::device::cpu> product) {
            const auto [n_columns, width] = shape_of(factor, "factor");
            require(ends.ndim() == 1 && ends.shape(0) > 0, "ends must be one-dimensional and not empty");
            check_shape(product, {ends.shape(0) - 1, width}, "product");
            require(columns.ndim() == 1 && all_below(columns.data(), columns.size(), n_columns),
                    "columns must lie in 0 ... " + std::to_string(n_columns) + " - 1");
            const std::int32_t* at = ends.data();
            require(at[0] == 0 && std::is_sorted(at, at + ends.size()) &&
                        static_cast<std::size_t>(at[ends.size() - 1]) == columns.size(),
                    "ends must rise from 0 to the number of columns");
            const Unlocked released;
            indicator_product({at, columns.data(), ends.size() - 1}, factor.data(), width, n_threads, product.data());
        },
        exact("ends"), exact("columns"), exact("factor"), nb::arg("n_threads"), exact("product"));

    module.def(
        "grid_scores",
        [](Positions slots, Words words, nb::object cells, int n_threads, Output scores) {
            const GridWords grids = grid_words(words);
            const Places places = places_of(slots, grids.n_slots, "slots");
            const GridArrays arrays(cells);
            const GridWeights weights = arrays.checked();
            check_shape(scores, {places.n_rows, weights.n_classes}, "scores");
            const Unlocked released;
            grid_scores(places, grids, weights, n_threads, scores.data());
        },
        exact("slots"), exact("words"), nb::arg("cells"), nb::arg("n_threads"), exact("scores"));
}

}  // namespace candide
