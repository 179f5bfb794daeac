"""Checks of tables: the families of their columns, and stacked views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.columns import Kind
from ...families.columns.choose import OPTIONS, check_options
from ...families.table import ColumnSpec, TableFamily
from ...kernels.kernels import single_threaded_blas
from ...kernels.layouts import Array
from ...kernels.scoring import PairTable
from ...stacking.binning import ClippedCoordinates, ColumnBinning, MergedCodes, RankCoordinates, TableBinning
from ...stacking.cell_regression import FOLDS, CellRegression
from ...stacking.covariance import Covariance
from ...stacking.dependence import OneDependence, TwoDependence
from ...stacking.effects import Effects, pair_sizes
from ...stacking.fourier_features import RandomFourierFeatures
from ...stacking.fourier_regression import FourierRegression
from ...stacking.grid_regression import GridRegression
from ...stacking.stacked_views import StackedViews
from ...stacking.token_views import TextColumnView
from ...stacking.views import View
from ...statistics.table import TableStatistics
from ..errors import require
from . import MAX_SCORE, are_finite, are_positions, are_weights, check_weights, is_ascending, is_moderate, is_symmetric
from .statistics import (
    check_block_moments,
    check_categories,
    check_family,
    check_grid,
    check_labels,
    check_moments,
    check_rows,
)
from .texts import check_text_family, check_texts, check_token_views

# The codes of missing and unseen values, after those of a column.
_EXTRA_CODES = 2
# Relative rounding errors, and the largest ratio of a range to a standard deviation.
_ROUNDING, _MAX_RATIO = 1e-6, 1e6


def check_binning(binning: TableBinning, kinds: tuple[str, ...]) -> None:
    """Check that the bins of columns match the kinds of the columns of the table."""
    nulls = binning.nulls
    flags = nulls is None or (nulls.dtype == bool and nulls.shape == (len(kinds),))
    require(flags, "the flags for columns with missing values are invalid")
    for column in binning.columns:
        require(are_positions(np.array([column.column]), len(kinds)), "a binned column does not exist")
        _check_column(column, kinds[column.column])


def _check_column(binning: ColumnBinning, kind: str) -> None:
    require(binning.count.ndim == 1 and are_weights(binning.count), "the weights of codes are invalid")
    if binning.cuts is not None:
        require(kind == "number" and binning.labels is None, "a column with cut points is not numeric")
        require(
            binning.cuts.shape == (max(binning.size - 1, 0),) and is_ascending(binning.cuts),
            "cut points are not increasing",
        )
        require(are_finite(binning.cuts), "a cut point is not finite")
    else:
        require(
            kind in ("category", "missing") and binning.labels is not None,
            "a column has neither cut points nor categories",
        )
        assert binning.labels is not None
        check_labels(binning.labels)
        require(len(binning.labels) == binning.size, "the numbers of categories and of their weights differ")


def check_view(view: View, binning: TableBinning, n_classes: int) -> None:
    """Check one view."""
    if isinstance(view, OneDependence):
        _check_one(view, binning, n_classes)
    elif isinstance(view, TwoDependence):
        _check_two(view, binning, n_classes)
    elif isinstance(view, Covariance):
        _check_covariance(view, binning, n_classes)
    elif isinstance(view, CellRegression):
        _check_cells(view, binning, n_classes)
    elif isinstance(view, GridRegression):
        _check_grids(view, binning, n_classes)
    else:
        assert isinstance(view, FourierRegression)
        _check_fourier(view, binning, n_classes)


def _check_merged(merged: MergedCodes, binning: TableBinning) -> int:
    """Check merged codes, and return the total number of slots."""
    n_columns, sizes = len(merged.columns), binning.sizes
    require(
        _are_ascending_positions(merged.columns, len(binning.columns)) and len(merged.maps) == n_columns,
        "slots refer to a column that does not exist",
    )
    for column, slots in zip(merged.columns.tolist(), merged.maps, strict=True):
        n_codes = int(sizes[column]) + _EXTRA_CODES
        require(
            slots.dtype.kind == "i" and slots.shape == (n_codes,),
            "the number of slots differs from the number of codes",
        )
        require(are_positions(slots, n_codes), "a slot is outside the range of its column")
    return int(merged.offsets[-1])


def _are_ascending_positions(places: Array, limit: int) -> bool:
    """Return whether these are distinct ascending positions below a limit."""
    return places.dtype.kind == "i" and places.ndim == 1 and is_ascending(places) and are_positions(places, limit)


def _check_one(view: OneDependence, binning: TableBinning, n_classes: int) -> int:
    n_slots = _check_merged(view.merged, binning)
    require(len(view.merged.columns) > 0, "a view has no columns")
    _check_pairs(view.table, n_classes, n_slots, len(view.merged.columns))
    _check_strength(view.strength)
    return n_slots


def _check_pairs(table: PairTable, n_classes: int, n_slots: int, n_columns: int) -> None:
    check_rows(table.rows, n_classes)
    require(table.joint.shape == (n_classes, n_slots, n_slots), "the counts of pairs have an unexpected shape")
    require(table.spare.shape == (n_columns,), "the number of pseudo-counts differs from the number of columns")
    require(are_weights(table.joint) and are_weights(table.spare), "a count of pairs is negative or not a number")


def _check_strength(strength: float) -> None:
    require(0 < strength <= MAX_SCORE, "the strength of a view is not a number above 0")


def _check_two(view: TwoDependence, binning: TableBinning, n_classes: int) -> None:
    n_slots = _check_one(view.one, binning, n_classes)
    joint, n_columns = view.joint, len(view.one.merged.columns)
    require(_check_merged(joint.merged, binning) == n_slots, "pairs of columns and single columns have different slots")
    alike = np.array_equal(joint.merged.offsets, view.one.merged.offsets)
    require(alike and np.array_equal(joint.columns, view.table.columns), "pairs of columns do not match their counts")
    pairs = joint.columns
    require(pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) > 0, "there are no pairs of columns")
    require(
        are_positions(pairs, n_columns) and bool((pairs[:, 0] != pairs[:, 1]).all()),
        "a pair does not consist of two columns",
    )
    _check_pairs(view.table.singles, n_classes, n_slots, n_columns)
    counts = view.table.joint
    require(
        counts.shape == (n_classes, int(joint.offsets[-1]), n_slots), "the counts of triples have an unexpected shape"
    )
    require(are_weights(counts), "a count of triples is negative or not a number")
    _check_strength(view.strength)


def _check_covariance(view: Covariance, binning: TableBinning, n_classes: int) -> None:
    n_columns = _check_coordinates(view.coordinates, binning)
    require(check_block_moments(view.moments, n_classes) == n_columns, "a covariance has a different number of columns")
    require(view.center.shape == (n_columns,) and are_finite(view.center), "the center of a covariance is invalid")
    require(0 <= view.share <= MAX_SCORE, "the share of a covariance is not a non-negative number")
    _check_strength(view.strength)
    _check_factored(view, "factors")


def _check_factored(view: Any, made: str) -> None:
    """Check that the matrix of a view has the factors that predicting uses."""
    try:
        getattr(view, made)
    except np.linalg.LinAlgError:
        require(False, f"a matrix of {view.name!r:.40} is not positive definite")


def _check_coordinates(coordinates: Any, binning: TableBinning) -> int:
    """Check coordinates, and return the number of columns."""
    if isinstance(coordinates, RankCoordinates):
        _check_ranks(coordinates, binning)
        return len(coordinates.columns)
    assert isinstance(coordinates, ClippedCoordinates)
    columns, parts = coordinates.columns, (coordinates.low, coordinates.high, coordinates.mean, coordinates.deviation)
    n_numbers = sum(column.is_number for column in binning.columns)
    require(_are_ascending_positions(columns, n_numbers), "coordinates refer to columns that are not numeric")
    require(all(part.shape == columns.shape for part in parts) and are_finite(*parts), "coordinates are not finite")
    low, high, mean, deviation = parts
    require(bool(((low <= high) & (deviation > 0)).all()), "coordinates have an empty range")
    # Numbers clipped to a range have their mean in it, and a standard deviation not much smaller than it.
    slack = _ROUNDING * (np.abs(low) + np.abs(high))
    within = (low - slack <= mean) & (mean <= high + slack) & (high / 2 - low / 2 <= _MAX_RATIO * deviation)
    require(bool(within.all()), "the mean or deviation of coordinates does not match their range")
    return len(columns)


def _check_ranks(ranks: RankCoordinates, binning: TableBinning) -> None:
    sizes = binning.sizes
    require(_are_ascending_positions(ranks.columns, len(sizes)), "ranks refer to a column that does not exist")
    expected = [int(sizes[column]) + _EXTRA_CODES for column in ranks.columns]
    require(
        [len(places) for places in ranks.quantiles] == expected,
        "the number of ranks differs from the number of codes",
    )
    require(
        all(places.ndim == 1 and is_moderate(places) for places in ranks.quantiles),
        "a rank is too large or not a number",
    )


def _check_cells(view: CellRegression, binning: TableBinning, n_classes: int) -> None:
    cells, tables = view.cells, view.tables
    places = [(column.column, column.is_number) for column in cells.columns]
    require(
        places == [(column.column, column.is_number) for column in binning.columns],
        "the cells of a view do not match the columns of the table",
    )
    alike = (own.is_number or own.size == other.size for own, other in zip(cells.columns, binning.columns, strict=True))
    require(all(alike), "the categories of a view differ from those of the table")
    for column in cells.columns:
        _check_column(column, "number" if column.is_number else "category")
    require(
        tables.shape == (1 + FOLDS, int(view.offsets[-1]), n_classes),
        "the corrections of cells have an unexpected shape",
    )
    require(is_moderate(tables), "a correction of a cell is too large or not a number")


def _check_grids(view: GridRegression, binning: TableBinning, n_classes: int) -> None:
    require(_are_ascending_positions(view.columns, len(binning.columns)), "grids refer to a column that does not exist")
    sizes = binning.sizes[view.columns] + _EXTRA_CODES
    require(bool(np.array_equal(view.sizes, sizes)), "the grid slots do not match the column codes")
    require(
        view.coarse.dtype == np.uint8 and view.coarse.ndim == 2 and view.coarse.shape[1] == int(sizes.sum()),
        "the ranges of grids have an unexpected shape",
    )
    for keys, kind in ((view.keys, np.uint32), (view.rows, np.uint64)):
        require(keys.dtype == kind and keys.ndim == 1 and is_ascending(keys), "grid keys are not in ascending order")
    for keys, numbers in ((view.keys, view.weights), (view.rows, view.row_scores)):
        require(
            numbers.dtype == np.float32 and numbers.shape == (len(keys), n_classes),
            "the weights of grids have an unexpected shape",
        )
        require(are_finite(numbers), "a weight of a grid is not finite")
    _check_effects(view.effects, view.columns, binning, n_classes)


def _check_effects(effects: Effects, columns: Array, binning: TableBinning, n_classes: int) -> None:
    merged, pairs = effects.merged, effects.pairs
    require(bool(np.array_equal(merged.columns, columns)), "a view has effects for other columns")
    n_slots = _check_merged(merged, binning)
    require(
        pairs.dtype == np.int64
        and pairs.ndim == 2
        and pairs.shape[1] == 2
        and are_positions(pairs.ravel(), len(columns))
        and bool((pairs[:, 0] < pairs[:, 1]).all()),
        "a view has effects for pairs that do not exist",
    )
    n_joint = int(pair_sizes(merged, pairs).sum())
    require(
        effects.single.shape == (n_slots, n_classes) and effects.joint.shape == (n_joint, n_classes),
        "the effects of a view have an unexpected shape",
    )
    require(is_moderate(effects.single, effects.joint), "an effect of a view is too large or not a number")


def _check_fourier(view: FourierRegression, binning: TableBinning, n_classes: int) -> None:
    width = _check_features(view.features, binning)
    weight, heights, products = view.sums
    check_rows(weight, n_classes)
    require(
        heights.shape == (n_classes, width) and products.shape == (width, width),
        "the sums of random Fourier features have an unexpected shape",
    )
    require(
        is_moderate(heights, products) and is_symmetric(products), "the sums of random Fourier features are invalid"
    )
    require(0 < view.penalty <= MAX_SCORE, "the penalty of random Fourier features is not a number above 0")
    _check_factored(view, "slopes")


def _check_features(features: RandomFourierFeatures, binning: TableBinning) -> int:
    """Check random Fourier features, and return their number."""
    inputs, shape = features.inputs, features.frequencies.shape
    _check_ranks(inputs.ranks, binning)
    n_ranks, n_slots = len(inputs.ranks.columns), _check_merged(inputs.levels, binning) if inputs.levels.maps else 0
    n_inputs = n_ranks + n_slots
    require(
        inputs.covariance.shape == (n_ranks, n_ranks) and inputs.share.shape == (n_slots,),
        "the inputs of random Fourier features have an unexpected shape",
    )
    require(
        are_weights(inputs.share) and bool((inputs.share <= 1 + _ROUNDING).all()),
        "the share of a level is not a probability",
    )
    require(
        is_moderate(inputs.covariance) and is_symmetric(inputs.covariance),
        "the covariance of ranks is not positive definite",
    )
    try:
        np.linalg.cholesky(inputs.covariance)
    except np.linalg.LinAlgError:
        require(False, "the covariance of ranks is not positive definite")
    require(
        features.phases.ndim == 1 and shape == (n_inputs, features.width),
        "the frequencies of random Fourier features have an unexpected shape",
    )
    require(is_moderate(features.frequencies, features.phases), "a frequency or phase is too large or not a number")
    return features.width


# The settings of a column.
_FAMILIES = ("auto", *OPTIONS, "text", "ignore")
# The mean of a column may exceed its largest number by this factor.
_MAX_MEAN = 1e3
# Relative error by which means of non-negative numbers may be below 0, as a share of the largest number.
_ROUNDING_OF_MEANS = 1e-6
_MAX_ALPHA = 1e100


def check_table(family: TableFamily, statistics: Any, n_classes: int) -> int:
    """Check that a table family and its statistics match, and return the number of columns."""
    require(isinstance(statistics, TableStatistics), f"a table model does not use {type(statistics).__name__}")
    _check_table_family(family)
    names, kinds = statistics.names, statistics.kinds
    require(names == family.names and len(kinds) == len(names), "its columns do not match its statistics")
    check_rows(statistics.rows, n_classes)
    require(
        statistics.squares.shape == (n_classes,) and are_weights(statistics.squares),
        "the sums of squared weights are invalid",
    )
    _check_parts(statistics, kinds, n_classes)
    _check_blocks(family, statistics, n_classes)
    require(family.text is not None or "text" not in kinds, "it has text columns, but no text family")
    for texts in statistics.texts:
        assert family.text is not None
        check_texts(family.text, texts, n_classes)
    return len(names)


def _check_table_family(family: TableFamily) -> None:
    require(
        family.choices is None and family.source is None,
        "the family of a bound spec has fitted parameters",
    )
    require(
        len(family.column_specs) == len(family.names) > 0,
        "the number of column settings differs from the number of columns",
    )
    require(len(set(family.names)) == len(family.names), "two columns have the same name")
    require(
        family.missing in ("auto", "ignore", "category", "error"),
        f"missing={family.missing!r:.20} is not a valid setting",
    )
    require(family.unseen in ("ignore", "smooth"), f"unseen={family.unseen!r:.20} is not a valid setting")
    require(family.alpha is None or 0 < family.alpha <= _MAX_ALPHA, "alpha is not a number above 0")
    losses = family.held_out_losses or (None,) * len(family.names)
    require(
        len(losses) == len(family.names)
        and all(each is None or (each.ndim == 1 and len(each) > 0 and np.all(each >= 0)) for each in losses),
        "the losses on left-out groups are not numbers of at least 0 for each column",
    )
    for column_spec in family.column_specs:
        _check_column_spec(column_spec)
    if family.text is not None:
        check_text_family(family.text)


def _check_column_spec(column_spec: ColumnSpec) -> None:
    require(column_spec.family in _FAMILIES, f"the family of a column is invalid: {column_spec.family!r:.20}")
    require(len(dict(column_spec.options)) == len(column_spec.options), "an option appears twice")
    check_options("a column", column_spec.family, dict(column_spec.options))


def _check_parts(statistics: TableStatistics, kinds: tuple[Kind, ...], n_classes: int) -> None:
    found = {
        "number": check_moments(statistics.moments, n_classes, allow_infinite_scatter=True),
        "category": check_categories(statistics.categories, n_classes),
        "text": len(statistics.texts),
    }
    require(
        all(kinds.count(kind) == n for kind, n in found.items()), "the kinds of columns do not match their statistics"
    )
    require(
        check_grid(statistics.grid, n_classes) == found["number"], "the numbers of columns of grid and moments differ"
    )
    _check_means(statistics)
    parts: tuple[Any, ...] = statistics.moments, statistics.grid, statistics.categories, *statistics.blocks
    alike = all(np.allclose(part.rows, statistics.rows) for part in parts)
    require(alike, "the statistics of a table have different row weights")


def _check_means(statistics: TableStatistics) -> None:
    """Check that means are about as large as the numbers of a column, apart from rounding when rows are forgotten."""
    for j, weight in enumerate(statistics.moments.weight.T):
        cells, means = statistics.grid.column(j), statistics.moments.mean[weight > 0, j]
        largest = max(np.abs(cells.low).max(initial=0.0), np.abs(cells.high).max(initial=0.0), 1.0)
        too_large = np.abs(means).max(initial=0.0) / largest > _MAX_MEAN
        is_count = cells.low.min(initial=0.0) >= 0.0
        negative = is_count and means.min(initial=0.0) < -_ROUNDING_OF_MEANS * largest
        require(not (too_large or negative), "the mean of a column is far outside the range of its numbers")


def _check_blocks(family: TableFamily, statistics: TableStatistics, n_classes: int) -> None:
    require(len(family.blocks) == len(statistics.blocks), "the numbers of blocks and their statistics differ")
    for block, part in zip(family.blocks, statistics.blocks, strict=True):
        numbers = [j for j, kind in enumerate(statistics.kinds) if kind in ("number", "missing")]
        require(
            len(block.columns) > 0 and set(block.columns) <= set(numbers), "a block has a column that is not numeric"
        )
        require(
            check_family(block.family, part, n_classes) == len(block.columns),
            "a block and its statistics have different numbers of columns",
        )


@single_threaded_blas()
def check_stacked_views(views: StackedViews, family: TableFamily, statistics: TableStatistics) -> None:
    """Check the views of a table, and their weights."""
    n_classes, n_columns, columns = len(statistics.rows), len(family.names), np.array(views.columns, dtype=np.int64)
    require(
        are_positions(columns, n_columns) and len(set(views.columns)) == len(columns),
        "a view refers to a column that does not exist",
    )
    require(views.n_blocks == len(family.blocks), "the numbers of blocks and their weights differ")
    check_binning(views.binning, statistics.kinds)
    for view in views.views:
        check_view(view, views.binning, n_classes)
    for text in views.texts:
        _check_text_view(text, family, statistics)
    check_weights(views.weights, views.n_views, n_classes)
    if views.weights_without_grids is not None:
        check_weights(views.weights_without_grids, views.n_views, n_classes)
    require(bool(0 <= views.loss_without_grids < np.inf), "the log-loss that grids lower is not a number")
    if views.partial is not None:
        for weight in (views.partial.near, views.partial.far):
            check_weights(replace(views.weights, weight=weight), views.n_views, n_classes)
    require(
        views.ridge.shape == (views.n_views,) and are_weights(views.ridge),
        "the number of ridge penalties differs from the number of views",
    )
    require(bool(np.isfinite(views.row_weight) and views.row_weight > 0), "the unit weight of a view is invalid")
    below, scale = views.hash_bound, views.scale
    require((below is None) == (scale is None), "the thresholds or scales of the rows in its views are missing")
    if below is not None and scale is not None:
        require(
            below.shape == (n_classes,) and below.dtype == np.uint64,
            "the thresholds of the rows in its views are invalid",
        )
        require(scale.shape == (n_classes,) and are_weights(scale), "the scales of the rows in its views are invalid")


def _check_text_view(text: TextColumnView, family: TableFamily, statistics: TableStatistics) -> None:
    require(
        are_positions(np.array([text.column]), len(statistics.kinds)), "a view refers to a column that does not exist"
    )
    require(
        statistics.kinds[text.column] == "text" and family.text is not None,
        "a text view refers to a column without texts",
    )
    require(bool(np.isfinite(text.gain)), "the gain of a view is not finite")
    assert family.text is not None
    check_token_views(text.stacked, family.text, len(statistics.rows))
