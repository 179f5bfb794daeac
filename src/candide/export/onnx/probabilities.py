"""From scores to log posteriors: limits, impossible classes, normalisation, calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats
from ...stacking.calibration import MAX_LOG_ODDS, MAX_LOG_TEMPERATURE, Chain, Scaling
from ...stacking.calibration_curves import Beta, Curve, Isotonic
from .tensor import Tensor, concatenated, log_one_plus_exp, log_sum

# Sums of fractions: 0.1 + 0.2 and 0.3 are the same power of ε.
_SLACK = 1e-12


# How much evidence rows hold, ``(rows, 1)``, made where it is asked for; None where that does not vary.
Amount = Callable[[], Tensor] | None


def normalised(scores: Tensor) -> Tensor:
    """Log posteriors; classes with infinite scores share a row, and so do all if all are impossible."""
    top = scores.max(1, keep=True)
    infinite = top.is_infinite()
    known = infinite.where(scores.equals(top).where(0.0, -np.inf), scores) - infinite.where(0.0, top)
    return known - known.exp().sum(1, keep=True).log()


def leaders_only(scores: Tensor, limits: list[Tensor], possible: Array) -> Tensor:
    """Every class that a limit rules out is -inf."""
    if not limits:
        return scores
    alive: Any = possible[None, :]
    for limit in limits:
        living = limit.graph.op("Where", alive, limit, -np.inf)
        top = living.max(1, keep=True)
        alive = living >= top - top.abs() * _SLACK
    return scores.graph.op("Where", alive, scores, -np.inf)


def without_impossible(scores: Tensor, before: Tensor) -> Tensor:
    """Curves know nothing of what cannot be: classes that were impossible stay so."""
    return normalised(before.equals(-np.inf).where(-np.inf, scores))


def calibrated(calibration: Any, posterior: Tensor, amount: Amount) -> Tensor:
    """Log posteriors as a calibration corrects them."""
    if isinstance(calibration, Chain):
        return calibrated(calibration.second, calibrated(calibration.first, posterior, amount), None)
    if isinstance(calibration, Scaling):
        return _scaled(calibration, posterior, amount)
    if isinstance(calibration, Beta):
        return _beta(calibration, posterior)
    if isinstance(calibration, Isotonic):
        return _isotonic(calibration, posterior)
    raise ParameterError(f"a calibration by {type(calibration).__name__} has no graph; choose calibrate='platt'")


def _scaled(scaling: Scaling, posterior: Tensor, amount: Amount) -> Tensor:
    scores = _bent(posterior, scaling.bend) / _temperature(scaling, amount)
    return normalised(scores if scaling.bias is None else scores + scaling.bias)


def _temperature(scaling: Scaling, amount: Amount) -> Any:
    if amount is None or not scaling.growth:
        return float(scaling.temperature(None)[0])
    low, high = scaling.amounts
    excess = (amount().at_least(low).at_most(high) + 1.0).log() - scaling.typical
    return (
        (excess * scaling.growth + scaling.log_temperature)
        .at_least(-MAX_LOG_TEMPERATURE)
        .at_most(MAX_LOG_TEMPERATURE)
        .exp()
    )


def _bent(posterior: Tensor, bend: float) -> Tensor:
    if not bend:
        return posterior
    longer = posterior.max(1, keep=True) - posterior + 1.0
    if bend == 1.0:
        return -longer.log()
    return -((longer.log() * (1.0 - bend)).exp() - 1.0) / (1.0 - bend)


def _log_odds(posterior: Tensor, n_curves: int) -> Tensor:
    """Of each class against the rest; of two classes of the second alone."""
    if n_curves == 1:
        odds = posterior.columns(np.array([1])) - posterior.columns(np.array([0]))
    else:
        best = posterior.best().with_axis(1).equals(np.arange(n_curves)[None, :])
        others = best.where(-np.inf, posterior)
        odds = posterior - best.where(log_sum(others, 1), (1.0 - others.exp()).log())
    return odds.at_least(-MAX_LOG_ODDS).at_most(MAX_LOG_ODDS)


def _joined(odds: Tensor, n_curves: int) -> Tensor:
    """The inverse of ``_log_odds``."""
    log_probability = -log_one_plus_exp(-odds)
    if n_curves > 1:
        return normalised(log_probability)
    return concatenated([-log_one_plus_exp(odds), log_probability])


def _beta(beta: Beta, posterior: Tensor) -> Tensor:
    n_curves = len(beta.curves)
    odds = _log_odds(posterior, n_curves).at_least(-beta.limit).at_most(beta.limit)
    a, b, c = beta.curves.T
    return _joined(log_one_plus_exp(odds) * b - log_one_plus_exp(-odds) * a + c, n_curves)


def _isotonic(isotonic: Isotonic, posterior: Tensor) -> Tensor:
    odds = _log_odds(posterior, len(isotonic.curves))
    bent = [_along(curve, odds.columns(np.array([k]))) for k, curve in enumerate(isotonic.curves)]
    return _joined(concatenated(bent), len(bent))


def _along(curve: Curve, odds: Tensor) -> Tensor:
    """Calibrated log-odds, ``(rows, 1)``, straight between the corners of a curve."""
    corners, heights = _at_least_two(curve.odds, curve.probability)
    passed = (odds >= corners[None, :]).of_type(np.int64).sum(1, keep=True)
    place = (passed - 1).at_least(0).at_most(len(corners) - 2)
    begin, rise, width = (place.picks(part) for part in (corners[:-1], np.diff(heights), np.diff(corners)))
    share = ((odds - begin) / width).at_least(0.0).at_most(1.0)
    probability = place.picks(heights[:-1]) + share * rise
    return probability.log() - (1.0 - probability).log()


def _at_least_two(corners: Floats, heights: Floats) -> tuple[Floats, Floats]:
    if len(corners) > 1:
        return corners, heights
    return np.append(corners, corners + np.maximum(1.0, np.abs(corners))), np.repeat(heights, 2)
