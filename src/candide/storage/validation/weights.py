"""Checks of stacking weights and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import require
from ..registry import name_of
from . import are_finite, are_weights

if TYPE_CHECKING:
    from ...stacking.calibration import Scaling
    from ...stacking.calibration_curves import Beta, Curve
    from ...stacking.weights import StackingWeights

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
