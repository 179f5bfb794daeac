"""The cells of a table as inputs of a graph, one for each column that something asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.dates import DATE_PARTS
from ...exceptions import ParameterError
from ...explain.values import date_columns
from ...kernels.layouts import Array, Floats
from .tensor import Graph, Tensor, concatenated


class Cells:
    """One input for each column; ``names`` are those of all columns, ``given`` those that the user's tables have."""

    def __init__(self, graph: Graph, names: Array, given: Array | None = None) -> None:
        self._graph, self._names = graph, [str(name) for name in names.tolist()]
        parts = date_columns(self._names)
        # A date makes further columns, but somebody may have columns of such names too.
        own = set() if given is None else set(map(str, given.tolist()))
        self._dates = {
            j: (date, part) for date, made in parts.items() for j, part in made.items() if self._names[j] not in own
        }
        self._inputs: dict[int, Tensor] = {}

    def numbers(self, j: int) -> Tensor:
        """``(rows, 1)``, NaN where a cell is missing."""
        return self._input(j, texts=False)

    def _input(self, j: int, *, texts: bool) -> Tensor:
        if j not in self._inputs:
            self._inputs[j] = self._graph.input(self._names[j], j, 1, texts=texts)
        return self._inputs[j]

    def several(self, columns: Sequence[int]) -> Tensor:
        """``(rows, columns)`` of numbers."""
        return concatenated([self.numbers(j) for j in columns])

    def places(self, j: int, labels: Array) -> Tensor:
        """Of each cell the place of its label, ``(rows, 1)``; after the last those of missing and of unseen cells."""
        missing, unseen = len(labels), len(labels) + 1
        if j in self._dates:
            return self._date_places(*self._dates[j], labels)
        keys = label_keys(labels, f"column {self._names[j]!r}")
        cells, codes = self._input(j, texts=keys.dtype.kind == "O"), np.arange(len(labels))
        if keys.dtype.kind != "O":
            return number_places(cells, keys, codes, missing, unseen)
        if "" not in keys.tolist():
            keys, codes = np.append(keys, ""), np.append(codes, missing)
        return self._graph.look_up(cells, keys, codes, unseen)

    def nothing(self, j: int, labels: Array | None, n_classes: int) -> Tensor:
        """Zeros, as many rows as there are cells in a column: of a model in which none says anything."""
        if labels is None:
            return self.numbers(j).is_nan().of_type(np.float64) * np.zeros(n_classes)
        return self.places(j, labels).of_type(np.float64) * np.zeros(n_classes)

    def _date_places(self, date: int, part: str, labels: Array) -> Tensor:
        days = self.numbers(date)
        place = {label: i for i, label in enumerate(labels.tolist())}
        known = np.array([place.get(label, len(labels) + 1) for label in DATE_PARTS[part][2]])
        absent = days.is_nan()
        found = _date_part(absent.where(0.0, days), part).of_type(np.int64).picks(known)
        return absent.where(len(labels), found)


def label_keys(labels: Array, where: str) -> Array:
    """Labels as an input can hold them: doubles, or texts (as objects)."""
    items = labels.tolist()
    if items and all(isinstance(item, str) for item in items):
        return np.array(items, dtype=object)
    if all(isinstance(item, (bool, int, float)) for item in items):
        return _distinct(np.array(items, dtype=np.float64), where)
    odd = next(item for item in items if not isinstance(item, str))
    raise ParameterError(
        f"{where} holds {odd!r} beside other values, and an input of ONNX holds numbers alone or texts alone; make all "
        "its values texts, and fit again"
    )


def _distinct(keys: Floats, where: str) -> Floats:
    if len(np.unique(keys)) < len(keys):
        raise ParameterError(
            f"{where} holds whole numbers beyond 2^53, of which doubles cannot tell all apart; make its values texts, "
            "and fit again"
        )
    return keys


def number_places(cells: Tensor, keys: Floats, codes: Array, missing: int, unseen: int) -> Tensor:
    """The codes of numbers that are known."""
    absent = cells.is_nan()
    if not len(keys):
        return absent.where(missing, unseen)
    return absent.where(missing, cells.graph.look_up(absent.where(0.0, cells), keys, codes, unseen))


def cut_places(numbers: Tensor, cuts: Sequence[Floats], missing: Sequence[int]) -> Tensor:
    """How many cuts of its column lie at or below each number, ``(rows, columns)``; ``missing`` where there is none."""
    room = np.full((len(cuts), max(1, *map(len, cuts))), np.inf)
    for row, own in zip(room, cuts, strict=True):
        row[: len(own)] = own
    passed = (numbers.with_axis(2) >= room).of_type(np.int32).sum(2).of_type(np.int64)
    return numbers.is_nan().where(np.array(missing, dtype=np.int64), passed)


def _date_part(days: Tensor, part: str) -> Tensor:
    """The place of a date's month, weekday or hour among all there are."""
    # Days are doubles: a full hour may lie a hair below itself.
    hours = ((days * 86_400e6 + 0.5).floor() / 3_600e6).floor()
    day = (hours / 24.0).floor()
    if part == "hour":
        return hours - day * 24.0
    return _rest(day + 3.0, 7.0) if part == "weekday" else _month(day)


def _month(day: Tensor) -> Tensor:
    """Counted from March, in years of the 400 that repeat (Hinnant, "chrono-compatible low-level date algorithms")."""
    within = _rest(day + 719_468.0, 146_097.0)
    leaps = (within / 1_460.0).floor() - (within / 36_524.0).floor() + (within / 146_096.0).floor()
    year = ((within - leaps) / 365.0).floor()
    of_year = within - (year * 365.0 + (year / 4.0).floor() - (year / 100.0).floor())
    return _rest(((of_year * 5.0 + 2.0) / 153.0).floor() + 2.0, 12.0)


def _rest(number: Tensor, divisor: float) -> Tensor:
    return number - (number / divisor).floor() * divisor
