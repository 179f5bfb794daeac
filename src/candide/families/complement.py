"""Complement naive Bayes (Rennie et al.): a class is scored by how poorly the other classes explain the row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import NotADensity
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions
from ..kernels.tables import LinearTable
from ..lazy import dataclass
from ..priors import Dirichlet, Estimate, log_share, parts_of
from ..statistics import Counts
from ..statistics.base import remaining
from .base import Batch, Scores, cell_positions, row_ranges
from .linear import (
    LinearLikelihood,
    LinearTerm,
    TokenFamily,
    factored,
    observe_counts,
    pseudo_sums,
    sparse_parts,
)

_NO_DENSITY = "complement scores compare a row with the other classes and are not a density of the row"


@dataclass(frozen=True)
class Complement(TokenFamily):
    """Weights -log θ̃, where θ̃ are the smoothed shares of all other classes together."""

    prior: Dirichlet = Dirichlet(1.0)
    norm: bool = False
    estimate: Estimate = "mean"

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "ComplementNB")

    def weights(self, statistics: Counts) -> tuple[Floats, Floats | None]:
        """Finite weights, ``(classes, columns)``, and powers of 1/ε for words that the other classes do not contain."""
        count = statistics.dense()
        return self._weights(np.maximum(count.sum(axis=0) - count, 0.0))

    def _weights(self, others: Floats) -> tuple[Floats, Floats | None]:
        """Return the weights from the counts of the other classes; columns are the last axis."""
        part = parts_of(others + self.pseudo)
        finite, order = log_share(part, part.sum(axis=-1, keepdims=True), part.shape[-1])
        if not self.norm:
            return -finite, order
        # In the limit, words that do not occur in the other classes share the whole weight of the class.
        return _shares(finite if order is None else np.where(order.any(axis=-1, keepdims=True), order, finite)), None

    def likelihood(self, statistics: Counts) -> ComplementLikelihood:
        sparse = not isinstance(statistics.total, np.ndarray) and np.ndim(self.pseudo) < 2 and not self.norm
        if sparse and np.min(self.pseudo) >= 0:
            return self._sparse(statistics)
        finite, order = self.weights(statistics)
        none = np.zeros(len(finite))
        limit = None if order is None else LinearTerm(LinearTable(order), none)
        return ComplementLikelihood(statistics, self, LinearTerm(LinearTable(finite), none), limit)

    def _sparse(self, statistics: Counts) -> ComplementLikelihood:
        # A word has the same complement count in all classes without it: its count in all texts.
        by_column, pseudo, alpha = sparse_parts(statistics.total, self.pseudo)
        everywhere = np.asarray(statistics.total.sum(axis=0)).ravel()
        total = everywhere.sum() - np.asarray(statistics.total.sum(axis=1)).ravel() + alpha.sum()
        width = np.diff(by_column.indptr)
        whole = everywhere + alpha
        others = np.maximum(np.repeat(everywhere, width) - by_column.data, 0.0) + pseudo
        unknown, impossible = whole <= 0, others <= 0
        log_whole = np.log(np.where(unknown, 1.0, whole))
        log_others = np.log(np.where(impossible, 1.0, others))
        # If all other classes are empty, all words have equal shares, and none is impossible.
        empty = total <= 0
        slope = np.log(np.where(empty, float(len(alpha)), total))
        none = np.zeros(len(total))
        finite = LinearTerm(factored(-log_whole, slope, by_column, np.repeat(log_whole, width) - log_others), none)
        limit = None
        if unknown.any() or impossible.any():
            stored = np.where(impossible, 1.0, 0.0) - np.repeat(np.where(unknown, 1.0, 0.0), width)
            limit = LinearTerm(
                factored(np.where(unknown, 1.0, 0.0), np.where(empty, -1.0, 0.0), by_column, stored), none
            )
        return ComplementLikelihood(statistics, self, finite, limit)

    def left_out(self, batch: Batch, statistics: Counts, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        """Return left-out scores: a row is part of the complement of every class except its own."""
        if not (self.norm or np.min(self.pseudo) < 0):
            return self._left_out(batch, statistics, offset, kernels)
        parts = [self._removed(part, statistics) for part in row_ranges(batch, batch.n_classes * batch.data.n_columns)]
        limits = [part.limits[0] if part.limits else np.zeros_like(part.finite) for part in parts]
        return Scores(np.concatenate([part.finite for part in parts]) + offset, (np.concatenate(limits),))

    def _left_out(self, batch: Batch, statistics: Counts, offset: Floats, kernels: Kernels) -> Scores:
        count = statistics.dense()
        others = np.maximum(count.sum(axis=0) - count, 0.0)
        sums, zeros, length = kernels.left_out_complement(batch.data, batch.classes, batch.weight, others, self.pseudo)
        whole, pseudo = others.sum(axis=1), pseudo_sums(self.pseudo, *others.shape)
        gone = length if batch.weight is None else length * batch.weight
        # Blocks that fit into the cache.
        for rows in (slice(first, first + 4096) for first in range(0, len(length), 4096)):
            left = remaining(whole, gone[rows, None])
            kernels.put_own(left, batch.classes[rows], None, np.zeros(len(left)), whole)
            left += pseudo
            # If the other classes are empty, all words have equal shares.
            empty = left <= 0
            if empty.any():
                left[empty], sums[rows][empty], zeros[rows][empty] = max(1, others.shape[1]), 0.0, 0.0
            sums[rows] = np.log(left) * length[rows, None] - sums[rows] + offset
        return Scores(sums, (zeros,) if zeros.any() else ())

    def _removed(self, batch: Batch, statistics: Counts) -> Scores:
        """Return weights without each row, ``(rows, classes, columns)``: exact for all settings, and slow."""
        count, x = statistics.dense(), np.nan_to_num(batch.data.floats(), nan=0.0)
        others = np.maximum(count.sum(axis=0) - count, 0.0)[None]
        gone = x if batch.weight is None else x * batch.weight[:, None]
        left = np.where(_own(batch)[:, :, None], others, remaining(others, gone[:, None, :]))
        finite, order = self._weights(left)
        limits = () if order is None else (np.einsum("ij,ikj->ik", x, order),)
        return Scores(np.einsum("ij,ikj->ik", x, finite), limits)

    def log_marginal_likelihood(self, statistics: Counts) -> Any:
        raise NotADensity(_NO_DENSITY)

    def intervals(self, statistics: Counts, level: float) -> Any:
        raise NotADensity(_NO_DENSITY)

    def score_variance(self, data: Data, statistics: Counts, kernels: Kernels) -> Floats:
        raise NotADensity(_NO_DENSITY)


def _own(batch: Batch) -> Array:
    """Return which class is the row's own, ``(rows, classes)``."""
    return np.asarray(batch.classes[:, None] == np.arange(batch.n_classes))


def _shares(weights: Floats) -> Floats:
    """Return the weights of each class divided by their sum; a single column, whose weight is 0, gets the share 1."""
    total = weights.sum(axis=-1, keepdims=True)
    even = np.full(weights.shape, 1.0 / weights.shape[-1])
    return np.asarray(np.divide(weights, total, out=even, where=total != 0))


@dataclass(frozen=True)
class ComplementLikelihood(LinearLikelihood):
    """Scores Σ x_j w_j; larger is better."""

    statistics: Counts
    family: Complement
    finite: LinearTerm
    order: LinearTerm | None

    def log_base(self, data: Data) -> Floats:
        raise NotADensity(_NO_DENSITY)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        raise NotADensity(_NO_DENSITY)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        raise NotADensity(_NO_DENSITY)

    def parameters(self) -> dict[str, Array]:
        finite, order = self.family.weights(self.statistics)
        weight = finite if order is None else np.where(order > 0, np.inf, finite)
        return {
            **cell_positions(*self.statistics.total.shape),
            "count": self.statistics.dense().ravel(),
            "weight": weight.ravel(),
        }
