"""Pseudo-counts chosen by the data: from the summaries alone (evidence), or by leaving rows out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..families import Batch, Family
from ..kernels import Kernels
from ..kernels.data import Array, Dense, Floats

# log α lies in here: below, the classes share nothing; above, they do not differ.
_LOWEST, _HIGHEST = -12.0, 6.0
_GOLDEN = (np.sqrt(5.0) - 1) / 2

GRID = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0])
# More columns than this share one pseudo-count: looking at each alone would cost more than all of training.
_MOST_COLUMNS = 500


def by_evidence(family: Family, statistics: Any) -> float | Floats:
    """The α under which the data are most probable: one per column where columns are separate (empirical Bayes)."""
    if family.separate:
        return np.exp(_maximum(lambda log_alpha: family.with_alpha(np.exp(log_alpha)).log_evidence(statistics)))

    def evidence(log_alpha: Floats) -> Floats:
        return np.array([family.with_alpha(float(np.exp(log_alpha[0]))).total_log_evidence(statistics)])

    return float(np.exp(_maximum(evidence, 1)[0]))


def _maximum(evidence: Callable[[Floats], Floats], n: int | None = None) -> Floats:
    """Where each of several functions of one variable is largest: golden section, all at once."""
    size = len(evidence(np.zeros(1 if n is None else n))) if n is None else n
    low, high = np.full(size, _LOWEST), np.full(size, _HIGHEST)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = evidence(left), evidence(right)
    for _ in range(30):
        up = at_left < at_right
        low, high = np.where(up, left, low), np.where(up, high, right)
        new_left, new_right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        fresh = evidence(np.where(up, new_right, new_left))
        left, right = new_left, new_right
        at_left, at_right = np.where(up, at_right, fresh), np.where(up, fresh, at_left)
    return np.asarray((low + high) / 2)


class Choice:
    """How well each α of the grid does on rows that are left out; ``best`` chooses on all rows or on some."""

    def __init__(self, family: Family, statistics: Any, batch: Batch, offset: Floats, kernels: Kernels) -> None:
        self.classes = batch.classes
        self.by_column = family.separate and batch.data.n_columns <= _MOST_COLUMNS
        if self.by_column:
            self._losses = _losses_by_column(family, statistics, batch, offset, kernels)
        else:
            self._scores = [_left_out(family.with_alpha(a), statistics, batch, offset, kernels) for a in GRID]

    def best(self, case_weight: Floats, rows: Array | None = None) -> float | Floats:
        """The α with the least log-loss; where all columns share it, after a temperature that suits each α best.

        Without the temperature, the α would win that makes naive Bayes least overconfident.
        """
        chosen = np.arange(len(self.classes)) if rows is None else rows
        weight = case_weight[chosen]
        if self.by_column:
            return GRID[np.einsum("gij,i->gj", self._losses[:, chosen], weight).argmin(axis=0)]
        losses = [_tempered_loss(scores[chosen], self.classes[chosen], weight) for scores in self._scores]
        return float(GRID[int(np.argmin(losses))])
