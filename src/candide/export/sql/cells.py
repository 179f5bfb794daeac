"""Columns of a table as a query reads them: numbers as doubles, dates by their parts, labels as texts or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any, NamedTuple

from ...data.dates import DATE_PARTS, WEEKDAYS
from ...data.index import EXACT
from .dialects import Dialect
from .query import ROWS


class Labelled(NamedTuple):
    """An input that holds labels, and how these are written."""

    cell: str
    labels: list[str]


@dataclass
class Cells:
    """Inputs of a query, gathered while it is thought out, each under a short name."""

    names: Sequence[str]
    examples: dict[str, Any]  # by name: a cell of the column's type, of booleans and times
    dialect: Dialect
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

    def labelled(self, j: int, labels: Sequence[Any]) -> Labelled:
        """A column of labels."""
        part = self._date_part(j)
        if part is not None:
            of, which = part
            numbers = [WEEKDAYS.index(label) if which == "weekday" else label for label in labels]
            return Labelled(self._input(j, self._part(of, which)), list(map(self.dialect.number, numbers)))
        if any(isinstance(label, str) or _is_large(label) for label in labels):
            return Labelled(
                self._input(j, self.dialect.as_text(self._cell(j))),
                [self.dialect.text(str(label)) for label in labels],
            )
        return Labelled(self.code(j), [self.dialect.number(label) for label in labels])

    def lacks(self, j: int, labels: Sequence[Any] | None) -> str:
        """1 where a column of labels, or without these of numbers, is NULL, else 0."""
        cell = self._number(j) if labels is None else self.inputs[self.labelled(j, labels).cell]
        self.inputs[f"n{j}"] = f"CASE WHEN {cell} IS NULL THEN 1 ELSE 0 END"
        return f"n{j}"

    def _input(self, j: int, expression: str) -> str:
        self.inputs[f"x{j}"] = expression
        return f"x{j}"

    def _cell(self, j: int) -> str:
        return self._column(self.names[j])

    def _column(self, name: str) -> str:
        return f"{ROWS}.{self.dialect.name_of(name)}"

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
