"""All columns as numbers side by side: ranks of numbers, zeros and ones for levels and for what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..kernels.tables import PickTable
from ..lazy_dataclass import dataclass
from .coordinates import RankCoordinates
from .lean import Lean
from .merging import Merging, merged
from .views import Cases, Looked

# Ridge on the variance of each rank, which is 1.
_RIDGE = 0.01


class Regression(NamedTuple):
    """Linear regression of the absent ranks on the given ones, as if all were jointly normal. Other entries are 0."""

    slopes: Floats  # (number columns, number columns): rows are given ranks, columns absent ones
    covariance: Floats  # (number columns, number columns): conditional covariance of the absent ranks


@dataclass(frozen=True)
class Inputs(Lean):
    """First the normal quantile of the rank in each number column, then a slot for each level of each category column,
    and two, known and missing, for number columns with missing cells.

    The covariance of the ranks and the share of each slot serve to average over columns that are not given.

    >>> codes = np.array([[0, 0], [1, 2], [2, 1]], dtype=np.int32)
    >>> cases = Cases(Looked(codes, np.zeros((3, 1))), np.zeros(3, dtype=np.int32), np.ones(3), np.ones(3))
    >>> inputs = Inputs.of(np.arange(2), [np.ones(2), np.ones(2)], [True, False], cases)
    >>> inputs.times(cases.looked, np.eye(8))
    array([[-1.,  1.,  0.,  0.,  1.,  0.,  0.,  0.],
           [ 1.,  1.,  0.,  0.,  0.,  0.,  1.,  0.],
           [ 0.,  0.,  1.,  0.,  0.,  1.,  0.,  0.]])
    >>> inputs.column
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    ranks: RankCoordinates
    levels: Merging
    covariance: Floats  # (number columns, number columns)
    share: Floats  # (slots,)

    @classmethod
    def of(cls, columns: Array, counts: Sequence[Floats], is_number: Sequence[bool], cases: Cases) -> Inputs:
        """For some columns; ``counts`` is the weight of each code of each column there is."""
        numbers = np.array([j for j in columns if is_number[j] and len(counts[j]) > 1], dtype=np.int64)
        # Numbers as one bin: then known and missing are what is left to tell.
        maps = merged(counts, is_number, 1)
        parted = np.array([j for j in columns if len(np.unique(maps[j][cases.looked.codes[:, j]])) > 1], dtype=np.int64)
        ranks = RankCoordinates.of(numbers, [counts[j] for j in numbers])
        levels = Merging(parted, tuple(maps[j] for j in parted))
        return cls(ranks, levels, _covariance(ranks, cases), _shares(levels, cases))

    @cached_property
    def column(self) -> Array:
        """Which column each input is made from."""
        return np.concatenate([self.ranks.columns, np.repeat(self.levels.columns, self.levels.sizes)])

    def variance(self, cases: Cases) -> Floats:
        """Of each input."""
        share = cases.case_weight / cases.case_weight.sum()
        points = self.ranks.points(cases.looked)
        return np.concatenate([share @ (points - share @ points) ** 2, self.share * (1.0 - self.share)])

    def order(self, cases: Cases, relevance: Floats) -> Array:
        """The inputs in an order that hangs neither on that of columns nor on the names of levels and classes.

        By what an input is worth in each class, the classes sorted; inputs that are alike in that keep their order.
        """
        from scipy.sparse import csr_matrix

        n_classes = int(cases.classes.max(initial=0)) + 1
        rows = np.arange(len(cases.classes))
        of_class = csr_matrix((cases.case_weight, (cases.classes, rows)), shape=(n_classes, len(rows)))
        parts = [np.zeros((n_classes, 0))]
        if len(self.ranks.columns):
            parts.append(of_class @ self.ranks.points(cases.looked))
        if len(self.levels.columns):
            ones = _ones(self.levels.slots(cases.looked.codes), int(self.levels.offsets[-1]))
            parts.append((of_class @ ones).toarray())
        worth = np.sort(np.hstack(parts), axis=0)
        # Sums of the same numbers in another order differ in their last digits.
        return np.lexsort((*_rounded(worth), _rounded(relevance[self.column])))

    def times(self, looked: Looked, matrix: Floats) -> Floats:
        """``(rows, width)``: the inputs of rows, multiplied by ``(inputs, width)``; those not given are 0."""
        points, without = self.ranks.points(looked), self.ranks.without(looked)
        n_ranks = points.shape[1]
        if without is not None:
            points = np.where(without, 0.0, points)
        if not len(self.levels.columns):
            return np.asarray(points @ matrix[:n_ranks])
        offsets = self.levels.offsets
        # Codes below 0 add nothing.
        codes = Dense.of(self.levels.slots(looked.codes) - offsets[:-1].astype(np.int32))
        out = Kernels(1).code_scores(codes, offsets, PickTable(matrix[n_ranks:]), np.zeros(matrix.shape[1]))
        if n_ranks:
            out += points @ matrix[:n_ranks]
        return out

    def regression(self, given: Array) -> Regression:
        """Regress the other ranks on those that are ``given``, a boolean per number column."""
        at, rest = np.flatnonzero(given), np.flatnonzero(~given)
        slopes, covariance = np.zeros_like(self.covariance), np.zeros_like(self.covariance)
        across = self.covariance[at[:, None], rest]
        own = np.linalg.solve(self.covariance[at[:, None], at], across)
        slopes[at[:, None], rest] = own
        covariance[rest[:, None], rest] = self.covariance[rest[:, None], rest] - across.T @ own
        return Regression(slopes, covariance)


def _covariance(ranks: RankCoordinates, cases: Cases) -> Floats:
    points, weight = ranks.points(cases.looked), cases.case_weight
    return np.asarray((points.T * weight) @ points / weight.sum() + _RIDGE * np.eye(points.shape[1]))


def _shares(levels: Merging, cases: Cases) -> Floats:
    if not len(levels.columns):
        return np.zeros(0)
    slots = levels.slots(cases.looked.codes)
    share = np.repeat(cases.case_weight / cases.case_weight.sum(), slots.shape[1])
    return np.bincount(slots.ravel(), share, minlength=levels.offsets[-1]).astype(np.float64, copy=False)


def _rounded(numbers: Floats) -> Floats:
    return np.asarray(np.round(numbers, 9))


def _ones(slots: Positions, n_slots: int) -> Any:
    """``(rows, slots)``, 1 where a row has a slot."""
    from scipy.sparse import csr_matrix

    ends = np.arange(len(slots) + 1) * slots.shape[1]
    return csr_matrix((np.ones(slots.size), slots.ravel(), ends), shape=(len(slots), n_slots))
