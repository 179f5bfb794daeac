"""Beta calibration: log-odds that bend differently for and against a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.data import Array, Floats
from .base import CERTAIN, Rows, joined, log_odds, normalised
from .scaling import RIDGE

# a, b, c that change nothing.
_IDENTITY = np.array([1.0, 1.0, 0.0])
# Log-odds that stand for certainty where none in the fit was larger: a loss of 4e-18.
_LEAST_LIMIT = 40.0
_BOUND = np.array([0.0, 0.0, -np.inf])
_MOST_STEPS, _MOST_HALVINGS = 100, 40


@dataclass(frozen=True)
class Beta:
    """logit = a log p - b log(1 - p) + c with a, b ≥ 0 (Kull, Silva Filho and Flach, 2017).

    Two classes have one curve; more have one each, of the class against the rest, and are normalised.
    """

    curves: Floats  # (curves, 3): a, b, c
    limit: Floats  # (curves,): log-odds beyond it count as it

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Log probabilities of the classes; none is ever impossible."""
        odds = np.clip(log_odds(normalised(scores)), -self.limit, self.limit)
        a, b, c = self.curves.T
        return joined(b * np.logaddexp(0.0, odds) - a * np.logaddexp(0.0, -odds) + c)

    def describe(self) -> dict[str, float | Array]:
        """The numbers of the curves, one of each per curve."""
        return dict(zip("abc", self.curves.T, strict=True))


def fit_beta(rows: Rows) -> Beta:
    """The curves of least log-loss, each by itself. Together they may do harm, and are left out if they do."""
    curves, limits = zip(*(_fit_curve(odds, member, rows.weight) for odds, member in rows.against_rest()), strict=True)
    fitted = Beta(np.array(curves), np.array(limits))
    if rows.log_loss(fitted.apply(rows.posterior)) <= rows.log_loss(rows.posterior):
        return fitted
    return Beta(np.tile(_IDENTITY, (len(curves), 1)), fitted.limit)


def _fit_curve(odds: Floats, member: Array, weight: Floats) -> tuple[Floats, float]:
    """a, b and c of one class against the rest, and the limit of its log-odds."""
    size = np.abs(odds)
    limit = float(size.max(where=size < CERTAIN, initial=_LEAST_LIMIT))
    odds = np.clip(odds, -limit, limit)
    terms = np.array([-np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds), np.ones(len(odds))])
    return _descend(_Loss(terms, member, weight)), limit


@dataclass(frozen=True)
class _Loss:
    """The log-loss of one curve, convex in a, b and c."""

    terms: Floats  # (3, rows): log p, -log(1 - p), 1
    member: Array
    weight: Floats

    def value(self, curve: Floats) -> float:
        logit, change = curve @ self.terms, curve - _IDENTITY
        return float(self.weight @ (np.logaddexp(0.0, logit) - self.member * logit) + RIDGE / 2 * (change @ change))

    def slopes(self, curve: Floats) -> tuple[Floats, Floats]:
        """Gradient and second derivatives."""
        from scipy.special import expit

        probability = expit(curve @ self.terms)
        gradient = self.terms @ (self.weight * (probability - self.member)) + RIDGE * (curve - _IDENTITY)
        curvature = (self.terms * (self.weight * probability * (1.0 - probability))) @ self.terms.T
        return gradient, curvature + RIDGE * np.eye(3)


def _descend(loss: _Loss) -> Floats:
    """Newton's method within a, b ≥ 0. Unlike gradients alone, it does not mind terms of very different sizes."""
    curve, value = _start(loss)
    for _ in range(_MOST_STEPS):
        trial, trial_value = _step(loss, curve, value)
        if not trial_value < value - 1e-10:
            break
        curve, value = trial, trial_value
    return curve


def _step(loss: _Loss, curve: Floats, value: float) -> tuple[Floats, float]:
    """The full step of Newton's, or as many halves of it as it takes to come down."""
    gradient, curvature = loss.slopes(curve)
    # What lies on its bound and would leave it stays there.
    free = np.flatnonzero((curve > _BOUND) | (gradient < 0.0))
    step = np.zeros(3)
    step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
    for halving in range(_MOST_HALVINGS):
        trial = np.maximum(curve + step / 2**halving, _BOUND)
        trial_value = loss.value(trial)
        if trial_value <= value + 1e-4 * float(gradient @ (trial - curve)):
            break
    return trial, trial_value


def _start(loss: _Loss) -> tuple[Floats, float]:
    """The right order of magnitude: where nearly all probabilities are 0 or 1, second derivatives say nothing."""
    curve, value = _IDENTITY, loss.value(_IDENTITY)
    while (smaller := loss.value(curve / 10.0)) < value:
        curve, value = curve / 10.0, smaller
    return curve, value
