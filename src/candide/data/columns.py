"""Typed columns of a table: the layout of rows for mixed tables, besides dense and sparse arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..kernels.layouts import Array, Dense, TextRows

# "missing" is a column of nothing but holes: it agrees with any of the others.
Kind = Literal["number", "category", "text", "missing"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    A number column holds any type that kernels read, with NaN where a value is missing. A category column holds int32
    codes, -1 where it is missing, and the label of each code: distinct, in the order of an ``Index``, and not all of
    them need occur. A text column holds 0, NaN where it is missing, and the texts beside.

    ``absent`` says of which rows the cell was not given at all, as opposed to given as null; None: of none. An absent
    cell is missing too.
    """

    name: Any
    kind: Kind
    values: Array
    labels: Array | None = None
    texts: TextRows | None = None
    absent: Array | None = None  # bool (rows,)

    def take(self, rows: Array | slice) -> Column:
        """Some rows; a stretch of them is not copied."""
        texts = None if self.texts is None else _take_texts(self.texts, rows)
        absent = None if self.absent is None else self.absent[rows]
        return Column(self.name, self.kind, self.values[rows], self.labels, texts, absent)

    def nulls(self) -> Array:
        """Which cells are missing, ``(rows,)``."""
        if self.kind == "category":
            return np.asarray(self.values < 0)
        return np.isnan(self.values) if self.values.dtype.kind == "f" else np.zeros(len(self.values), dtype=bool)

    def cells(self) -> Array:
        """The numbers as they are, or the labels, None where they are missing; of texts, whether they are there."""
        if self.labels is None:
            return self.values
        return np.asarray(np.append(self.labels, [None])[self.values])  # the code -1 is the last place


def _take_texts(texts: TextRows, rows: Array | slice) -> TextRows:
    if not isinstance(rows, slice):
        return texts.take(rows)
    begin, end, _ = rows.indices(texts.n_rows)
    return texts.rows(begin, end)


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

    def absent(self) -> Array | None:
        """``(rows, columns)``, which cells were not given; None if all were."""
        if all(column.absent is None for column in self.columns):
            return None
        nothing = np.zeros(self.n_rows, dtype=bool)
        return np.column_stack([nothing if column.absent is None else column.absent for column in self.columns])

    def with_absent(self, absent: Array) -> Columns:
        """With these cells not given, ``(rows, columns)``, and all others given."""
        marked = zip(self.columns, absent.T, strict=True)
        columns = (replace(column, absent=own.copy() if own.any() else None) for column, own in marked)
        return replace(self, columns=tuple(columns))

    def texts(self) -> dict[int, TextRows]:
        """The texts of text columns, by place."""
        return {j: column.texts for j, column in enumerate(self.columns) if column.texts is not None}

    def dense(self) -> Dense:
        """One array per column, categories as labels."""
        cells = tuple(column.cells() for column in self.columns)
        return Dense(cells, self.n_rows, self.n_columns, self.first_row, self.names)


class Records(dict[Any, Any]):
    """Columns by name, with None where a record omits one; ``omitted`` says of each column in which records.

    >>> records = Records({"age": [49, 31], "job": [None, None]}, {"job": np.array([True, False])})
    >>> records["age"], records.omitted["job"].tolist()
    ([49, 31], [True, False])
    """

    def __init__(self, columns: Mapping[Any, Any], omitted: Mapping[Any, Array]) -> None:
        super().__init__(columns)
        self.omitted = dict(omitted)


def with_omitted(data: Columns, omitted: Mapping[Any, Array], given: tuple[Any, ...]) -> Columns:
    """A table with what records omit marked as not given; a date is several columns."""
    absent, before = np.zeros((data.n_rows, data.n_columns), dtype=bool), data.absent()
    for j, column in enumerate(data.columns):
        name = column.name
        if name not in given and isinstance(name, str):
            name = next((own for own in given if isinstance(own, str) and name.startswith(f"{own}.")), name)
        if name in omitted:
            absent[:, j] = omitted[name]
    return data.with_absent(absent if before is None else absent | before)
