"""The cells of a column of categories: which value lies where, and what share it has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.categories import Lookup
from ..exceptions import ParameterError
from ..kernels.layouts import Array, Floats, Positions
from ..priors import Beta, Estimate, LogProbability, above_zero, largest, log_rising, log_share, pseudo_count
from ..statistics.base import remaining


class Slots(NamedTuple):
    """Counts of a column slot by slot, how many values stand behind a slot, and their pseudo-counts."""

    look: Lookup
    cells: Floats  # (classes, slots)
    copies: Floats  # (slots,)
    alpha: Floats  # (classes or 1, slots or 1)

    def without(self, weight: float | Floats, estimate: Estimate, at: Any = ...) -> LogProbability:
        """log θ of cells (all, or those at some places) from which such a weight is taken; with pseudo-counts that are
        not negative.
        """
        pseudo = np.broadcast_to(pseudo_count(self.alpha, estimate), self.cells.shape)
        count, whole = self.cells.sum(axis=1, keepdims=True), (pseudo * self.copies).sum(axis=1, keepdims=True)
        count, whole = (np.broadcast_to(sums, self.cells.shape)[at] for sums in (count, whole))
        left = remaining(self.cells[at], weight) + pseudo[at]
        return log_share(left, remaining(count, weight) + whole, int(self.copies.sum()))

    def interval(self, level: float, alpha: Floats) -> tuple[Floats, Floats]:
        """Of each value that has a line in the table of parameters, under these pseudo-counts."""
        after = self.cells + alpha
        others = np.maximum((after * self.copies).sum(axis=1, keepdims=True) - after, 0.0)
        listed = slice(len(labels_of(self.look)))
        low, high = Beta(after[:, listed], others[:, listed]).interval(level)
        return low, high

    def log_evidence(self) -> float:
        """log p(column | class), over all classes."""
        whole, total = (self.alpha * self.copies).sum(axis=1), self.cells.sum(axis=1)
        return float(log_rising(self.alpha, self.cells).sum() - log_rising(whole, total).sum())


def with_spare(alpha: Floats, n_slots: int) -> Floats:
    """Pseudo-counts with one more for the reserved slot: the mean of the others."""
    if alpha.shape[1] == 1:
        return alpha
    if alpha.shape[1] != n_slots:
        raise ParameterError(
            f"a column whose codes reach up to {alpha.shape[1]} is too long for one pseudo-count per value; give one "
            "for all values"
        )
    return np.hstack([alpha, alpha.mean(axis=1, keepdims=True)])


def log_shares(raw: Floats, copies: Floats) -> LogProbability:
    """log θ of slots behind which so many values stand; see ``priors.shares.parts_of`` for the corner."""
    part = above_zero(raw)
    whole = (part * copies).sum(axis=1, keepdims=True)
    if (whole <= 0).any():
        top = np.where(copies > 0, raw, -np.inf).max(axis=1, keepdims=True)
        part = np.where(whole <= 0, largest(raw, top), part)
        whole = (part * copies).sum(axis=1, keepdims=True)
    return log_share(part, whole, int(copies.sum()))


def neutral_last(theta: LogProbability) -> LogProbability:
    """An unseen value says nothing about the class."""
    theta.finite[:, -1] = 0.0
    if theta.order is not None:
        theta.order[:, -1] = 0.0
    return theta


def labels_of(look: Lookup) -> Array:
    """The values that a column's slots stand for; a range too long to list shows those seen."""
    return np.arange(look.size) if look.direct else look.labels


def draw_slots(share: Floats, classes: Positions, rng: np.random.Generator) -> Array:
    edges = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
    level, pick = rng.random(len(classes)), np.empty(len(classes), dtype=np.int64)
    for c in np.unique(classes):
        rows = classes == c
        pick[rows] = np.searchsorted(edges[c], level[rows], side="right")
    return np.asarray(np.minimum(pick, share.shape[1] - 1))
