"""Coordinates of number columns that are approximately normal. Frozen, and computed without labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .views import BinnedRows, FieldsOnlyPickle

# Ranks nearer to 0 or 1 than this are not told apart: their normal quantiles would dominate.
_OUTERMOST = 1e-3
# The share of values at either end that is moved to where it begins.
_TAIL = 0.005


class Coordinates(Protocol):
    """A map from rows to points."""

    def points(self, binned: BinnedRows) -> Floats:
        """``(rows, columns)``; a missing cell lies at its column's mean, which is 0."""

    def absent(self, binned: BinnedRows) -> Array | None:
        """``(rows, columns)``: which cells are not given; None if all are."""

    def code_columns(self, numbers: Array) -> Array:
        """The places of the columns among the codes, those of number columns being ``numbers``."""


@dataclass(frozen=True)
class RankCoordinates(FieldsOnlyPickle):
    """A code lies at the normal quantile of its middle rank, scaled to variance 1.

    >>> ranks = RankCoordinates.of(np.array([0]), [np.array([1.0, 2.0, 1.0])])
    >>> ranks.points(BinnedRows(np.array([[0], [1], [2], [3]], dtype=np.int32), np.zeros((4, 0)))).round(3)
    array([[-1.414],
           [ 0.   ],
           [ 1.414],
           [ 0.   ]])
    """

    columns: Array  # among those of the codes
    quantiles: tuple[Floats, ...]  # of each column's codes, and 0 for missing and unseen ones

    @classmethod
    def of(cls, columns: Array, counts: Sequence[Floats]) -> RankCoordinates:
        """For the given columns; ``counts`` is the weight of each code of each of them."""
        return cls(columns, tuple(np.append(_normal_ranks(count), [0.0, 0.0]) for count in counts))

    @cached_property
    def joined(self) -> tuple[Floats, Array]:
        """All places in one row, and where each column's begin."""
        begins = np.cumsum([0, *map(len, self.quantiles)])[:-1]
        return np.concatenate([np.zeros(0), *self.quantiles]), begins

    def points(self, binned: BinnedRows) -> Floats:
        places, begins = self.joined
        return np.asarray(places[np.maximum(binned.codes[:, self.columns], 0) + begins])

    def absent(self, binned: BinnedRows) -> Array | None:
        codes = binned.codes[:, self.columns]
        return codes < 0 if codes.min(initial=0) < 0 else None

    def code_columns(self, numbers: Array) -> Array:
        return self.columns


@dataclass(frozen=True)
class ClippedCoordinates:
    """A number, moved to within all but the outer hundredth of its column, less their mean, by their deviation.

    >>> numbers = np.array([[1.0], [3.0], [np.nan]])
    >>> binned = BinnedRows(np.zeros((3, 0), dtype=np.int32), numbers)
    >>> ClippedCoordinates.of(np.array([0]), numbers, np.ones(3)).points(binned)
    array([[-1.],
           [ 1.],
           [ 0.]])
    """

    columns: Array  # among the number columns
    low: Floats
    high: Floats
    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, columns: Array, numbers: Floats, weight: Floats) -> ClippedCoordinates:
        """For the given columns of ``(rows, number columns)``."""
        parts = [_clipping(numbers[:, j], weight) for j in columns]
        return cls(columns, *np.array(parts, dtype=np.float64).reshape(-1, 4).T)

    def points(self, binned: BinnedRows) -> Floats:
        points = np.clip(binned.numbers[:, self.columns], self.low, self.high)
        points -= self.mean
        points /= self.deviation
        np.copyto(points, 0.0, where=np.isnan(points))
        return points

    def absent(self, binned: BinnedRows) -> Array | None:
        absent = None if binned.without is None else binned.without[:, self.columns]
        return absent if absent is not None and absent.any() else None

    def code_columns(self, numbers: Array) -> Array:
        return np.asarray(numbers[self.columns])


def _normal_ranks(count: Floats) -> Floats:
    from scipy.special import ndtri

    total = float(count.sum())
    if not total > 0:
        return np.zeros(len(count))
    share = count / total
    place = ndtri(np.clip(np.cumsum(share) - share / 2, _OUTERMOST, 1 - _OUTERMOST))
    place -= share @ place
    return np.asarray(place / (np.sqrt(share @ place**2) or 1.0))


def _clipping(values: Floats, weight: Floats) -> tuple[float, float, float, float]:
    """Where the tails of a column begin, and mean and deviation of what they are moved to."""
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return 0.0, 0.0, 0.0, 1.0
    values, weight = values[known], weight[known]
    order = np.argsort(values)
    below = np.cumsum(weight[order]) / weight.sum()
    # The least value that has at least such a share at or below it: rows with a weight are rows repeated.
    tails = np.searchsorted(below, [_TAIL * (1 - 1e-9), (1 - _TAIL) * (1 - 1e-9)])
    low, high = values[order][np.minimum(tails, len(values) - 1)]
    # In units of the largest, whose square or sum may overflow.
    unit = max(abs(float(low)), abs(float(high))) or 1.0
    clipped = np.clip(values, low, high) / unit
    mean = float(np.average(clipped, weights=weight))
    deviation = float(np.sqrt(np.average((clipped - mean) ** 2, weights=weight))) or 1.0
    return low, high, unit * mean, unit * deviation
