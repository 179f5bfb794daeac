"""Numbers that are looked up by the value of a column, in tables that are part of the query.

The place of a cell among cuts or labels is computed once. Scores of classes, codes of views and ranks that depend on it
are a row of one table, which is joined by the place.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...kernels.layouts import Array, Floats
from .query import Query, place_among

T = TypeVar("T")
# More labels than this are found by a join instead of one after the other.
_MANY_LABELS = 40
# SQLite joins up to 64 tables.
_MOST_JOINS = 50


class Labeled(NamedTuple):
    """An input that contains labels, and how the labels are written."""

    cell: str
    labels: list[str]


@dataclass
class ColumnTable(ABC):
    """What is looked up by the value of one column, gathered while a query is planned."""

    name: str
    place: str  # the name of the column with the place of a cell
    cell: str
    entries: list[tuple[Any, Array]] = field(default_factory=list)  # cuts or labels, and values
    columns: dict[str, str] = field(default_factory=dict)  # by name: entries that later steps read
    sums: dict[str, list[str]] = field(default_factory=dict)  # by name: parts of sums over columns

    def entry(self, keys: Floats | Sequence[str], values: Array) -> str:
        """Return the value of a cell, as an expression for ``named`` and ``add``."""
        for i, (other_keys, other) in enumerate(self.entries):
            if np.array_equal(values, other) and np.array_equal(keys, other_keys):
                return f"{self.name}.v{i}"
        self.entries.append((keys, values))
        return f"{self.name}.v{len(self.entries) - 1}"

    def named(self, name: str, entry: str) -> str:
        """Give an entry a name, which later steps can use."""
        self.columns[name] = entry
        return name

    def add(self, name: str, part: str) -> str:
        """Make an expression of entries a part of a sum over columns; return the name of the sum."""
        self.sums.setdefault(name, []).append(part)
        return name

    @abstractmethod
    def write(self, query: Query) -> str:
        """Write the table; return the expression of the place of a cell."""

    def _write_rows(self, query: Query, rows: list[Array]) -> None:
        if query.dialect.has_arrays:
            arrays = [query.dialect.entry(own, self.place) for own in rows]
            entry = re.compile(rf"\b{self.name}\.v(\d+)")
            self.columns = {name: entry.sub(lambda m: arrays[int(m[1])], how) for name, how in self.columns.items()}
            self.sums = {
                name: [entry.sub(lambda m: arrays[int(m[1])], how) for how in parts]
                for name, parts in self.sums.items()
            }
            return
        named = {f"v{i}": own for i, own in enumerate(rows)}
        integers = {name: own for name, own in named.items() if own.dtype.kind == "i"}
        query.table(self.name, integers, {name: own for name, own in named.items() if name not in integers})


class RangeTable(ColumnTable):
    """Of a number column. Values are those of the ranges between ascending cuts, and that of missing cells."""

    def write(self, query: Query) -> str:
        cuts = np.unique(np.concatenate([keys for keys, _ in self.entries]))
        at = [np.concatenate([[0], np.searchsorted(keys, cuts, side="right")]) for keys, _ in self.entries]
        rows = [values[places] for places, (_, values) in zip(at, self.entries, strict=True)]
        differs = np.any([own[1:] != own[:-1] for own in rows], axis=0)
        kept = np.concatenate([[True], differs])
        self._write_rows(
            query, [np.append(own[kept], entry[1][-1]) for own, entry in zip(rows, self.entries, strict=True)]
        )
        place = place_among(self.cell, cuts[differs], query.dialect)
        return f"CASE WHEN {self.cell} IS NULL THEN {int(kept.sum())} ELSE {place} END"


@dataclass
class LabelTable(ColumnTable):
    """Of a column of labels. Values are those of the labels, of missing, and of other cells.

    Other whole numbers from 0 up to ``range_end`` have a further value, or a value each if there are no labels.
    """

    range_end: int = 0

    def write(self, query: Query) -> str:
        """Places are those of the labels, then that of missing and of other cells, then that of the range."""
        labels = {
            label: i for i, label in enumerate(dict.fromkeys(label for keys, _ in self.entries for label in keys))
        }
        n_known = len(labels) or self.range_end
        self._write_rows(query, [self._row(labels, n_known, *entry) for entry in self.entries])
        other = str(n_known + 1)
        if self.range_end:
            inside = f"{self.cell} >= 0 AND {self.cell} < {self.range_end} AND {self.cell} = FLOOR({self.cell})"
            place = n_known + 2 if labels else f"CAST({self.cell} AS INTEGER)"
            other = f"CASE WHEN {inside} THEN {place} ELSE {other} END"
        if len(labels) > _MANY_LABELS:
            query.labels(self.found_in, labels.items())
            other = f"COALESCE({self.found_in}.code, {other})"
            return f"CASE WHEN {self.cell} IS NULL THEN {n_known} ELSE {other} END"
        known = "".join(f" WHEN {self.cell} = {label} THEN {place}" for label, place in labels.items())
        return f"CASE WHEN {self.cell} IS NULL THEN {n_known}{known} ELSE {other} END"

    @property
    def found_in(self) -> str:
        """The name of the table of labels, if there are many."""
        return f"{self.name}_known"

    def _row(self, labels: dict[str, int], n_known: int, keys: Sequence[str], values: Array) -> Array:
        n_own = len(keys) or (0 if labels else self.range_end)
        out = np.full(n_known + 2 + bool(self.range_end and labels), values[n_own + 1], dtype=values.dtype)
        out[[labels[label] for label in keys] or slice(0, n_own)] = values[:n_own]
        out[n_known] = values[n_own]
        if self.range_end and labels:
            out[-1] = values[-1]
        return out


@dataclass
class Lookups:
    """The tables of all columns, gathered while a query is planned."""

    query: Query
    columns: dict[str, str] = field(default_factory=dict)  # other columns that steps before the lookups make
    tables: dict[str, ColumnTable] = field(default_factory=dict)

    def ranges(self, cell: str) -> ColumnTable:
        """Return the table of a number column."""
        return self._table(RangeTable(f"{cell}_ranges", f"{cell}_range", cell))

    def labels(self, cell: str, range_end: int = 0) -> ColumnTable:
        """Return the table of a column of labels."""
        return self._table(LabelTable(f"{cell}_labels", f"{cell}_label", cell, range_end=range_end))

    def has_sum(self, name: str) -> bool:
        """Whether a sum has parts."""
        return any(name in table.sums for table in self.tables.values())

    def _table(self, table: ColumnTable) -> ColumnTable:
        return self.tables.setdefault(table.name, table)

    def write(self) -> None:
        """Write the steps that find the places of cells, and those that look up entries."""
        places = {table.place: table.write(self.query) for table in self.tables.values()}
        joins = {
            table.place: f"LEFT JOIN {table.found_in} ON {table.found_in}.label = {table.cell}"
            for table in self.tables.values()
            if isinstance(table, LabelTable) and table.found_in in places[table.place]
        }
        plain = self.columns | {name: how for name, how in places.items() if name not in joins}
        if plain:
            self.query.step("places", plain)
        for some in _batches(joins):
            self.query.step("labels", {name: places[name] for name in some}, [joins[name] for name in some])
        made: set[str] = set()
        for tables in _batches(self.tables.values()):
            self.query.step("entries", dict(_entries(tables, made)), self._joins(tables))

    def _joins(self, tables: Sequence[ColumnTable]) -> list[str]:
        if self.query.dialect.has_arrays:
            return []
        return [f"LEFT JOIN {table.name} ON {table.name}.place = {table.place}" for table in tables]


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    listed = list(items)
    return (listed[i : i + _MOST_JOINS] for i in range(0, len(listed), _MOST_JOINS))


def _entries(tables: Sequence[ColumnTable], made: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the columns of a step: named entries, and sums, which go on from step to step."""
    for table in tables:
        yield from table.columns.items()
    for name in dict.fromkeys(name for table in tables for name in table.sums):
        parts = [part for table in tables for part in table.sums.get(name, [])]
        yield name, " + ".join([name] * (name in made) + parts)
        made.add(name)
