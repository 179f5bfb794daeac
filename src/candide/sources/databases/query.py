"""Queries about the rows of a table: its classes, sums by GROUP BY of many columns at once, and rows one by one.

Sums are over the rows of each class: counts, moments, and distinct cells with their weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...data.arrow_batches import Groups, labeled_cells, needed
from ...data.column_selection import Roles
from ...data.index import Index
from ...data.labeled_rows import read_labels
from ...exceptions import InputError
from ...kernels import Kernels
from ...kernels.layouts import Array, Floats
from ...model.source import Chunk
from ...statistics import Counts, Moments
from ..reader import plain_schema
from .dialects import Database

# Selected expressions and their types, by name.
Selected = Mapping[str, tuple[str, pa.DataType]]


@dataclass(frozen=True)
class Query:
    """A FROM clause, with its columns and their roles."""

    database: Database
    source: str
    schema: pa.Schema
    roles: Roles
    label_type: str | None = None  # the declared type of the label
    types: pa.Schema = field(init=False)  # the types in which estimators read the columns

    def __post_init__(self) -> None:
        types = plain_schema(self.schema)
        if self.label_type is not None:
            place = types.get_field_index(self.roles.label)
            types = types.set(place, _declared_label(types.field(place), self.label_type))
        object.__setattr__(self, "types", types)

    def column(self, name: str) -> str:
        return f"t.{self.database.quoted(name)}"

    def cell(self, name: str) -> tuple[str, pa.DataType]:
        """Return SQL for a column as it is, and its type."""
        kind = self.types.field(name).type
        return self.database.cell(self.column(name), kind), kind

    def is_number(self, name: str) -> bool:
        """Return whether a column contains numbers or booleans."""
        kind = self.types.field(name).type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))

    def number(self, name: str) -> str:
        """Return SQL for a column of numbers as doubles; NULL where they are missing."""
        return self.database.number(self.column(name), self.schema.field(name).type)

    def is_known(self, name: str) -> str:
        """Return SQL for whether a cell is not missing."""
        return f"{self.number(name) if self.is_number(name) else self.column(name)} IS NOT NULL"

    @property
    def label(self) -> tuple[str, pa.DataType]:
        """SQL for the class; NULL where it is missing."""
        kind = self.types.field(self.roles.label).type
        if pa.types.is_floating(kind):  # NaN is not a class
            return self.number(self.roles.label), pa.float64()
        return self.cell(self.roles.label)

    @property
    def weight(self) -> str:
        """SQL for the weight of a row."""
        if self.roles.weight is None:
            return self.database.literal(1.0)
        return self.number(self.roles.weight)

    @property
    def total_weight(self) -> tuple[str, pa.DataType]:
        """SQL for the weight of the rows of a group."""
        return ("COUNT(*)" if self.roles.weight is None else f"SUM({self.weight})"), pa.float64()

    @property
    def everything(self) -> str:
        return f"FROM {self.source} AS t"

    @property
    def weighted(self) -> str:
        """SQL for the rows that have a weight."""
        return self.everything if self.roles.weight is None else f"{self.everything} WHERE {self.weight} > 0"

    @property
    def rows(self) -> str:
        """SQL for the rows that have a label and a weight."""
        weighs = "" if self.roles.weight is None else f" AND {self.weight} > 0"
        return f"{self.everything} WHERE {self.label[0]} IS NOT NULL{weighs}"

    def numbers(self, names: Sequence[str]) -> str:
        """Return SQL for these rows as ``r``, with the class y, the weight w, and columns of numbers x0, x1, …"""
        listed = "".join(f", {self.number(name)} AS x{j}" for j, name in enumerate(names))
        return f"(SELECT {self.label[0]} AS y, {self.weight} AS w{listed} {self.rows}) AS r"

    @property
    def cells(self) -> Selected:
        """All columns that are read."""
        return {name: self.cell(name) for name in needed(self.roles)}

    def ask(self, selected: Selected, rest: str) -> pa.Table:
        """Return the result of a query with few rows."""
        sql, schema = self._sql(selected, rest)
        return pa.Table.from_batches(list(self.database.answer(sql, schema, many=False)), schema)

    def stream(self, selected: Selected, rest: str) -> Iterator[Any]:
        """Yield the result of a query with many rows, in batches."""
        return self.database.answer(*self._sql(selected, rest), many=True)

    def _sql(self, selected: Selected, rest: str) -> tuple[str, pa.Schema]:
        listed = ", ".join(f"{what} AS {self.database.quoted(name)}" for name, (what, _) in selected.items())
        return f"SELECT {listed} {rest}", pa.schema([(name, kind) for name, (_, kind) in selected.items()])


def _declared_label(field: pa.Field, kind: str) -> pa.Field:
    """Return the label with its declared type; because the database groups by it, the cast must be lossless."""
    stored = field.type
    is_number = pa.types.is_integer(stored) or pa.types.is_floating(stored)
    same = {"number": is_number, "boolean": pa.types.is_boolean(stored), "str": pa.types.is_string(stored)}
    if same[kind]:
        return field
    if kind == "str" and (pa.types.is_integer(stored) or pa.types.is_boolean(stored)):
        return field.with_type(pa.string())
    raise InputError(
        f"schema declares the label {field.name!r} as {kind}, but its type in the database is {stored}; cast it in "
        f"the query: SELECT CAST({field.name} AS …), …"
    )


# Names in results: the class, the cell, and the total weight of both together.
ANSWER = Roles("y", None, ("x",), "w")


def distinct(query: Query, name: str, most: int | None = None) -> Chunk | None:
    """Return each pair of class and cell once, with its weight; None if there are more than ``most``."""
    selected: Selected = {"y": query.label, "x": query.cell(name), "w": query.total_weight}
    limit = "" if most is None else f" LIMIT {most + 1}"
    table = query.ask(selected, f"{query.rows} GROUP BY {query.label[0]}, {query.cell(name)[0]}{limit}")
    return None if most is not None and table.num_rows > most else as_chunk(table, name)


def as_chunk(table: pa.Table, name: str) -> Chunk:
    """Return the result of a query about a column, under its own name."""
    return _renamed_chunk(table.combine_chunks().to_batches()[0], ANSWER, [name])


def cell_by_cell(query: Query, names: Sequence[str], group_bytes: int) -> Iterator[Chunk]:
    """Yield all rows of some columns."""
    cells = {f"x{j}": query.cell(name) for j, name in enumerate(names)}
    heavy = {} if query.roles.weight is None else {"w": (query.weight, pa.float64())}
    roles = Roles("y", None, tuple(cells), "w" if heavy else None)
    for batch in Groups(group_bytes).of(query.stream({"y": query.label, **cells, **heavy}, query.rows)):
        yield _renamed_chunk(batch, roles, names)


def row_by_row(query: Query, group_bytes: int) -> Iterator[Chunk]:
    """Yield all rows of all columns that are learned from."""
    for batch in Groups(group_bytes).of(query.stream(query.cells, query.weighted)):
        rows = labeled_cells(batch, query.roles)
        yield Chunk(rows.X, rows.y, rows.weight, n_unlabeled=batch.num_rows - rows.n_rows, may_be_empty=True)


def _renamed_chunk(batch: Any, roles: Roles, names: Sequence[str]) -> Chunk:
    rows = labeled_cells(batch, roles)
    return Chunk(rows.X.rename_columns(list(names)), rows.y, rows.weight)


_SUMS = {
    "n": "COUNT(*)",
    "w": "SUM({w})",
    "squares": "SUM({w} * {w})",
    "low": "MIN({w})",
    "high": "MAX({w})",
    "missing": "COUNT(*) - COUNT({w})",
}


@dataclass(frozen=True)
class Classes:
    """The classes in order, with sums over the rows of each."""

    index: Index
    n_rows: Array
    weight: Floats
    squares: Floats  # sums of squared weights
    n_without_label: int

    @classmethod
    def of(cls, query: Query) -> Classes:
        """Return the classes whose rows have a weight."""
        sums = {name: (sql.format(w=query.weight), pa.float64()) for name, sql in _SUMS.items()}
        table = query.ask({"y": query.label, **sums}, f"{query.everything} GROUP BY {query.label[0]}")
        n_without_label = sum(table.filter(table["y"].is_null())["n"].to_pylist())
        table = table.filter(table["y"].is_valid())
        _refuse_odd_weights(table, query.roles.weight)
        table = table.filter(pc.greater(table["w"], 0.0))
        if not table.num_rows:
            raise InputError(
                "found no rows with a label and a positive weight; expected at least one; check the source"
            )
        index, places = _placed(table)
        order = np.argsort(places)
        n_rows, weight, squares = (table[name].to_numpy()[order] for name in ("n", "w", "squares"))
        return cls(index, n_rows, weight, squares, int(n_without_label))

    def spread(self, table: pa.Table) -> dict[str, Floats]:
        """Return the numbers of a result with a row for each class, in their order, ``(classes, 1)``; 0 for no row."""
        index, places = _placed(table)
        order = np.argsort(index.positions_in(self.index)[places])
        return {
            name: table[name].fill_null(0.0).to_numpy()[order][:, None] for name in table.column_names if name != "y"
        }


def _placed(table: pa.Table) -> tuple[Index, Array]:
    """Return the classes of a result, and the position of the class of each row."""
    rows = labeled_cells(table.combine_chunks().to_batches()[0], ANSWER._replace(columns=(), weight=None))
    return read_labels(rows.y, rows.n_rows, Kernels())


def _refuse_odd_weights(table: pa.Table, name: str | None) -> None:
    low, high, missing = pc.min(table["low"]).as_py(), pc.max(table["high"]).as_py(), pc.max(table["missing"]).as_py()
    if not missing and (low is None or (low >= 0 and high < np.inf)):
        return
    odd = "missing" if missing else low if low < 0 else high
    raise InputError(
        f"weight={name!r} contains a weight that is {odd}; negative, missing or infinite weights are not allowed; use "
        "0 to ignore a row"
    )


# Number of columns per query: with more, a database spends more time on planning than on running it.
_TOGETHER = 50
_LARGEST = 1e130
# Aggregates of the rows r: y is the class, w the weight, x{j} the number in column j.
_KNOWN = "SUM(CASE WHEN r.x{j} IS NULL THEN 0 ELSE r.w END)"
_MISSING = "SUM(CASE WHEN r.x{j} IS NULL THEN r.w ELSE 0 END)"
_EXTENT = {"low": "MIN(r.x{j})", "high": "MAX(r.x{j})"}
_ENDS = {**_EXTENT, "smallest": "MIN(NULLIF(ABS(r.x{j}), 0))"}
_MEAN = {"mean": f"SUM(r.w * r.x{{j}}) / NULLIF({_KNOWN}, 0)"}
_FROM_MEAN = "(r.x{j} - about.mean{j})"
_DEVIATIONS = {
    "weight": _KNOWN,
    "mean": "MIN(about.mean{j})",
    "scatter": f"SUM(r.w * {_FROM_MEAN} * {_FROM_MEAN})",
    **_EXTENT,
    "drift": f"SUM(r.w * {_FROM_MEAN})",
}
# If all rows have the same weight, the database's own aggregate functions suffice.
_MOMENTS = {
    "weight": "COUNT(r.x{j})",
    "mean": "AVG(r.x{j})",
    "scatter": "VAR_POP(r.x{j}) * COUNT(r.x{j})",
    **_EXTENT,
}


class Extent(NamedTuple):
    """The least and the largest number of a column, and the smallest that is not 0; NaN where there is none."""

    low: float
    high: float
    smallest: float

    @property
    def is_moderate(self) -> bool:
        """Whether squares of the numbers are numbers, neither infinite nor 0: some databases refuse both."""
        return not (max(-self.low, self.high) > _LARGEST or self.smallest < 1 / _LARGEST)


def extents(query: Query, names: Sequence[str]) -> dict[str, Extent]:
    """Return the range of the numbers of each column."""
    found = {}
    for some in _some(names):
        (answer,) = query.ask(_each(len(some), _ENDS), f"FROM {query.numbers(some)}").to_pylist()
        for j, name in enumerate(some):
            ends = (answer[f"{what}{j}"] for what in _ENDS)
            found[name] = Extent(*(np.nan if end is None else end for end in ends))
    return found


def counts(
    query: Query, names: Sequence[str], classes: Classes, threshold: float | None, *, presence: bool
) -> dict[str, Counts]:
    """Return weighted sums of the columns or, with a threshold, the weight of the cells above it."""
    total = "SUM(r.w * r.x{j})"
    if threshold is not None:
        total = f"SUM(CASE WHEN r.x{{j}} > {query.database.literal(threshold)} THEN r.w ELSE 0 END)"
    return {
        name: Counts(classes.weight, sums, missing if missing.any() else None, presence)
        for some in _some(names)
        for name, (sums, missing) in _by_class(
            query, some, classes, {"total": total, "missing": _MISSING}, f"FROM {query.numbers(some)}"
        )
    }


def moments(query: Query, names: Sequence[str], classes: Classes) -> dict[str, Moments]:
    """Return weights, means and scatters of the columns."""
    at_once = query.roles.weight is None
    made = {}
    for some in _some(names):
        rows = f"FROM {query.numbers(some)}" if at_once else _beside_means(query, some)
        for name, sums in _by_class(query, some, classes, _MOMENTS if at_once else _DEVIATIONS, rows):
            made[name] = _moments(classes.weight, *sums)
    return made


def _beside_means(query: Query, names: Sequence[str]) -> str:
    """Return SQL for rows joined with the means of their class, from which a second pass adds up deviations."""
    rows = query.numbers(names)
    means = ", ".join(f"{sql} AS {name}" for name, (sql, _) in _each(len(names), _MEAN).items())
    return f"FROM {rows} JOIN (SELECT r.y AS y, {means} FROM {rows} GROUP BY r.y) AS about ON r.y = about.y"


def _moments(rows: Floats, weight: Floats, mean: Floats, scatter: Floats, *more: Floats) -> Moments:
    low, high, *drift = more
    if drift:
        # The mean of a query is rounded; the sum of deviations from it corrects the error.
        share = np.divide(drift[0], weight, out=np.zeros_like(weight), where=weight > 0)
        mean, scatter = mean + share, np.maximum(scatter - drift[0] * share, 0.0)
    # Equal numbers have a scatter of exactly 0.
    return Moments(rows, weight, np.where(low == high, low, mean), np.where(low == high, 0.0, scatter))


def _some(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[begin : begin + _TOGETHER] for begin in range(0, len(names), _TOGETHER))


def _each(n_columns: int, expressions: Mapping[str, str]) -> Selected:
    """Return the expressions that are selected for each column."""
    return {
        f"{what}{j}": (sql.format(j=j), pa.float64()) for j in range(n_columns) for what, sql in expressions.items()
    }


def _by_class(
    query: Query, names: Sequence[str], classes: Classes, expressions: Mapping[str, str], rows: str
) -> Iterator[tuple[str, list[Floats]]]:
    """Yield what is selected for each column, ``(classes, 1)`` each."""
    table = query.ask({"y": ("r.y", query.label[1]), **_each(len(names), expressions)}, f"{rows} GROUP BY r.y")
    found = classes.spread(table)
    for j, name in enumerate(names):
        yield name, [found[f"{what}{j}"] for what in expressions]
