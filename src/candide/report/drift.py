"""Whether rows change on their way through a source: what each column holds in one half and in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.columns import Column, Columns
from ..families.columns.histogram import equal_frequency
from ..families.table import TableFamily
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..statistics.table import TableStatistics

_STRETCHES = 10
_MOST_LABELS = 20
# Shares that differ by less in all are no matter; nor is what chance does once in a million.
_LEAST = 0.1
_DEVIATIONS = 5.0


class Change(NamedTuple):
    """What differs between two lots of rows."""

    what: str
    distance: float  # half the sum of the absolute differences of shares: 0 alike, 1 nothing in common


@dataclass(frozen=True)
class Ruler:
    """Cells of a column in a few codes that training rows fill about equally; the last is for missing cells."""

    name: str
    trained: Floats  # (codes,) weight of the training rows
    cuts: Floats | None = None
    labels: Array | None = None  # of categories; others share the code after theirs

    def counted(self, column: Column) -> Floats:
        """How many cells have each code."""
        return np.bincount(self._codes(column), minlength=len(self.trained)).astype(np.float64)

    def _codes(self, column: Column) -> Array:
        missing = len(self.trained) - 1
        if self.labels is not None:
            return self._places(column, missing)
        if column.kind != "number":
            return np.full(len(column.values), missing)
        assert self.cuts is not None
        x = np.asarray(column.values, dtype=np.float64)
        return np.where(np.isnan(x), missing, np.searchsorted(self.cuts, x, side="right"))

    def _places(self, column: Column, missing: int) -> Array:
        if column.kind != "category" or column.labels is None:
            return np.full(len(column.values), missing)
        assert self.labels is not None
        known = {label: place for place, label in enumerate(self.labels.tolist())}
        places = [known.get(label, missing - 1) for label in column.labels.tolist()]
        return np.array([*places, missing])[column.values]


def rulers_of(model: Classifier) -> list[Ruler | None]:
    """For each column of a table; None where there is nothing to compare, or nothing that the model looks at."""
    family, statistics = model.family, model.state.statistics
    if not isinstance(family, TableFamily):
        return []
    together = {j for block in family.blocks for j in block.columns}
    heard = [j in together or choice.model is not None for j, choice in enumerate(family.choices or ())]
    return [_ruler(statistics, j, str(name)) if heard[j] else None for j, name in enumerate(statistics.names)]


def _ruler(statistics: TableStatistics, j: int, name: str) -> Ruler | None:
    place, missing = statistics.place(j), max(0.0, float((statistics.rows - statistics.observed(j)).sum()))
    if statistics.kinds[j] == "number":
        cells = statistics.grid.column(place)
        weight = cells.count.sum(axis=1)
        first = equal_frequency(weight, _STRETCHES) if len(weight) else np.zeros(1, dtype=np.int64)
        trained = np.add.reduceat(weight, first) if len(weight) else np.zeros(1)
        return Ruler(name, np.append(trained, missing), cuts=cells.low[first[1:]])
    if statistics.kinds[j] == "category":
        weight = np.asarray(statistics.categories.column(place).sum(axis=0))
        most = np.argsort(-weight, kind="stable")[:_MOST_LABELS]
        trained = np.concatenate([weight[most], [weight.sum() - weight[most].sum(), missing]])
        return Ruler(name, trained, labels=statistics.categories.labels[place][most])
    return None


def counted(rulers: list[Ruler | None], data: Any) -> list[Floats | None]:
    """Of some rows, column by column."""
    if not isinstance(data, Columns):
        return []
    pairs = zip(rulers, data.columns, strict=True)
    return [None if ruler is None else ruler.counted(column) for ruler, column in pairs]


def differs(what: str, one: Floats, other: Floats) -> Change | None:
    """Whether the shares of two lots of rows differ by more than chance, and enough to matter.

    >>> differs("sex", np.array([60.0, 40.0]), np.array([50.0, 50.0])) is None
    True
    >>> differs("sex", np.array([600.0, 400.0]), np.array([300.0, 700.0]))
    Change(what='sex', distance=0.3)
    """
    both, sizes = one + other, (float(one.sum()), float(other.sum()))
    if not all(sizes):
        return None
    shares = one / sizes[0], other / sizes[1]
    distance = float(np.abs(shares[0] - shares[1]).sum()) / 2
    held = both > 0
    freedom = int(held.sum()) - 1
    pooled = both[held] / both.sum()
    statistic = float(((shares[0] - shares[1])[held] ** 2 / pooled).sum()) / (1 / sizes[0] + 1 / sizes[1])
    chance = freedom + _DEVIATIONS * np.sqrt(2.0 * freedom)
    return Change(what, round(distance, 12)) if distance >= _LEAST and statistic > chance else None
