"""Weight per class, column and category; every column with labels of its own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..data.index import Index, canonical_labels, union_labels
from ..exceptions import ForgetError
from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .base import move_classes, refuse_above, subtract


@dataclass(frozen=True)
class CategoryCounts:
    """``count[c, slot]``, where the slots of column ``j`` are those of ``labels[j]``, one after the other.

    Only categories that were seen have a slot, so two summaries made apart agree after a merge whatever they met.
    """

    rows: Floats
    labels: tuple[Array, ...]
    count: Floats

    @classmethod
    def of(cls, rows: Floats, labels: tuple[Array, ...], count: Floats) -> CategoryCounts:
        """From counts that may have slots for labels nobody saw."""
        seen = count.any(axis=0)
        if seen.all():
            return cls(rows, tuple(map(canonical_labels, labels)), count)
        bounds = np.cumsum([len(column) for column in labels])[:-1]
        kept = tuple(
            canonical_labels(column[mask]) for column, mask in zip(labels, np.split(seen, bounds), strict=True)
        )
        return cls(rows, kept, count[:, seen])

    @property
    def n_columns(self) -> int:
        return len(self.labels)

    @cached_property
    def offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([len(column) for column in self.labels])]).astype(np.int64)

    def column(self, j: int) -> Floats:
        """Counts of one column, ``(classes, categories seen)``."""
        return self.count[:, self.offsets[j] : self.offsets[j + 1]]

    def observed(self) -> Floats:
        """Weight of the cells that were not missing, ``(classes, columns)``."""
        sums = [self.column(j).sum(axis=1) for j in range(len(self.labels))]
        return np.stack(sums, axis=1) if sums else np.zeros((len(self.rows), 0))

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        labels = tuple(map(union_labels, self.labels, other.labels))
        a, b = self._spread(labels), other._spread(labels)
        return CategoryCounts(self.rows + other.rows, labels, a + b)

    def forget(self, other: CategoryCounts) -> CategoryCounts:
        left = self.without(other)
        return CategoryCounts.of(left.rows, left.labels, left.count)

    def without(self, other: CategoryCounts) -> CategoryCounts:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        for mine, theirs in zip(self.labels, other.labels, strict=True):
            new = Index(theirs).positions_in(Index(mine)) < 0
            if new.any():
                unknown_value = theirs[new].tolist()[0]
                raise ForgetError(
                    f"these rows were never learned: category {unknown_value!r} is unknown to the model; nothing was "
                    "changed; forget only rows that were learned"
                )
        after = CategoryCounts(
            rows, self.labels, subtract(self.count, other._spread(self.labels), "the count of a category")
        )
        refuse_above(after.observed(), rows, self.rows, "the number of missing cells")
        return after

    def lost_digits(self, before: CategoryCounts) -> bool:
        return False

    def take(self, classes: Array) -> CategoryCounts:
        return CategoryCounts(self.rows[classes], self.labels, self.count[classes])

    def together(self) -> CategoryCounts:
        return CategoryCounts(self.rows.sum(keepdims=True), self.labels, self.count.sum(axis=0, keepdims=True))

    def only(self, j: int) -> CategoryCounts:
        return CategoryCounts(self.rows, (self.labels[j],), self.column(j))

    def discount(self, factor: float) -> CategoryCounts:
        return CategoryCounts.of(self.rows * factor, self.labels, self.count * factor)

    def reindex(self, positions: Array, size: int) -> CategoryCounts:
        rows, count = move_classes(self.rows, positions, size), move_classes(self.count, positions, size)
        return CategoryCounts.of(rows, self.labels, count)

    def _spread(self, labels: tuple[Array, ...]) -> Floats:
        """The counts with the slots of other labels, which must contain these."""
        if all(len(mine) == len(theirs) for mine, theirs in zip(self.labels, labels, strict=True)):
            return self.count
        begin = np.concatenate([[0], np.cumsum([len(column) for column in labels])])
        slots = [
            begin[j] + Index(mine).positions_in(Index(theirs))
            for j, (mine, theirs) in enumerate(zip(self.labels, labels, strict=True))
        ]
        places = np.concatenate(slots)
        assert (places >= np.repeat(begin[:-1], np.diff(self.offsets))).all(), "a label lost its place"
        out = np.zeros((len(self.rows), begin[-1]))
        out[:, places] = self.count
        return out

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "labels": self.labels, "count": self.count}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> CategoryCounts:
        return cls(**arrays)
