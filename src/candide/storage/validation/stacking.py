"""Checks of stacked views, their weights, and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.dependence import PairTable
from ...kernels.layouts import Array
from ...stacking.binning import ColumnBinning, MergedCodes, TableBinning
from ...stacking.calibration import Chain
from ...stacking.calibration.curves import Beta, Curve, Isotonic
from ...stacking.calibration.scaling import Scaling
from ...stacking.coordinates import ClippedCoordinates, RankCoordinates
from ...stacking.covariance import Covariance
from ...stacking.fourier_features import RandomFourierFeatures
from ...stacking.fourier_regression import FourierRegression
from ...stacking.one_dependence import OneDependence
from ...stacking.two_dependence import TwoDependence
from ...stacking.views import View
from ...stacking.weights import StackingWeights
from ..errors import require
from .predicates import are_finite, are_positions, are_weights, is_ascending, is_symmetric
from .statistics import check_block_moments, check_labels, check_rows

# The codes of missing and unseen values, after those of a column.
_EXTRA_CODES = 2
_MAX_SCORE = 1e100
_MAX_TOTAL = 1e300
# Relative rounding errors, and the largest ratio of a range to a standard deviation.
_ROUNDING, _MAX_RATIO = 1e-6, 1e6


def check_weights(weights: StackingWeights, n_views: int, n_classes: int) -> None:
    """Check the weights of views."""
    shapes = weights.scale.shape, weights.limit.shape, weights.weight.shape, weights.bias.shape
    require(
        shapes == ((n_views,), (n_views,), (n_views, n_classes), (n_classes,)),
        "the weights do not match the views and classes",
    )
    require(bool((weights.scale > 0).all()) and are_finite(weights.scale), "the size of a view is not a number above 0")
    require(
        are_weights(weights.weight) and bool((weights.limit >= 0).all()),
        "a weight of a view is negative or not a number",
    )
    # The largest possible score.
    most = np.abs(weights.bias).sum() + (weights.weight * weights.limit[:, None]).sum()
    require(most <= _MAX_TOTAL, "the weights of views are too large")


def is_moderate(*numbers: Any) -> bool:
    """Return whether sums and products of a few of these numbers do not overflow."""
    return all(bool((np.abs(each) <= _MAX_SCORE).all()) for each in numbers)


def check_binning(binning: TableBinning, kinds: tuple[str, ...]) -> None:
    """Check that the bins of columns match the kinds of the columns of the table."""
    nulls = binning.nulls
    flags = nulls is None or (nulls.dtype == bool and nulls.shape == (len(kinds),))
    require(flags, "the flags of columns with nulls are invalid")
    for column in binning.columns:
        require(are_positions(np.array([column.column]), len(kinds)), "a binned column does not exist")
        _check_column(column, kinds[column.column])


def _check_column(binning: ColumnBinning, kind: str) -> None:
    require(binning.count.ndim == 1 and are_weights(binning.count), "the weights of codes are invalid")
    if binning.cuts is not None:
        require(kind == "number" and binning.labels is None, "a column with cut points is not numeric")
        require(
            binning.cuts.shape == (max(binning.size - 1, 0),) and is_ascending(binning.cuts), "cut points do not ascend"
        )
        require(are_finite(binning.cuts), "a cut point is not finite")
    else:
        require(
            kind in ("category", "missing") and binning.labels is not None,
            "a column without cut points has no categories",
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
        require(slots.dtype.kind == "i" and slots.shape == (n_codes,), "the number of slots is not the number of codes")
        require(are_positions(slots, n_codes), "a slot is out of the range of its column")
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
    require(table.spare.shape == (n_columns,), "the number of pseudo-counts is not the number of columns")
    require(are_weights(table.joint) and are_weights(table.spare), "a count of pairs is negative or not a number")


def _check_strength(strength: float) -> None:
    require(0 < strength <= _MAX_SCORE, "the strength of a view is not a number above 0")


def _check_two(view: TwoDependence, binning: TableBinning, n_classes: int) -> None:
    n_slots = _check_one(view.one, binning, n_classes)
    joint, n_columns = view.joint, len(view.one.merged.columns)
    require(_check_merged(joint.merged, binning) == n_slots, "pairs of columns and columns differ in slots")
    alike = np.array_equal(joint.merged.offsets, view.one.merged.offsets)
    require(alike and np.array_equal(joint.columns, view.table.columns), "pairs of columns differ from their counts")
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
    require(check_block_moments(view.moments, n_classes) == n_columns, "a covariance has another number of columns")
    require(view.center.shape == (n_columns,) and are_finite(view.center), "the center of a covariance is invalid")
    require(0 <= view.share <= _MAX_SCORE, "the share of a covariance is not a number of at least 0")
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
    require([len(places) for places in ranks.quantiles] == expected, "the number of ranks is not the number of codes")
    require(
        all(places.ndim == 1 and is_moderate(places) for places in ranks.quantiles), "a rank is not a moderate number"
    )


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
    require(0 < view.penalty <= _MAX_SCORE, "the penalty of random Fourier features is not a number above 0")
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
    require(is_moderate(features.frequencies, features.phases), "a frequency or phase is not a moderate number")
    return features.width


# The largest logarithm of a temperature or its growth.
_MAX_LOG = 1e3


def check_calibration(calibration: Any, n_classes: int) -> None:
    """Check a calibration, or a chain of two."""
    if isinstance(calibration, Chain):
        check_calibration(calibration.first, n_classes)
        check_calibration(calibration.second, n_classes)
    elif isinstance(calibration, Scaling):
        _check_scaling(calibration, n_classes)
    elif isinstance(calibration, Beta):
        _check_beta(calibration, _n_curves(n_classes))
    else:
        assert isinstance(calibration, Isotonic)
        require(len(calibration.curves) == _n_curves(n_classes), "the calibration curves do not match the classes")
        for curve in calibration.curves:
            _check_curve(curve)


def _n_curves(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _check_scaling(scaling: Scaling, n_classes: int) -> None:
    numbers = np.array([scaling.log_temperature, scaling.growth, scaling.typical])
    require(bool((np.abs(numbers) <= _MAX_LOG).all()), "a temperature is too large")
    require(0 <= scaling.bend <= 1, "a bend is not a number from 0 to 1")
    require(0 <= scaling.amounts[0] <= scaling.amounts[1], "the amounts of evidence do not ascend")
    if scaling.bias is not None:
        require(
            scaling.bias.shape == (n_classes,) and is_moderate(scaling.bias),
            "the number of biases is not the number of classes",
        )


def _check_beta(beta: Beta, n_curves: int) -> None:
    require(
        beta.curves.shape == (n_curves, 3) and beta.limit.shape == (n_curves,),
        "the calibration curves do not match the classes",
    )
    rising = bool((beta.curves[:, :2] >= 0).all() and (beta.limit >= 0).all())
    require(rising and is_moderate(beta.curves, beta.limit / _MAX_LIMIT), "a calibration curve does not ascend")


# Represents unlimited log-odds.
_MAX_LIMIT = 1e200


def _check_curve(curve: Curve) -> None:
    require(
        curve.odds.ndim == 1 and curve.odds.shape == curve.probability.shape,
        "the points of a calibration curve are invalid",
    )
    require(len(curve.odds) > 0 and are_finite(curve.odds), "a calibration curve has no valid points")
    rising = bool((np.diff(curve.odds) >= 0).all() and (np.diff(curve.probability) >= 0).all())
    within = bool((curve.probability > 0).all() and (curve.probability < 1).all())
    require(rising and within, "a calibration curve does not ascend between 0 and 1")
