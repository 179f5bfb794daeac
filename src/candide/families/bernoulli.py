"""Presence or absence: φ is the probability that the column is on within the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.base import LinearTable
from ..kernels.data import Array, Floats, Positions
from ..priors import Dirichlet, LogProbability, log_share
from ..statistics import Counts
from ..statistics.base import as_dense
from .base import Batch, cell_positions
from .linear import LinearLikelihood, Score, factored, observe_counts


@dataclass(frozen=True)
class Bernoulli:
    """Columns that are on (above ``threshold``) or off. With ``threshold=None`` the cells must be 0 or 1 already."""

    prior: Dirichlet = Dirichlet(1.0)
    threshold: float | None = 0.0

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        if self.threshold is None and as_dense(kernels.tally(*batch, threshold=1.0).total).any():
            raise InputError(
                "X holds values above 1, and BernoulliNB(binarize=None) takes X as 0 or 1; pass binarize=0.0, or the "
                "value above which a column counts as on"
            )
        return observe_counts(batch, kernels, "BernoulliNB", self.threshold, presence=True)

    def log_on_off(self, statistics: Counts) -> tuple[LogProbability, LogProbability]:
        """log φ and log(1 - φ), each from its own count, ``(classes, columns)``."""
        return self._shares(statistics.dense(), statistics.observed())

    def _shares(self, on: Floats, seen: Floats) -> tuple[LogProbability, LogProbability]:
        alpha = np.asarray(self.prior.concentration)
        whole = seen + 2 * alpha
        return log_share(on + alpha, whole, 2), log_share(np.maximum(seen - on, 0.0) + alpha, whole, 2)

    def likelihood(self, statistics: Counts) -> BernoulliLikelihood:
        dense = isinstance(statistics.total, np.ndarray) or statistics.missing is not None
        if dense or np.ndim(self.prior.concentration):
            return self._build(statistics, _score, *self.log_on_off(statistics))
        # A class that never saw a word gives it the same weight as any other such word: only seen ones are stored.
        by_column = statistics.total.tocsc()
        never = self._shares(np.zeros_like(statistics.rows), statistics.rows)
        seen = self._shares(by_column.data, statistics.rows[by_column.indices])

        def sparse_score(on: Floats, off: Floats, never_on: Floats, never_off: Floats) -> Score:
            return _sparse_score(by_column, on, off, never_on, never_off)

        return self._build(statistics, sparse_score, *seen, *never)

    def _build(self, statistics: Counts, score: Any, *parts: LogProbability) -> BernoulliLikelihood:
        limit = None
        if any(part.order is not None for part in parts):
            limit = score(*(np.zeros(p.finite.shape) if p.order is None else -p.order for p in parts))
        return BernoulliLikelihood(statistics, self, score(*(part.finite for part in parts)), limit, self.threshold)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * n_columns)


def _score(on: Floats, off: Floats) -> Score:
    # All columns off, then the difference for those that are on; a missing cell takes its share of "off" back.
    off = np.broadcast_to(off, on.shape)
    return Score(LinearTable(np.ascontiguousarray(on - off), np.ascontiguousarray(-off)), off.sum(axis=1))


def _sparse_score(by_column: Any, on: Floats, off: Floats, never_on: Floats, never_off: Floats) -> Score:
    classes, (n_classes, n_columns) = by_column.indices, by_column.shape
    slope = never_on - never_off
    base = n_columns * never_off + np.bincount(classes, off - never_off[classes], minlength=n_classes)
    none = np.zeros(n_columns)
    absent = factored(none, -never_off, by_column, never_off[classes] - off)
    return Score(factored(none, slope, by_column, on - off - slope[classes]), base, absent)


@dataclass(frozen=True)
class BernoulliLikelihood(LinearLikelihood):
    """log p(x | class) = Σ over columns of log φ where on, log(1 - φ) where off."""

    statistics: Counts
    family: Bernoulli
    finite: Score
    order: Score | None
    threshold: float | None

    def probability(self) -> Floats:
        """φ, ``(classes, columns)``."""
        return np.exp(self.family.log_on_off(self.statistics)[0].value())

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        on = self.probability()[classes]
        # Rows that say "on" to the model that drew them, whatever its threshold.
        level = 1.0 if self.threshold is None else max(1.0, np.floor(self.threshold) + 1.0)
        return np.where(rng.random(on.shape) < on, level, 0.0)

    def parameters(self) -> dict[str, Array]:
        cells = cell_positions(*self.statistics.total.shape)
        return {
            **cells,
            "value": np.ones(len(cells["class"]), dtype=np.int64),
            "count": self.statistics.dense().ravel(),
            "probability": self.probability().ravel(),
        }
