"""Views of a table, and their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.dependence import PairTable
from ...kernels.layouts import Array
from ...stacking.binning import ColumnBinning, MergedCodes, TableBinning
from ...stacking.coordinates import ClippedCoordinates, RankCoordinates
from ...stacking.covariance import Covariance
from ...stacking.fourier_features import RandomFourierFeatures
from ...stacking.fourier_regression import FourierRegression
from ...stacking.one_dependence import OneDependence
from ...stacking.two_dependence import TwoDependence
from ...stacking.views import View
from ...stacking.weights import StackingWeights
from ..sound import are_finite, are_weights, ascends, is_symmetric, lie_within, require
from .statistics import check_block_moments, check_labels, check_rows

# Codes beside those of a column: missing, and unseen.
_FURTHER = 2
_MOST_SCORE = 1e100
_LARGEST = 1e300
# Of means, for each unit of what they are made of; and deviations in an extent.
_ROUNDING, _WIDEST = 1e-6, 1e6


def check_mixture(mixture: StackingWeights, n_views: int, n_classes: int) -> None:
    """The weights of views."""
    shapes = mixture.scale.shape, mixture.limit.shape, mixture.weight.shape, mixture.bias.shape
    require(shapes == ((n_views,), (n_views,), (n_views, n_classes), (n_classes,)), "weights are of other views")
    require(bool((mixture.scale > 0).all()) and are_finite(mixture.scale), "the size of a view is no number above 0")
    require(are_weights(mixture.weight) and bool((mixture.limit >= 0).all()), "a weight of a view is below 0, or none")
    # The largest score that there can be.
    most = np.abs(mixture.bias).sum() + (mixture.weight * mixture.limit[:, None]).sum()
    require(most <= _LARGEST, "weights of views are beyond all numbers")


def is_moderate(*numbers: Any) -> bool:
    """Whether sums and products of a few such numbers are numbers."""
    return all(bool((np.abs(each) <= _MOST_SCORE).all()) for each in numbers)


def check_look(look: TableBinning, kinds: tuple[str, ...]) -> None:
    """The codes of columns, which are of the kinds that columns of the table have."""
    nulls = look.nulls
    flags = nulls is None or (nulls.dtype == bool and nulls.shape == (len(kinds),))
    require(flags, "it does not say which columns had nulls")
    for column in look.columns:
        require(lie_within(np.array([column.column]), len(kinds)), "a view looks at a column that is not there")
        _check_column(column, kinds[column.column])


def _check_column(look: ColumnBinning, kind: str) -> None:
    require(look.count.ndim == 1 and are_weights(look.count), "the weights of codes are no weights")
    if look.cuts is not None:
        require(kind == "number" and look.labels is None, "a view takes a column for numbers that has none")
        require(look.cuts.shape == (max(look.size - 1, 0),) and ascends(look.cuts), "cuts are not in order")
        require(are_finite(look.cuts), "a cut is no number")
    else:
        require(kind in ("category", "missing") and look.labels is not None, "a view looks at no categories")
        assert look.labels is not None
        check_labels(look.labels)
        require(len(look.labels) == look.size, "a view has other categories than weights of them")


def check_view(view: View, look: TableBinning, n_classes: int) -> None:
    """One view past single columns."""
    if isinstance(view, OneDependence):
        _check_one(view, look, n_classes)
    elif isinstance(view, TwoDependence):
        _check_two(view, look, n_classes)
    elif isinstance(view, Covariance):
        _check_covariance(view, look, n_classes)
    else:
        assert isinstance(view, FourierRegression)
        _check_waves(view, look, n_classes)


def _check_merging(merging: MergedCodes, look: TableBinning) -> int:
    """How many slots there are in all."""
    n_columns, sizes = len(merging.columns), look.sizes
    require(_are_places(merging.columns, len(look.columns)) and len(merging.maps) == n_columns, "slots of no column")
    for column, slots in zip(merging.columns.tolist(), merging.maps, strict=True):
        n_codes = int(sizes[column]) + _FURTHER
        require(slots.dtype.kind == "i" and slots.shape == (n_codes,), "there is not a slot for each code")
        require(lie_within(slots, n_codes), "a slot is beyond those of its column")
    return int(merging.offsets[-1])


def _are_places(places: Array, limit: int) -> bool:
    """Whether these are places below a limit, each named once and in order."""
    return places.dtype.kind == "i" and places.ndim == 1 and ascends(places) and lie_within(places, limit)


def _check_one(view: OneDependence, look: TableBinning, n_classes: int) -> int:
    n_slots = _check_merging(view.merged, look)
    require(len(view.merged.columns) > 0, "a view sees no column")
    _check_pairs(view.table, n_classes, n_slots, len(view.merged.columns))
    _check_strength(view.strength)
    return n_slots


def _check_pairs(table: PairTable, n_classes: int, n_slots: int, n_columns: int) -> None:
    check_rows(table.rows, n_classes)
    require(table.joint.shape == (n_classes, n_slots, n_slots), "counts of pairs are of other slots")
    require(table.spare.shape == (n_columns,), "pseudo-counts are of other columns")
    require(are_weights(table.joint) and are_weights(table.spare), "a count of pairs is below 0, or no number")


def _check_strength(strength: float) -> None:
    require(0 < strength <= _MOST_SCORE, "the strength of a view is no number above 0")


def _check_two(view: TwoDependence, look: TableBinning, n_classes: int) -> None:
    n_slots = _check_one(view.one, look, n_classes)
    joint, n_columns = view.joint, len(view.one.merged.columns)
    require(_check_merging(joint.merged, look) == n_slots, "pairs of columns have other slots than columns")
    alike = np.array_equal(joint.merged.offsets, view.one.merged.offsets)
    require(alike and np.array_equal(joint.columns, view.table.columns), "pairs of columns differ from their counts")
    pairs = joint.columns
    require(pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) > 0, "columns do not come in pairs")
    require(lie_within(pairs, n_columns) and bool((pairs[:, 0] != pairs[:, 1]).all()), "a pair is of no two columns")
    _check_pairs(view.table.singles, n_classes, n_slots, n_columns)
    counts = view.table.joint
    require(counts.shape == (n_classes, int(joint.offsets[-1]), n_slots), "counts of triples are of other slots")
    require(are_weights(counts), "a count of triples is below 0, or no number")
    _check_strength(view.strength)


def _check_covariance(view: Covariance, look: TableBinning, n_classes: int) -> None:
    n_columns = _check_coordinates(view.coordinates, look)
    require(check_block_moments(view.moments, n_classes) == n_columns, "a covariance is of other columns")
    require(view.center.shape == (n_columns,) and are_finite(view.center), "a covariance has no center")
    require(0 <= view.share <= _MOST_SCORE, "the share of a covariance is no number from 0")
    _check_strength(view.strength)
    _check_factored(view, "factors")


def _check_factored(view: Any, made: str) -> None:
    """Matrices must have roots; what is made here is what predicting asks for."""
    try:
        getattr(view, made)
    except np.linalg.LinAlgError:
        require(False, f"a matrix of {view.name!r:.40} is none of products")


def _check_coordinates(coordinates: Any, look: TableBinning) -> int:
    """How many columns there are."""
    if isinstance(coordinates, RankCoordinates):
        _check_ranks(coordinates, look)
        return len(coordinates.columns)
    assert isinstance(coordinates, ClippedCoordinates)
    columns, parts = coordinates.columns, (coordinates.low, coordinates.high, coordinates.mean, coordinates.deviation)
    n_numbers = sum(column.is_number for column in look.columns)
    require(_are_places(columns, n_numbers), "coordinates are of no number columns")
    require(all(part.shape == columns.shape for part in parts) and are_finite(*parts), "coordinates are no numbers")
    low, high, mean, deviation = parts
    require(bool(((low <= high) & (deviation > 0)).all()), "coordinates have no extent")
    # What is clipped to an extent has its mean within, and a deviation not much smaller.
    slack = _ROUNDING * (np.abs(low) + np.abs(high))
    within = (low - slack <= mean) & (mean <= high + slack) & (high / 2 - low / 2 <= _WIDEST * deviation)
    require(bool(within.all()), "coordinates are centred elsewhere")
    return len(columns)


def _check_ranks(ranks: RankCoordinates, look: TableBinning) -> None:
    sizes = look.sizes
    require(_are_places(ranks.columns, len(sizes)), "ranks are of no column")
    wanted = [int(sizes[column]) + _FURTHER for column in ranks.columns]
    require([len(places) for places in ranks.quantiles] == wanted, "there is not a rank for each code")
    require(all(places.ndim == 1 and is_moderate(places) for places in ranks.quantiles), "a rank is no number")


def _check_waves(view: FourierRegression, look: TableBinning, n_classes: int) -> None:
    width = _check_cosines(view.features, look)
    weight, heights, products = view.sums
    check_rows(weight, n_classes)
    require(heights.shape == (n_classes, width) and products.shape == (width, width), "sums are of other waves")
    require(is_moderate(heights, products) and is_symmetric(products), "sums of waves are no such sums")
    require(0 < view.penalty <= _MOST_SCORE, "the penalty of waves is no number above 0")
    _check_factored(view, "slopes")


def _check_cosines(cosines: RandomFourierFeatures, look: TableBinning) -> int:
    """How many waves there are."""
    inputs, shape = cosines.inputs, cosines.frequencies.shape
    _check_ranks(inputs.ranks, look)
    n_ranks, n_slots = len(inputs.ranks.columns), _check_merging(inputs.levels, look) if inputs.levels.maps else 0
    n_inputs = n_ranks + n_slots
    require(inputs.covariance.shape == (n_ranks, n_ranks) and inputs.share.shape == (n_slots,), "inputs are of others")
    require(are_weights(inputs.share) and bool((inputs.share <= 1 + _ROUNDING).all()), "the share of a level is none")
    require(is_moderate(inputs.covariance) and is_symmetric(inputs.covariance), "ranks go together in no such way")
    try:
        np.linalg.cholesky(inputs.covariance)
    except np.linalg.LinAlgError:
        require(False, "ranks go together in no such way")
    require(cosines.phases.ndim == 1 and shape == (n_inputs, cosines.width), "waves run through other inputs")
    require(is_moderate(cosines.frequencies, cosines.phases), "a wave is no number")
    return cosines.width
