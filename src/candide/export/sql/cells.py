"""Columns of a table as a query reads them.

- ``Cells``: numbers as doubles, dates by their parts, labels as texts or numbers.
- ``BinnedColumns``: the inputs of views, each computed once under a short name.

Rows have no number that all databases agree on. Views of pairs, triples and Fourier features, which are computed in
separate tables, need none: their scores depend on codes alone, so rows are joined by a key that concatenates these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from ...data.dates import DATE_PARTS, WEEKDAYS
from ...data.index import EXACT
from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats
from ...stacking.binning import (
    ClippedCoordinates,
    ColumnBinning,
    Coordinates,
    MergedCodes,
    RankCoordinates,
    TableBinning,
)
from .dialects import Dialect
from .lookups import ColumnTable, Labeled, Lookups
from .query import ROWS, clipped_between


@dataclass
class Cells:
    """Inputs of a query, gathered while it is thought out, each under a short name."""

    names: Sequence[str]
    examples: dict[str, Any]  # by name: a cell of the column's type, of booleans and times
    dialect: Dialect
    missing: Sequence[str] = ()  # texts that mark missing cells
    inputs: dict[str, str] = field(default_factory=dict)

    def number(self, j: int) -> str:
        """A number column; NULL where it is missing."""
        return self._input(j, self._number(j))

    def filled(self, j: int) -> str:
        """The same with 0 where it is missing."""
        return self._input(j, f"COALESCE({self._number(j)}, 0.0)")

    def flag(self, j: int, threshold: float) -> str:
        """1 or 0: whether a column, of numbers or booleans, is above a threshold; NULL where it is missing."""
        cell, least = self.dialect.flag_as_number(self._cell(j)), self.dialect.number(threshold)
        return self._input(j, f"CASE WHEN {cell} > {least} THEN {self.dialect.first_number(1)} "
                              f"WHEN {cell} <= {least} THEN 0.0 END")  # fmt: skip

    def code(self, j: int) -> str:
        """A column of whole numbers that are names; booleans too."""
        return self._input(j, self.dialect.flag_as_number(self._cell(j)))

    def labeled(self, j: int, labels: Sequence[Any]) -> Labeled:
        """A column of labels."""
        part = self._date_part(j)
        if part is not None:
            of, which = part
            numbers = [WEEKDAYS.index(label) if which == "weekday" else label for label in labels]
            return Labeled(self._input(j, self._part(of, which)), list(map(self.dialect.number, numbers)))
        if any(isinstance(label, str) or _is_large(label) for label in labels):
            texts = list(map(str, labels))
            cell = self.dialect.as_label(self._cell(j), self.names[j], texts)
            marks = [self.dialect.text(mark) for mark in self.missing if mark not in texts]
            cell = f"CASE WHEN {cell} NOT IN ({', '.join(marks)}) THEN {cell} END" if marks else cell
            return Labeled(self._input(j, cell), list(map(self.dialect.text, texts)))
        for label in labels:
            if not isinstance(label, (int, float, np.number, np.bool_)):
                raise ParameterError(
                    f"column {self.names[j]!r} contains {label!r}, of type {type(label).__name__}, which SQL exports "
                    "do not support; fit with strings, booleans or numbers"
                )
        return Labeled(self.code(j), [self.dialect.number(label) for label in labels])

    def lacks(self, j: int, labels: Sequence[Any] | None) -> str:
        """1 where a column of labels, or without these of numbers, is NULL, else 0."""
        cell = self._number(j) if labels is None else self.inputs[self.labeled(j, labels).cell]
        self.inputs[f"n{j}"] = f"CASE WHEN {cell} IS NULL THEN 1 ELSE 0 END"
        return f"n{j}"

    def _input(self, j: int, expression: str) -> str:
        self.inputs[f"x{j}"] = expression
        return f"x{j}"

    def _cell(self, j: int) -> str:
        return self._column(self.names[j])

    def _column(self, name: str) -> str:
        cell, zone = f"{ROWS}.{self.dialect.name_of(name)}", getattr(self.examples.get(name), "tzinfo", None)
        return cell if zone is None else self.dialect.in_zone(cell, zone)

    def _number(self, j: int) -> str:
        example, cell = self.examples.get(self.names[j]), self._cell(j)
        if isinstance(example, bool):
            return self.dialect.flag_as_number(cell)
        if isinstance(example, date):
            return self.dialect.days(cell)
        return self.dialect.seconds(cell) if isinstance(example, (time, timedelta)) else self.dialect.as_number(cell)

    def _date_part(self, j: int) -> tuple[str, str] | None:
        """The date that a column is a part of, and which part."""
        dates = [name for name, example in self.examples.items() if isinstance(example, date)]
        pairs = ((name, part) for name in dates for part in DATE_PARTS)
        return next(((name, part) for name, part in pairs if self.names[j] == f"{name}.{part}"), None)

    def _part(self, name: str, part: str) -> str:
        cell = self._column(name)
        if part == "month":
            return self.dialect.month(cell)
        if part == "hour":
            return self.dialect.hour(cell)
        # 1970 began on a Thursday.
        day = f"(FLOOR({self.dialect.days(cell)}) + 3.0)"
        return f"{day} - 7.0 * FLOOR({day} / 7.0)"


def _is_large(label: Any) -> bool:
    """Whether a label is a whole number that doubles may mistake for another."""
    return isinstance(label, int) and abs(label) >= EXACT


@dataclass
class BinnedColumns:
    """The columns that views need, collected while a query is planned."""

    binning: TableBinning
    cells: Cells
    lookups: Lookups
    points: dict[str, str] = field(default_factory=dict)

    def lacks(self, i: int) -> str | None:
        """A name that is 1 where a column is not given, else 0; None where nulls are values."""
        column = self.binning.columns[i]
        if self.binning.nulls is None or self.binning.nulls[column.column]:
            return None
        labels = None if column.is_number else ([] if column.labels is None else column.labels.tolist())
        return self.cells.lacks(column.column, labels)

    def coordinates(self, coordinates: Coordinates) -> list[str]:
        """The names of points."""
        if isinstance(coordinates, RankCoordinates):
            pairs = zip(coordinates.columns.tolist(), coordinates.quantiles, strict=True)
            return [self._named(f"y{i}", i, places) for i, places in pairs]
        assert isinstance(coordinates, ClippedCoordinates)
        return [self._clipped(coordinates, place, n) for place, n in enumerate(coordinates.columns.tolist())]

    def slots(self, merging: MergedCodes, prefix: str) -> list[str]:
        """The names of slots; -1 where a cell is not given."""
        pairs = zip(merging.columns.tolist(), merging.maps, merging.offsets.tolist(), strict=False)
        return [self._named(f"{prefix}_{i}", i, codes + offset, -1) for i, codes, offset in pairs]

    def add_sum(self, i: int, table: Floats, sums: Sequence[str]) -> None:
        """Add the entries of a table, ``(codes, classes)``, to the sum of each class; 0 where a cell is not given."""
        for name, values in zip(sums, table.T, strict=True):
            own, entry = self._entry(i, values, 0.0)
            own.add(name, entry)

    def rank_codes(self, ranks: RankCoordinates) -> list[str]:
        """The names of the codes that ranks are made from."""
        return [self._named(f"k{i}", i, np.arange(self.binning.columns[i].size + 2)) for i in ranks.columns.tolist()]

    def add_key(self, name: str, codes: Sequence[str]) -> None:
        """A text of the codes of a row."""
        kind = self.cells.dialect.text_type
        self.points[name] = " || ',' || ".join(f"CAST({code} AS {kind})" for code in codes)

    def _clipped(self, coordinates: ClippedCoordinates, place: int, n: int) -> str:
        numbers = [column.column for column in self.binning.columns if column.is_number]
        x, number = self.cells.number(numbers[n]), self.cells.dialect.number
        inside = clipped_between(x, coordinates.low[place], coordinates.high[place], self.cells.dialect)
        away = f"({inside} - {number(coordinates.mean[place])}) / {number(coordinates.deviation[place])}"
        self.points[f"w{n}"] = f"CASE WHEN {x} IS NULL THEN {self.cells.dialect.first_number(0)} ELSE {away} END"
        return f"w{n}"

    def _named(self, name: str, i: int, values: Array, not_given: float | None = None) -> str:
        own, entry = self._entry(i, values, not_given)
        return own.named(name, entry)

    def _entry(self, i: int, values: Array, not_given: float | None) -> tuple[ColumnTable, str]:
        """Return the table of a column, and one of ``values``, for its codes, missing and unseen ones included."""
        column: ColumnBinning = self.binning.columns[i]
        if not_given is not None and self.lacks(i) is not None:
            values = values.copy()
            values[-2] = not_given
        if column.cuts is not None:
            own = self.lookups.ranges(self.cells.number(column.column))
            return own, own.entry(column.cuts, values[:-1])
        found = self.cells.labeled(column.column, [] if column.labels is None else column.labels.tolist())
        own = self.lookups.labels(found.cell)
        return own, own.entry(found.labels, values)


def distinct(key: str, names: Sequence[str], source: str) -> tuple[dict[str, str], str]:
    """Return columns and source of a step with the distinct keys, and what rows of a key have in common."""
    return {"code_key": key, **{name: f"MIN({name})" for name in names}}, f"{source} GROUP BY {key}"
