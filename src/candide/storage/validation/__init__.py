"""Checks that the parts of a decoded model are consistent, so that no kernel reads outside an array or scores NaN.

The decoder has checked types. These modules check shapes, ranges, and whether the parts of a model agree. Here are the
predicates on numbers that they share, and the checks of stacking weights and calibration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.layouts import Array
from ...statistics.base import Budget
from ..errors import require
from ..registry import name_of

if TYPE_CHECKING:
    from ...stacking.calibration import Scaling
    from ...stacking.calibration_curves import Beta, Curve
    from ...stacking.weights import StackingWeights

# The squares of larger weights overflow.
MAX_WEIGHT = 1e150
# Relative error of sums that should be equal.
_ROUNDING = 1e-6
# Bytes or rows that a sample may keep.
_MAX_BUDGET = 1 << 40
# The columns that a sparse table may have in any case, and for each stored cell.
_MAX_COLUMNS, _COLUMNS_PER_CELL = 1 << 26, 256


def are_offsets(offsets: Array, end: int) -> bool:
    """Return whether offsets ascend from 0 to the end.

    >>> are_offsets(np.array([0, 2, 2, 5]), 5), are_offsets(np.array([0, 3, 2, 5]), 5)
    (True, False)
    """
    bounded = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end
    return bool(bounded and (offsets[1:] >= offsets[:-1]).all())


def is_budget(budget: Budget) -> bool:
    """Return whether a budget of training rows is one that a sample computes with."""
    return 0 <= budget.size <= _MAX_BUDGET


def is_ascending(numbers: Array) -> bool:
    """Return whether each number is larger than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def max_columns(n_cells: int) -> int:
    """Return the largest number of columns of a sparse table with a given number of stored cells."""
    return max(_MAX_COLUMNS, _COLUMNS_PER_CELL * n_cells)


def is_canonical(data: Array, indices: Array, indptr: Array, n_columns: int) -> bool:
    """Return whether compressed rows are valid, with distinct columns in ascending order in every row.

    The number of columns is limited by the number of cells, because a model may allocate a number for each column.
    """
    types = data.dtype == np.float64 and indices.dtype == indptr.dtype and indices.dtype.itemsize >= 4
    if not (types and data.ndim == 1 and data.shape == indices.shape and are_offsets(indptr, len(data))):
        return False
    if not 0 <= n_columns <= max_columns(len(data)):
        return False
    ascending = indices[1:] > indices[:-1]
    begins = indptr[(indptr > 0) & (indptr < len(data))]
    ascending[begins - 1] = True
    return bool(ascending.all()) and are_positions(indices, n_columns)


def are_positions(numbers: Array, limit: int) -> bool:
    """Return whether all numbers are at least 0 and below the limit."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < limit)


def are_weights(numbers: Any) -> bool:
    """Return whether all numbers of an array or a sparse table are from 0 to ``MAX_WEIGHT``."""
    stored = stored_values(numbers)
    return not stored.size or bool(stored.min() >= 0 and stored.max() <= MAX_WEIGHT)


def are_finite(*arrays: Any) -> bool:
    """Return whether all numbers of some arrays are finite."""
    return all(bool(np.isfinite(array).all()) for array in arrays)


def is_symmetric(matrices: Array) -> bool:
    """Return whether matrices, in the last two axes, equal their transposes except for rounding."""
    difference = np.abs(matrices - matrices.swapaxes(-1, -2))
    return bool((difference <= _ROUNDING * np.abs(matrices).max(initial=0.0)).all())


def are_at_most(numbers: Array, sums: Array) -> bool:
    """Return whether numbers are at most these sums, except for rounding in additions and subtractions."""
    return bool((numbers <= sums + _ROUNDING * sums.max(initial=0.0)).all())


def stored_values(numbers: Any) -> Array:
    """Return an array itself, or the stored cells of a sparse table."""
    return numbers if isinstance(numbers, np.ndarray) else numbers.data


MAX_SCORE = 1e100
_MAX_TOTAL = 1e300


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
    return all(bool((np.abs(each) <= MAX_SCORE).all()) for each in numbers)


# The largest logarithm of a temperature or its growth.
_MAX_LOG = 1e3


def check_calibration(calibration: Any, n_classes: int) -> None:
    """Check a calibration, or a chain of two."""
    kind = name_of(type(calibration))
    if kind == "chain":
        check_calibration(calibration.first, n_classes)
        check_calibration(calibration.second, n_classes)
    elif kind == "scaling":
        _check_scaling(calibration, n_classes)
    elif kind == "beta curves":
        _check_beta(calibration, _n_curves(n_classes))
    else:
        assert kind == "isotonic curves"
        require(len(calibration.curves) == _n_curves(n_classes), "the calibration curves do not match the classes")
        for curve in calibration.curves:
            _check_curve(curve)


def _n_curves(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _check_scaling(scaling: Scaling, n_classes: int) -> None:
    numbers = np.array([scaling.log_temperature, scaling.growth, scaling.typical])
    require(bool((np.abs(numbers) <= _MAX_LOG).all()), "a temperature is too large")
    require(0 <= scaling.bend <= 1, "a curvature is not between 0 and 1")
    require(0 <= scaling.amounts[0] <= scaling.amounts[1], "the points of the temperature curve are not increasing")
    if scaling.bias is not None:
        require(
            scaling.bias.shape == (n_classes,) and is_moderate(scaling.bias),
            "the number of biases differs from the number of classes",
        )


def _check_beta(beta: Beta, n_curves: int) -> None:
    require(
        beta.curves.shape == (n_curves, 3) and beta.limit.shape == (n_curves,),
        "the calibration curves do not match the classes",
    )
    rising = bool((beta.curves[:, :2] >= 0).all() and (beta.limit >= 0).all())
    require(rising and is_moderate(beta.curves, beta.limit / _MAX_LIMIT), "a calibration curve is not increasing")


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
    require(rising and within, "a calibration curve is not increasing from 0 to 1")
