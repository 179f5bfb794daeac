"""Rennie's complement: a class is judged by how badly the other classes explain the row. A score, not a density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..exceptions import NotADensity
from ..kernels import Kernels
from ..kernels.base import LinearTable
from ..kernels.data import Array, Data, Floats, Positions
from ..priors import Dirichlet
from ..statistics import Counts
from .base import Batch, cell_positions
from .linear import LinearLikelihood, Score, factored, observe_counts, sparse_parts


@dataclass(frozen=True)
class Complement:
    """Weights -log θ̃, where θ̃ are the smoothed shares of all other classes together."""

    prior: Dirichlet = Dirichlet(1.0)
    norm: bool = False

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "ComplementNB")

    def weights(self, statistics: Counts) -> tuple[Floats, Floats | None]:
        """Finite weights, ``(classes, columns)``, and the powers of 1/ε where the complement lacks a word."""
        count = statistics.dense()
        others = np.maximum(count.sum(axis=0) - count, 0.0)
        finite, order = self.prior.log_mean(others, others.sum(axis=1, keepdims=True), count.shape[1])
        if not self.norm:
            return -finite, order
        # In the limit the impossible words share the whole weight of their class.
        return _shares(finite if order is None else np.where(order.any(axis=1, keepdims=True), order, finite)), None

    def likelihood(self, statistics: Counts) -> ComplementLikelihood:
        if isinstance(statistics.total, np.ndarray) or np.ndim(self.prior.concentration) == 2 or self.norm:
            finite, order = self.weights(statistics)
            none = np.zeros(len(finite))
            limit = None if order is None else Score(LinearTable(order), none)
            return ComplementLikelihood(statistics, self, Score(LinearTable(finite), none), limit)
        return self._sparse(statistics)

    def _sparse(self, statistics: Counts) -> ComplementLikelihood:
        # Words a class lacks have the same complement count in all such classes: that of the whole collection.
        by_column, pseudo, alpha = sparse_parts(statistics.total, self.prior.concentration)
        everywhere = np.asarray(statistics.total.sum(axis=0)).ravel()
        total = everywhere.sum() - np.asarray(statistics.total.sum(axis=1)).ravel() + alpha.sum()
        width = np.diff(by_column.indptr)
        whole = everywhere + alpha
        others = np.maximum(np.repeat(everywhere, width) - by_column.data, 0.0) + pseudo
        unknown, impossible = whole <= 0, others <= 0
        log_whole = np.log(np.where(unknown, 1.0, whole))
        log_others = np.log(np.where(impossible, 1.0, others))
        # Where all other classes are empty, all words have an even share, and none is impossible.
        empty = total <= 0
        slope = np.log(np.where(empty, float(len(alpha)), total))
        none = np.zeros(len(total))
        finite = Score(factored(-log_whole, slope, by_column, np.repeat(log_whole, width) - log_others), none)
        limit = None
        if unknown.any() or impossible.any():
            stored = np.where(impossible, 1.0, 0.0) - np.repeat(np.where(unknown, 1.0, 0.0), width)
            limit = Score(factored(np.where(unknown, 1.0, 0.0), np.where(empty, -1.0, 0.0), by_column, stored), none)
        return ComplementLikelihood(statistics, self, finite, limit)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * (n_columns - 1))


def _shares(weights: Floats) -> Floats:
    """Weights of each class divided by their sum; a single column, whose weight is 0, has the whole."""
    total = weights.sum(axis=1, keepdims=True)
    even = np.full(weights.shape, 1.0 / weights.shape[1])
    return np.asarray(np.divide(weights, total, out=even, where=total != 0))


@dataclass(frozen=True)
class ComplementLikelihood(LinearLikelihood):
    """Scores Σ x_j w_j; larger is better."""

    statistics: Counts
    family: Complement
    finite: Score
    order: Score | None

    def log_base(self, data: Data) -> Floats:
        raise NotADensity("complement scores are no density")

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        raise NotADensity("complement scores are no density")

    def parameters(self) -> dict[str, Array]:
        finite, order = self.family.weights(self.statistics)
        weight = finite if order is None else np.where(order > 0, np.inf, finite)
        return {
            **cell_positions(*self.statistics.total.shape),
            "count": self.statistics.dense().ravel(),
            "weight": weight.ravel(),
        }
