"""Typed columns of a table: the layout of rows for mixed tables, besides dense and sparse arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..kernels.layouts import Array, Dense, TextRows

# A column of kind "missing" has no values and is compatible with all other kinds.
Kind = Literal["number", "category", "text", "missing"]


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column of a table.

    A number column holds any type that kernels read, with NaN where a value is missing. A category column holds int32
    codes, -1 where it is missing, and the label of each code: distinct, in the order of an ``Index``, and not all of
    them need occur. A text column holds 0, NaN where it is missing, and the texts in ``texts``.

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
        """Return some rows; a slice of them is not copied."""
        texts = None if self.texts is None else _take_texts(self.texts, rows)
        absent = None if self.absent is None else self.absent[rows]
        return Column(self.name, self.kind, self.values[rows], self.labels, texts, absent)

    def nulls(self) -> Array:
        """Return a mask of the missing cells, ``(rows,)``."""
        if self.kind == "category":
            return np.asarray(self.values < 0)
        return np.isnan(self.values) if self.values.dtype.kind == "f" else np.zeros(len(self.values), dtype=bool)

    def cells(self) -> Array:
        """Return the numbers, or the labels with None for missing cells; for texts, NaN where they are missing."""
        if self.labels is None:
            return self.values
        return np.asarray(np.append(self.labels, [None])[self.values])  # the code -1 selects the last entry


def _take_texts(texts: TextRows, rows: Array | slice) -> TextRows:
    if not isinstance(rows, slice):
        return texts.take(rows)
    begin, end, _ = rows.indices(texts.n_rows)
    return texts.rows(begin, end)


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of a table with typed columns."""

    columns: tuple[Column, ...]
    n_rows: int
    first_row: int = 0  # the position of the first row in the whole table, for messages

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
        """Return the name of a column as messages show it."""
        return f"column {self.columns[j].name!r}"

    def column(self, j: int) -> Array:
        """Return the cells of one column."""
        return self.columns[j].cells()

    def rows(self, begin: int, end: int) -> Columns:
        """Return rows ``begin`` to ``end`` without a copy."""
        columns = tuple(column.take(slice(begin, end)) for column in self.columns)
        return Columns(columns, end - begin, self.first_row + begin)

    def take(self, rows: Array) -> Columns:
        """Return a copy of some rows."""
        return Columns(tuple(column.take(rows) for column in self.columns), len(rows))

    def absent(self) -> Array | None:
        """Return a mask ``(rows, columns)`` of the cells that were not given; None if all were."""
        if all(column.absent is None for column in self.columns):
            return None
        nothing = np.zeros(self.n_rows, dtype=bool)
        return np.column_stack([nothing if column.absent is None else column.absent for column in self.columns])

    def with_absent(self, absent: Array) -> Columns:
        """Return the table with exactly these cells, ``(rows, columns)``, marked as not given."""
        marked = zip(self.columns, absent.T, strict=True)
        columns = (replace(column, absent=own.copy() if own.any() else None) for column, own in marked)
        return replace(self, columns=tuple(columns))

    def texts(self) -> dict[int, TextRows]:
        """Return the texts of text columns by position."""
        return {j: column.texts for j, column in enumerate(self.columns) if column.texts is not None}

    def texts_at(self, j: int) -> TextRows:
        """Return the texts of one column; all are missing if it has no texts."""
        texts = self.columns[j].texts
        return TextRows.all_missing(self.n_rows) if texts is None else texts

    def dense(self) -> Dense:
        """Return one array per column, with categories as labels."""
        cells = tuple(column.cells() for column in self.columns)
        return Dense(cells, self.n_rows, self.n_columns, self.first_row, self.names)


class Records(dict[Any, Any]):
    """Columns by name, with None where a record omits one; ``omitted`` has a mask of such records per column.

    >>> records = Records({"age": [49, 31], "job": [None, None]}, {"job": np.array([True, False])})
    >>> records["age"], records.omitted["job"].tolist()
    ([49, 31], [True, False])
    """

    def __init__(self, columns: Mapping[Any, Any], omitted: Mapping[Any, Array]) -> None:
        super().__init__(columns)
        self.omitted = dict(omitted)


def with_omitted(data: Columns, omitted: Mapping[Any, Array], given: tuple[Any, ...]) -> Columns:
    """Return a table with omitted cells marked as not given, in all columns made from a date."""
    absent, before = np.zeros((data.n_rows, data.n_columns), dtype=bool), data.absent()
    for j, column in enumerate(data.columns):
        name = column.name
        if name not in given and isinstance(name, str):
            name = next((own for own in given if isinstance(own, str) and name.startswith(f"{own}.")), name)
        if name in omitted:
            absent[:, j] = omitted[name]
    return data.with_absent(absent if before is None else absent | before)
