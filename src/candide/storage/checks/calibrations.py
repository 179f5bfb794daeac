"""Corrections of probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...stacking.calibration import Chain
from ...stacking.calibration.curves import Beta, Curve, Isotonic
from ...stacking.calibration.scaling import Scaling
from ..sound import are_finite, require
from .views import is_moderate

# Of temperatures and their growth, as logarithms.
_MOST_LOG = 1e3


def check_calibration(calibration: Any, n_classes: int) -> None:
    """One of the four, or one after another."""
    if isinstance(calibration, Chain):
        check_calibration(calibration.first, n_classes)
        check_calibration(calibration.second, n_classes)
    elif isinstance(calibration, Scaling):
        _check_scaling(calibration, n_classes)
    elif isinstance(calibration, Beta):
        _check_beta(calibration, _n_curves(n_classes))
    else:
        assert isinstance(calibration, Isotonic)
        require(len(calibration.curves) == _n_curves(n_classes), "curves are of other classes")
        for curve in calibration.curves:
            _check_curve(curve)


def _n_curves(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _check_scaling(scaling: Scaling, n_classes: int) -> None:
    numbers = np.array([scaling.log_temperature, scaling.growth, scaling.typical])
    require(bool((np.abs(numbers) <= _MOST_LOG).all()), "a temperature is beyond all numbers")
    require(0 <= scaling.bend <= 1, "a bend is no number from 0 to 1")
    require(0 <= scaling.amounts[0] <= scaling.amounts[1], "amounts of evidence are not in order")
    if scaling.bias is not None:
        require(scaling.bias.shape == (n_classes,) and is_moderate(scaling.bias), "there is not a bias for each class")


def _check_beta(beta: Beta, n_curves: int) -> None:
    require(beta.curves.shape == (n_curves, 3) and beta.limit.shape == (n_curves,), "curves are of other classes")
    rising = bool((beta.curves[:, :2] >= 0).all() and (beta.limit >= 0).all())
    require(rising and is_moderate(beta.curves, beta.limit / _MOST_LIMIT), "a curve does not rise")


# Stands for log-odds without an end.
_MOST_LIMIT = 1e200


def _check_curve(curve: Curve) -> None:
    require(curve.odds.ndim == 1 and curve.odds.shape == curve.probability.shape, "a curve has odd corners")
    require(len(curve.odds) > 0 and are_finite(curve.odds), "a curve has no corners")
    rising = bool((np.diff(curve.odds) >= 0).all() and (np.diff(curve.probability) >= 0).all())
    within = bool((curve.probability > 0).all() and (curve.probability < 1).all())
    require(rising and within, "a curve does not rise from 0 to 1")
