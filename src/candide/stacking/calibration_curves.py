"""Beta and isotonic calibration: curves of log-odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from .calibration import MAX_LOG_ODDS, CalibrationRows, from_log_odds, log_odds, log_softmax
from .newton import MANY, RIDGE, Derivatives, Loss, PenalizedLoss, blocks, minimize

# Parameters a, b, c of the identity.
_IDENTITY = np.array([1.0, 1.0, 0.0])
_LEAST = np.array([0.0, 0.0, -np.inf])
# Log-odds that represent certainty if none in the fit was larger: a loss of 4e-18.
_LEAST_LIMIT = 40.0


@dataclass(frozen=True)
class Beta:
    """logit = a log p - b log(1 - p) + c with a, b ≥ 0 (Kull, Silva Filho and Flach, 2017).

    Two classes have one curve. More classes have one curve each, against the rest, and are normalized by log_softmax.
    """

    curves: Floats  # (curves, 3): a, b, c
    limit: Floats  # (curves,): log-odds are clipped to ± this

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes, which are all finite."""
        odds = np.clip(log_odds(log_softmax(scores)), -self.limit, self.limit)
        a, b, c = self.curves.T
        return from_log_odds(b * np.logaddexp(0.0, odds) - a * np.logaddexp(0.0, -odds) + c)

    def describe(self) -> dict[str, float | Array]:
        """Return the parameters of the curves."""
        return dict(zip("abc", self.curves.T, strict=True))


def fit_beta(rows: CalibrationRows) -> Beta:
    """Fit each curve by minimizing the log-loss. If together they increase the loss, none is used."""
    points = (_Points(odds, member.astype(np.float64), rows.weight) for odds, member in rows.against_rest())
    found = (_fit_beta_curve(each.merged() if rows.n_classes > MANY else each) for each in points)
    curves, limits = zip(*found, strict=True)
    fitted = Beta(np.array(curves), np.array(limits))
    if rows.log_loss(fitted.apply(rows.posterior)) <= rows.log_loss(rows.posterior):
        return fitted
    return Beta(np.tile(_IDENTITY, (len(curves), 1)), fitted.limit)


class _Points(NamedTuple):
    """The points that a curve is fitted on."""

    odds: Floats
    member: Floats  # 1 or 0, or a share if points were merged
    weight: Floats

    def merged(self) -> _Points:
        """Merge points that differ by less than 1/64, or by less than 1/64 of their distance from 0."""
        place = np.rint(64.0 * np.arcsinh(self.odds)).astype(np.int64)
        place -= place.min()
        weight = np.bincount(place, self.weight).astype(np.float64)
        filled = np.flatnonzero(weight)
        odds, member = (np.bincount(place, self.weight * part)[filled] for part in (self.odds, self.member))
        return _Points(odds / weight[filled], member / weight[filled], weight[filled])


def _fit_beta_curve(points: _Points) -> tuple[Floats, float]:
    """Return a, b and c for one class against the rest, and the limit of its log-odds."""
    odds, member, weight = points
    size = np.abs(odds)
    limit = float(size.max(where=size < MAX_LOG_ODDS, initial=_LEAST_LIMIT))
    odds = np.clip(odds, -limit, limit)
    parts: list[Loss] = [_Loss.of(odds[b], member[b], weight[b]) for b in blocks(len(odds), 3, 3)]
    # Scale the penalty, because small log-odds need large a and b.
    scale = np.clip(np.average(np.abs(odds), weights=weight), 1e-3, 1.0)
    loss = PenalizedLoss(parts, _IDENTITY, RIDGE * np.array([scale, scale, 1.0]) ** 2)
    return minimize(loss, lambda power: _IDENTITY / 10.0**power, _LEAST), limit


@dataclass(frozen=True)
class _Loss:
    """The log-loss of some rows under one curve, convex in a, b and c."""

    terms: Floats  # (3, rows): log p, -log(1 - p), 1
    member: Floats
    weight: Floats

    @classmethod
    def of(cls, odds: Floats, member: Floats, weight: Floats) -> _Loss:
        terms = np.array([-np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds), np.ones(len(odds))])
        return cls(terms, member, weight)

    def __call__(self, curve: Floats) -> Derivatives:
        logit = curve @ self.terms
        log_total = np.logaddexp(0.0, logit)
        probability = np.exp(logit - log_total)
        return Derivatives(
            float(self.weight @ (log_total - self.member * logit)),
            self.terms @ (self.weight * (probability - self.member)),
            (self.terms * (self.weight * probability * (1.0 - probability))) @ self.terms.T,
        )


# Weight of a pseudo-row of the other class at each end of the curve, so that no probability is 0 or 1.
_PSEUDO_ROW_WEIGHT = 0.5


@dataclass(frozen=True)
class Curve:
    """An increasing probability: constant within a block of pooled rows, linear between blocks.

    Interpolation between the *centers* of blocks was tried and rejected. Most rows are in a block with a probability
    near 0, which would be raised for half of these rows.
    """

    odds: Floats  # first and last point of each block
    probability: Floats

    def log_odds(self, odds: Floats) -> Floats:
        """Return the calibrated log-odds."""
        probability = np.interp(odds, self.odds, self.probability)
        return np.asarray(np.log(probability) - np.log1p(-probability))


@dataclass(frozen=True)
class Isotonic:
    """Two classes have one increasing curve. More have one each, against the rest, normalized by log_softmax."""

    curves: tuple[Curve, ...]

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes, which are all finite."""
        odds = log_odds(log_softmax(scores))
        return from_log_odds(np.column_stack([curve.log_odds(odds[:, k]) for k, curve in enumerate(self.curves)]))

    def describe(self) -> dict[str, float | Array]:
        """Return the knots of the curves, and the curve of each."""
        sizes = [len(curve.odds) for curve in self.curves]
        return {
            "curve": np.repeat(np.arange(len(sizes)), sizes),
            "log_odds": np.concatenate([curve.odds for curve in self.curves]),
            "probability": np.concatenate([curve.probability for curve in self.curves]),
        }


def fit_isotonic(rows: CalibrationRows) -> Isotonic:
    """Fit each curve by isotonic least squares."""
    return Isotonic(tuple(_fit_isotonic_curve(odds, member, rows.weight) for odds, member in rows.against_rest()))


def _fit_isotonic_curve(odds: Floats, member: Array, weight: Floats) -> Curve:
    from scipy.optimize import isotonic_regression

    at, place = np.unique(odds, return_inverse=True)
    total = np.bincount(place, weight)
    share = np.bincount(place, weight * member) / total
    ends = np.array([_PSEUDO_ROW_WEIGHT])
    pooled = isotonic_regression(np.r_[1.0, share, 0.0], weights=np.r_[ends, total, ends])
    # The knots: first and last point of each block, without the pseudo-rows at the ends.
    probability = pooled.x[1:-1]
    rises = np.flatnonzero(np.diff(probability) > 0)
    corners = np.unique(np.r_[0, rises, rises + 1, len(at) - 1])
    return Curve(at[corners], probability[corners])
