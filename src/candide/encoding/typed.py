"""Columns of a table, each with a kind of its own: a form of rows beside dense and sparse ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..kernels.data import Array, Dense

# "missing" is a column of nothing but holes: it agrees with either of the others.
Kind = Literal["number", "category", "missing"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    A number column holds any type that kernels read, with NaN where a value is missing. A category column holds int32
    codes, -1 where it is missing, and the label of each code: distinct, in the order of an ``Index``, and not all of
    them need occur.
    """

    name: Any
    kind: Kind
    values: Array
    labels: Array | None = None

    def take(self, rows: Array | slice) -> Column:
        """Some rows; a stretch of them is not copied."""
        return Column(self.name, self.kind, self.values[rows], self.labels)

    def cells(self) -> Array:
        """The numbers as they are, or the labels, None where they are missing."""
        if self.labels is None:
            return self.values
        return np.asarray(np.append(self.labels, [None])[self.values])  # the code -1 is the last place


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of a table with columns of any kinds."""

    columns: tuple[Column, ...]
    n_rows: int
    first_row: int = 0  # where a stretch of rows begins in the whole, for messages

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[Any, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(column.kind for column in self.columns)

    def name(self, j: int) -> str:
        """How a message speaks of a column."""
        return f"column {self.columns[j].name!r}"

    def column(self, j: int) -> Array:
        """The cells of one column."""
        return self.columns[j].cells()

    def rows(self, begin: int, end: int) -> Columns:
        """Rows ``begin`` to ``end``, without a copy."""
        stretch = tuple(column.take(slice(begin, end)) for column in self.columns)
        return Columns(stretch, end - begin, self.first_row + begin)

    def take(self, rows: Array) -> Columns:
        """A copy of some rows."""
        return Columns(tuple(column.take(rows) for column in self.columns), len(rows))

    def dense(self) -> Dense:
        """One array per column, categories as labels."""
        cells = tuple(column.cells() for column in self.columns)
        return Dense(cells, self.n_rows, self.n_columns, self.first_row, self.names)
