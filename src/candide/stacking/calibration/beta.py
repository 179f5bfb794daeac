"""Beta calibration: log-odds that bend differently for and against a class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy_dataclass import dataclass
from .base import CERTAIN, Rows, joined, log_odds, normalised
from .newton import MANY, RIDGE, Loss, Penalised, Slope, blocks, minimise

# a, b, c that change nothing.
_IDENTITY = np.array([1.0, 1.0, 0.0])
_LEAST = np.array([0.0, 0.0, -np.inf])
# Log-odds that stand for certainty where none in the fit was larger: a loss of 4e-18.
_LEAST_LIMIT = 40.0


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
    points = (_Points(odds, member.astype(np.float64), rows.weight) for odds, member in rows.against_rest())
    found = (_fit_curve(each.merged() if rows.n_classes > MANY else each) for each in points)
    curves, limits = zip(*found, strict=True)
    fitted = Beta(np.array(curves), np.array(limits))
    if rows.log_loss(fitted.apply(rows.posterior)) <= rows.log_loss(rows.posterior):
        return fitted
    return Beta(np.tile(_IDENTITY, (len(curves), 1)), fitted.limit)


class _Points(NamedTuple):
    """What a curve is fitted on."""

    odds: Floats
    member: Floats  # 1 or 0, or a share
    weight: Floats

    def merged(self) -> _Points:
        """Points that hardly differ as one: next to each other within 1/64, or that share of their distance from 0."""
        place = np.rint(64.0 * np.arcsinh(self.odds)).astype(np.int64)
        place -= place.min()
        weight = np.bincount(place, self.weight).astype(np.float64)
        filled = np.flatnonzero(weight)
        odds, member = (np.bincount(place, self.weight * part)[filled] for part in (self.odds, self.member))
        return _Points(odds / weight[filled], member / weight[filled], weight[filled])


def _fit_curve(points: _Points) -> tuple[Floats, float]:
    """a, b and c of one class against the rest, and the limit of its log-odds."""
    odds, member, weight = points
    size = np.abs(odds)
    limit = float(size.max(where=size < CERTAIN, initial=_LEAST_LIMIT))
    odds = np.clip(odds, -limit, limit)
    parts: list[Loss] = [_Loss.of(odds[b], member[b], weight[b]) for b in blocks(len(odds), 3, 3)]
    # Small log-odds need large a and b, which must not cost more for it.
    scale = np.clip(np.average(np.abs(odds), weights=weight), 1e-3, 1.0)
    loss = Penalised(parts, _IDENTITY, RIDGE * np.array([scale, scale, 1.0]) ** 2)
    return minimise(loss, lambda power: _IDENTITY / 10.0**power, _LEAST), limit


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

    def __call__(self, curve: Floats) -> Slope:
        logit = curve @ self.terms
        log_total = np.logaddexp(0.0, logit)
        probability = np.exp(logit - log_total)
        return Slope(
            float(self.weight @ (log_total - self.member * logit)),
            self.terms @ (self.weight * (probability - self.member)),
            (self.terms * (self.weight * probability * (1.0 - probability))) @ self.terms.T,
        )
