"""Fewer codes: cells of number columns joined to bins, rare levels of categories to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..kernels.layouts import Array, Floats, Positions
from ..lazy_dataclass import dataclass
from .lean import Lean

# Codes that every column has besides its own: missing, and never seen.
_FURTHER = 2


def merged(counts: Sequence[Floats], is_number: Sequence[bool], bins: int, levels: int = 30) -> tuple[Array, ...]:
    """Per column a map from its codes, missing and unseen to fewer: ``bins`` of about equal weight for numbers, the
    most frequent ``levels - 1`` and one for all others for categories. ``counts`` is the weight of each code.

    >>> numbers, levels = merged([np.array([1.0, 1.0, 1.0, 3.0]), np.array([2.0, 5.0, 1.0])], [True, False], 2, 2)
    >>> numbers, levels
    (array([0, 0, 0, 1, 2, 3]), array([1, 0, 1, 2, 3]))
    """
    pairs = zip(counts, is_number, strict=True)
    maps = (_equal_weight(count, bins) if number else _most_frequent(count, levels) for count, number in pairs)
    return tuple(_with_further(codes) for codes in maps)


def _equal_weight(count: Floats, bins: int) -> Array:
    if len(count) <= bins:
        return np.arange(len(count))
    middle = (np.cumsum(count) - count / 2) / max(float(count.sum()), 1e-300)
    return np.unique(np.minimum((middle * bins).astype(np.int64), bins - 1), return_inverse=True)[1]


def _most_frequent(count: Floats, levels: int) -> Array:
    if len(count) <= levels:
        return np.arange(len(count))
    codes = np.full(len(count), levels - 1)
    kept = np.sort(np.argsort(-count, kind="stable")[: levels - 1])
    codes[kept] = np.arange(len(kept))
    return codes


def _with_further(codes: Array) -> Array:
    size = int(codes.max()) + 1 if len(codes) else 0
    return np.concatenate([codes, size + np.arange(_FURTHER)])


@dataclass(frozen=True)
class Merging(Lean):
    """Maps of some columns' codes to slots: the codes of all these columns in one row, each column after the last.

    >>> merging = Merging(np.array([0, 2]), (np.array([0, 0, 1, 2]), np.array([0, 1, 2])))
    >>> merging.slots(np.array([[1, 7, 0], [2, 7, 2]], dtype=np.int32))
    array([[0, 3],
           [1, 5]], dtype=int32)
    """

    columns: Array
    maps: tuple[Array, ...]  # one for each of the columns

    @classmethod
    def within(cls, maps: Sequence[Array], order: Array, most_slots: float) -> Merging:
        """The first columns in ``order`` whose slots are at most ``most_slots`` together, in their own order."""
        sizes = np.array([int(codes.max()) + 1 for codes in maps])
        order = np.asarray(order, dtype=np.int64)
        columns = np.sort(order[np.cumsum(sizes[order]) <= most_slots])
        return cls(columns, tuple(maps[j] for j in columns))

    @cached_property
    def sizes(self) -> Array:
        """How many slots each column has."""
        return np.array([int(codes.max()) + 1 for codes in self.maps], dtype=np.int64)

    @cached_property
    def offsets(self) -> Array:
        """Where each column's slots begin, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def one_map(self) -> tuple[Positions, Array]:
        """All maps as one, and where each column's begins in it."""
        begins = np.concatenate([[0], np.cumsum([len(codes) for codes in self.maps])])[:-1]
        joined = [codes + offset for codes, offset in zip(self.maps, self.offsets, strict=False)]
        return np.concatenate(joined).astype(np.int32), begins.astype(np.int32)

    def slots(self, codes: Array) -> Positions:
        """``(rows, columns)`` of slots from the codes of all columns; -1 where a column is not given."""
        slot_of, begins = self.one_map
        # All columns need no copy first.
        chosen = codes if len(self.columns) == codes.shape[1] else codes[:, self.columns]
        slots = slot_of[chosen + begins]
        if chosen.min(initial=0) < 0:
            slots[chosen < 0] = -1
        return np.ascontiguousarray(slots)
