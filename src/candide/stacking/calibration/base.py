"""The interface of calibrations, the rows they are fitted on, and conversions of scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ...kernels import Kernels
from ...kernels.layouts import Array, Floats, Positions
from ...lazy_dataclass import dataclass

# Stands for infinite log-odds: differences and slopes stay numbers.
MAX_LOG_ODDS = 1e200


class Calibration(Protocol):
    """Converts scores to calibrated probabilities."""

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes, ``(rows, classes)``; each row's probabilities sum to 1."""

    def describe(self) -> dict[str, float | Array]:
        """Return the fitted numbers by name."""


@dataclass(frozen=True)
class CalibrationRows:
    """Training rows of a calibration: log posteriors of rows, each under a model fitted without it."""

    posterior: Floats  # (rows, classes)
    classes: Positions
    weight: Floats  # adds up to the number of rows: only how they compare matters
    amount: Floats | None  # None where all rows hold the same amount of evidence

    @classmethod
    def of(
        cls, scores: Floats, classes: Positions, weight: Floats, amount: Floats | None, multiplicity: Array | None
    ) -> CalibrationRows:
        kept = np.flatnonzero(weight > 0)
        posterior, weight = log_softmax(scores[kept]), weight[kept]
        n_rows = len(kept) if multiplicity is None else multiplicity[kept].sum()
        if amount is not None:
            amount = amount[kept]
            amount = amount if len(amount) and np.ptp(amount) > 0 else None
        return cls(posterior, classes[kept], weight * (n_rows / weight.sum()) if len(kept) else weight, amount)

    @property
    def n_classes(self) -> int:
        return int(self.posterior.shape[1])

    def possible(self) -> CalibrationRows:
        """Return the rows without those whose own class is impossible, whose loss is infinite under any scaling."""
        return self._take(np.flatnonzero(self.of_own_class(self.posterior) > -np.inf))

    def thinned(self, n_cells: int) -> CalibrationRows:
        """Return evenly spaced rows of each class, with about ``n_cells`` scores."""
        step = -(-self.posterior.size // n_cells)
        return self if step <= 1 else self._take(np.argsort(self.classes, kind="stable")[::step])

    def _take(self, places: Array) -> CalibrationRows:
        if len(places) == len(self.weight):
            return self
        amount = None if self.amount is None else self.amount[places]
        return CalibrationRows(self.posterior[places], self.classes[places], self.weight[places], amount)

    def against_rest(self) -> Iterator[tuple[Floats, Array]]:
        """Yield log-odds and membership, class by class; of two classes only the second."""
        members = range(1, 2) if self.n_classes == 2 else range(self.n_classes)
        for member, odds in zip(members, np.ascontiguousarray(log_odds(self.posterior).T), strict=True):
            yield odds, self.classes == member

    def log_loss(self, log_probability: Floats) -> float:
        """Return the mean of -log p(own class)."""
        return -float(np.average(self.of_own_class(log_probability), weights=self.weight))

    def of_own_class(self, values: Floats) -> Floats:
        """Return the value of each row's own class from ``(rows, classes)``."""
        return np.asarray(values[np.arange(len(values)), self.classes])


def log_softmax(scores: Floats) -> Floats:
    """Return log posteriors (a copy). Classes with infinite scores share a row equally, as do all if none is possible.

    >>> np.exp(log_softmax(np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf]]))).round(3)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    out = np.array(scores, dtype=np.float64, order="C")
    # One thread: the models of an estimator keep to its n_threads, and this is a small part of any call.
    if Kernels(1).normalize(out, logarithm=True):
        top = out.max(axis=1, keepdims=True)
        rows = np.flatnonzero(np.isinf(top[:, 0]))
        leads = out[rows] == top[rows]
        out[rows] = np.where(leads, -np.log(leads.sum(axis=1, keepdims=True)), -np.inf)
    return out


def log_odds(posterior: Floats) -> Floats:
    """log p / (1 - p) of each class, ``(rows, classes)``; for two classes of the second one alone, ``(rows, 1)``."""
    if posterior.shape[1] == 2:
        return np.clip(posterior[:, 1:] - posterior[:, :1], -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return np.clip(posterior - _log_rest(posterior), -MAX_LOG_ODDS, MAX_LOG_ODDS)


def _log_rest(posterior: Floats) -> Floats:
    """log (1 - p). For the best class 1 - p is mostly lost in rounding, so the others are added up instead."""
    best = np.arange(len(posterior)), posterior.argmax(axis=1)
    others = posterior.copy()
    others[best] = -np.inf
    rest = np.log1p(-np.exp(others))
    # Of the second class, the logarithm before and after normalising differ by that of the sum.
    rest[best] = others.max(axis=1) - log_softmax(others).max(axis=1)
    return rest


def from_log_odds(odds: Floats) -> Floats:
    """Return log probabilities of all classes from log-odds of each against the rest: the inverse of ``log_odds``."""
    log_probability = -np.logaddexp(0.0, -odds)
    if odds.shape[1] > 1:
        return log_softmax(log_probability)
    return np.column_stack([-np.logaddexp(0.0, odds), log_probability])
