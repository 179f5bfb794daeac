"""A row with some of its cells, or words, changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..data.columns import Column, Columns
from ..families.columns.histogram import middles
from ..kernels._core import Texts
from ..kernels.layouts import Array, Dense, Sparse, TextRows
from ..model.classifier import Classifier
from ..model.table import objects
from ..statistics import CategoryCounts, Counts, Moments
from ..statistics.table import TableStatistics
from .cells import values_of
from .dates import date_columns, parts_of, written
from .words import WORD

# Where numbers are tried: so many deviations from the mean, and so many parts of equal weight.
_DEVIATIONS = np.linspace(-3.0, 3.0, 13)
_PARTS = 20
_COUNTS = (*map(float, range(11)), 20.0, 50.0)
_TIMES = (0.5, 1.0, 2.0, 3.0)


class Variants(Protocol):
    """One row, and what else its cells could hold."""

    names: list[Any]  # of what can be changed
    before: list[Any]

    def candidates(self, place: int) -> list[Any]:
        """Other values of a cell."""

    def step(self, place: int) -> float | None:
        """What counts as a step of one where a cell is a number; None where it is not."""

    def is_whole(self, place: int) -> bool:
        """Whether a cell's numbers are whole ones."""

    def shown(self, place: int, value: Any) -> Any:
        """A value as people write it."""

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        """A row for each set of changes."""


class Cells:
    """A row of a table, or of numbers."""

    def __init__(self, model: Classifier, row: Dense | Sparse | Columns, names: Array) -> None:
        self._model, self._row = model, row
        self.names: list[Any] = names.tolist()
        self.before = values_of(row)
        self._dates = date_columns(self.names)
        self._made_of_dates = {part for parts in self._dates.values() for part in parts}

    def candidates(self, place: int) -> list[Any]:
        if place in self._made_of_dates:
            return []
        known = _known(self._model, place)
        return [value for value in known if value != self.before[place]]

    def shown(self, place: int, value: Any) -> Any:
        return written(value) if place in self._dates else value

    def step(self, place: int) -> float | None:
        return _deviation(self._model.state.statistics, place)

    def is_whole(self, place: int) -> bool:
        return all(float(value).is_integer() for value in [self.before[place], *_known(self._model, place)])

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        rows = self._row.take(np.zeros(len(changes), dtype=np.int64))
        changes = [self._with_parts(change) for change in changes]
        if isinstance(rows, Columns):
            columns = tuple(self._column(column, j, changes) for j, column in enumerate(rows.columns))
            return replace(rows, columns=columns)
        if isinstance(rows, Dense):
            cells = tuple(_with(rows.column(j), j, changes) for j in range(rows.n_columns))
            return Dense.of(cells, rows.names)
        from scipy.sparse import csr_array

        values = rows.floats()
        return Sparse.of(csr_array(np.column_stack([_with(values[:, j], j, changes) for j in range(rows.n_columns)])))

    def _with_parts(self, change: Mapping[int, Any]) -> Mapping[int, Any]:
        """The month and weekday of a date follow it."""
        for place in self._dates.keys() & change.keys():
            change = {**change, **parts_of(change[place], self._dates[place])}
        return change

    @staticmethod
    def _column(column: Column, j: int, changes: Sequence[Mapping[int, Any]]) -> Column:
        if not any(j in change for change in changes):
            return column
        if column.labels is None:
            return replace(column, values=_with(column.values, j, changes))
        new = [change[j] for change in changes if j in change]
        labels = list(dict.fromkeys([*column.labels.tolist(), *new]))
        codes = [{j: labels.index(change[j])} if j in change else {} for change in changes]
        return replace(column, values=_with(column.values, j, codes).astype(np.int32), labels=objects(labels))


class Words:
    """A text, from which words may be taken away: those that speak most for the answer."""

    def __init__(self, text: str, words: list[str]) -> None:
        self._text = text
        self.names: list[Any] = [None] * len(words)
        self.before: list[Any] = words

    def candidates(self, place: int) -> list[Any]:
        return [None]

    def step(self, place: int) -> float | None:
        return None

    def is_whole(self, place: int) -> bool:
        return False

    def shown(self, place: int, value: Any) -> Any:
        return value

    def changed(self, changes: Sequence[Mapping[int, Any]]) -> Any:
        texts = [self._without({self.before[place] for place in change}) for change in changes]
        return TextRows(Texts.of_list(texts)[0])

    def _without(self, gone: set[str]) -> str:
        return WORD.sub(lambda found: "" if found[0].lower() in gone else found[0], self._text)


def _with(cells: Array, j: int, changes: Sequence[Mapping[int, Any]]) -> Array:
    """A column with the changes of its cells."""
    here = [(i, change[j]) for i, change in enumerate(changes) if j in change]
    out = cells.copy() if cells.dtype == object else np.array(cells, dtype=np.float64)
    for i, value in here:
        out[i] = value
    return out


def _known(model: Classifier, j: int) -> list[Any]:
    """Values that a column is known to have, or where its numbers lie."""
    statistics: Any = model.state.statistics
    if isinstance(statistics, CategoryCounts):
        return list(statistics.labels[j].tolist())
    if isinstance(statistics, TableStatistics):
        return _known_in_table(statistics, j)
    if isinstance(statistics, Moments):
        _, mean, variance = statistics.pooled()
        around = np.append(statistics.mean[statistics.weight[:, j] > 0, j], mean[j])
        return list(np.unique(around[:, None] + _DEVIATIONS * np.sqrt(variance[j])).tolist())
    assert isinstance(statistics, Counts)
    return [0.0, 1.0] if statistics.presence else _counts(statistics, j)


def _counts(statistics: Counts, j: int) -> list[Any]:
    """Small counts, and those that the classes have in the mean."""
    total = np.asarray(statistics.only(j).dense(), dtype=np.float64)[:, 0]
    mean = np.divide(total, statistics.rows, out=np.zeros_like(total), where=statistics.rows > 0)
    return sorted({*_COUNTS, *np.floor(np.outer(_TIMES, mean)).ravel().tolist()})


def _known_in_table(statistics: TableStatistics, j: int) -> list[Any]:
    kind, place = statistics.kinds[j], statistics.place(j)
    if kind == "category":
        return list(statistics.categories.labels[place].tolist())
    if kind != "number":
        return []
    cells = statistics.grid.column(place)
    weight = np.cumsum(cells.count.sum(axis=1))
    at = np.searchsorted(weight, (np.arange(_PARTS) + 0.5) / _PARTS * weight[-1]) if len(weight) else []
    return np.unique(middles(cells)[at]).tolist() if len(at) else []


def _deviation(statistics: Any, j: int) -> float | None:
    if isinstance(statistics, TableStatistics):
        if statistics.kinds[j] != "number":
            return None
        statistics, j = statistics.moments, statistics.place(j)
    if isinstance(statistics, Counts):
        return 1.0
    if not isinstance(statistics, Moments):
        return None
    return float(np.sqrt(statistics.pooled()[2][j])) or None
