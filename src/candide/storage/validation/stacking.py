"""Checks of stacked views, their weights, and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.dependence import PairTable
from ...kernels.layouts import Array
from ...stacking.binned_table import ColumnLook, Look
from ...stacking.calibration import Chain
from ...stacking.calibration.beta import Beta
from ...stacking.calibration.isotonic import Curve, Isotonic
from ...stacking.calibration.scaling import Scaling
from ...stacking.coordinates import ClippedCoordinates, RankCoordinates
from ...stacking.covariance import Covariance
from ...stacking.fourier_features import Cosines
from ...stacking.fourier_view import Waves
from ...stacking.merging import Merging
from ...stacking.one_dependence import OneDependence
from ...stacking.two_dependence import TwoDependence
from ...stacking.views import View
from ...stacking.weights import Mixture
from ..errors import require
from .predicates import are_finite, are_positions, are_weights, is_ascending, is_symmetric
from .statistics import check_block_moments, check_labels, check_rows

# The codes of missing and unseen values, after those of a column.
_EXTRA_CODES = 2
_MAX_SCORE = 1e100
_MAX_TOTAL = 1e300
# Relative rounding errors, and the largest ratio of a range to a standard deviation.
_ROUNDING, _MAX_RATIO = 1e-6, 1e6


def check_mixture(mixture: Mixture, n_views: int, n_classes: int) -> None:
    """Check the weights of views."""
    shapes = mixture.size.shape, mixture.limit.shape, mixture.weight.shape, mixture.bias.shape
    require(
        shapes == ((n_views,), (n_views,), (n_views, n_classes), (n_classes,)),
        "the weights do not match the views and classes",
    )
    require(bool((mixture.size > 0).all()) and are_finite(mixture.size), "the size of a view is not a number above 0")
    require(
        are_weights(mixture.weight) and bool((mixture.limit >= 0).all()),
        "a weight of a view is negative or not a number",
    )
    # The largest possible score.
    most = np.abs(mixture.bias).sum() + (mixture.weight * mixture.limit[:, None]).sum()
    require(most <= _MAX_TOTAL, "the weights of views are too large")


def is_moderate(*numbers: Any) -> bool:
    """Return whether sums and products of a few of these numbers do not overflow."""
    return all(bool((np.abs(each) <= _MAX_SCORE).all()) for each in numbers)


def check_look(look: Look, kinds: tuple[str, ...]) -> None:
    """The bins of columns match the kinds of the columns of the table."""
    nulls = look.nulls
    flags = nulls is None or (nulls.dtype == bool and nulls.shape == (len(kinds),))
    require(flags, "the flags of columns with nulls are invalid")
    for column in look.columns:
        require(are_positions(np.array([column.column]), len(kinds)), "a binned column does not exist")
        _check_column(column, kinds[column.column])


def _check_column(look: ColumnLook, kind: str) -> None:
    require(look.count.ndim == 1 and are_weights(look.count), "the weights of codes are invalid")
    if look.cuts is not None:
        require(kind == "number" and look.labels is None, "a column with cut points is not numeric")
        require(look.cuts.shape == (max(look.size - 1, 0),) and is_ascending(look.cuts), "cut points do not ascend")
        require(are_finite(look.cuts), "a cut point is not finite")
    else:
        require(
            kind in ("category", "missing") and look.labels is not None, "a column without cut points has no categories"
        )
        assert look.labels is not None
        check_labels(look.labels)
        require(len(look.labels) == look.size, "the numbers of categories and of their weights differ")


def check_view(view: View, look: Look, n_classes: int) -> None:
    """Check one view."""
    if isinstance(view, OneDependence):
        _check_one(view, look, n_classes)
    elif isinstance(view, TwoDependence):
        _check_two(view, look, n_classes)
    elif isinstance(view, Covariance):
        _check_covariance(view, look, n_classes)
    else:
        assert isinstance(view, Waves)
        _check_waves(view, look, n_classes)


def _check_merging(merging: Merging, look: Look) -> int:
    """Check merged codes, and return the total number of slots."""
    n_columns, sizes = len(merging.columns), look.sizes
    require(
        _are_places(merging.columns, len(look.columns)) and len(merging.maps) == n_columns,
        "slots refer to a column that does not exist",
    )
    for column, slots in zip(merging.columns.tolist(), merging.maps, strict=True):
        n_codes = int(sizes[column]) + _EXTRA_CODES
        require(slots.dtype.kind == "i" and slots.shape == (n_codes,), "the number of slots is not the number of codes")
        require(are_positions(slots, n_codes), "a slot is out of the range of its column")
    return int(merging.offsets[-1])


def _are_places(places: Array, limit: int) -> bool:
    """Return whether these are distinct ascending positions below a limit."""
    return places.dtype.kind == "i" and places.ndim == 1 and is_ascending(places) and are_positions(places, limit)


def _check_one(view: OneDependence, look: Look, n_classes: int) -> int:
    n_slots = _check_merging(view.merging, look)
    require(len(view.merging.columns) > 0, "a view has no columns")
    _check_pairs(view.table, n_classes, n_slots, len(view.merging.columns))
    _check_strength(view.strength)
    return n_slots


def _check_pairs(table: PairTable, n_classes: int, n_slots: int, n_columns: int) -> None:
    check_rows(table.rows, n_classes)
    require(table.joint.shape == (n_classes, n_slots, n_slots), "the counts of pairs have an unexpected shape")
    require(table.spare.shape == (n_columns,), "the number of pseudo-counts is not the number of columns")
    require(are_weights(table.joint) and are_weights(table.spare), "a count of pairs is negative or not a number")


def _check_strength(strength: float) -> None:
    require(0 < strength <= _MAX_SCORE, "the strength of a view is not a number above 0")


def _check_two(view: TwoDependence, look: Look, n_classes: int) -> None:
    n_slots = _check_one(view.one, look, n_classes)
    joint, n_columns = view.joint, len(view.one.merging.columns)
    require(_check_merging(joint.merging, look) == n_slots, "pairs of columns and columns differ in slots")
    alike = np.array_equal(joint.merging.offsets, view.one.merging.offsets)
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


def _check_covariance(view: Covariance, look: Look, n_classes: int) -> None:
    n_columns = _check_coordinates(view.coordinates, look)
    require(check_block_moments(view.moments, n_classes) == n_columns, "a covariance has another number of columns")
    require(view.center.shape == (n_columns,) and are_finite(view.center), "the center of a covariance is invalid")
    require(0 <= view.share <= _MAX_SCORE, "the share of a covariance is not a number of at least 0")
    _check_strength(view.strength)
    _check_factored(view, "factors")


def _check_factored(view: Any, made: str) -> None:
    """The matrix of a view has the factors that predicting uses."""
    try:
        getattr(view, made)
    except np.linalg.LinAlgError:
        require(False, f"a matrix of {view.name!r:.40} is not positive definite")


def _check_coordinates(coordinates: Any, look: Look) -> int:
    """Check coordinates, and return the number of columns."""
    if isinstance(coordinates, RankCoordinates):
        _check_ranks(coordinates, look)
        return len(coordinates.columns)
    assert isinstance(coordinates, ClippedCoordinates)
    columns, parts = coordinates.columns, (coordinates.low, coordinates.high, coordinates.mean, coordinates.deviation)
    n_numbers = sum(column.is_number for column in look.columns)
    require(_are_places(columns, n_numbers), "coordinates refer to columns that are not numeric")
    require(all(part.shape == columns.shape for part in parts) and are_finite(*parts), "coordinates are not finite")
    low, high, mean, deviation = parts
    require(bool(((low <= high) & (deviation > 0)).all()), "coordinates have an empty range")
    # Numbers clipped to a range have their mean in it, and a standard deviation not much smaller than it.
    slack = _ROUNDING * (np.abs(low) + np.abs(high))
    within = (low - slack <= mean) & (mean <= high + slack) & (high / 2 - low / 2 <= _MAX_RATIO * deviation)
    require(bool(within.all()), "the mean or deviation of coordinates does not match their range")
    return len(columns)


def _check_ranks(ranks: RankCoordinates, look: Look) -> None:
    sizes = look.sizes
    require(_are_places(ranks.columns, len(sizes)), "ranks refer to a column that does not exist")
    wanted = [int(sizes[column]) + _EXTRA_CODES for column in ranks.columns]
    require([len(places) for places in ranks.places] == wanted, "the number of ranks is not the number of codes")
    require(all(places.ndim == 1 and is_moderate(places) for places in ranks.places), "a rank is not a moderate number")


def _check_waves(view: Waves, look: Look, n_classes: int) -> None:
    width = _check_cosines(view.cosines, look)
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


def _check_cosines(cosines: Cosines, look: Look) -> int:
    """Check random Fourier features, and return their number."""
    inputs, shape = cosines.inputs, cosines.frequencies.shape
    _check_ranks(inputs.ranks, look)
    n_ranks, n_slots = len(inputs.ranks.columns), _check_merging(inputs.levels, look) if inputs.levels.maps else 0
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
        cosines.phases.ndim == 1 and shape == (n_inputs, cosines.width),
        "the frequencies of random Fourier features have an unexpected shape",
    )
    require(is_moderate(cosines.frequencies, cosines.phases), "a frequency or phase is not a moderate number")
    return cosines.width


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
