"""Columns of a database as a learner reads them: distinct cells with what they weigh, or row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ..clusters.rows import Chunk
from ..data.arrow_batches import Groups, labelled_cells
from ..data.column_selection import Roles
from .query import Query, Selected

# Names in answers: the class, the cell, and what both weigh together.
ANSWER = Roles("y", None, ("x",), "w")


def distinct(query: Query, name: str, most: int | None = None) -> Chunk | None:
    """Each pair of class and cell once, with its weight; None if there are more than ``most``."""
    selected: Selected = {"y": query.label, "x": query.cell(name), "w": query.total_weight}
    limit = "" if most is None else f" LIMIT {most + 1}"
    table = query.ask(selected, f"{query.rows} GROUP BY {query.label[0]}, {query.cell(name)[0]}{limit}")
    return None if most is not None and table.num_rows > most else as_chunk(table, name)


def as_chunk(table: pa.Table, name: str) -> Chunk:
    """An answer about a column, under its own name."""
    return _chunk(table.combine_chunks().to_batches()[0], ANSWER, [name])


def cell_by_cell(query: Query, names: Sequence[str], group_bytes: int) -> Iterator[Chunk]:
    """All rows, of some columns."""
    cells = {f"x{j}": query.cell(name) for j, name in enumerate(names)}
    heavy = {} if query.roles.weight is None else {"w": (query.weight, pa.float64())}
    roles = Roles("y", None, tuple(cells), "w" if heavy else None)
    for batch in Groups(group_bytes).of(query.stream({"y": query.label, **cells, **heavy}, query.rows)):
        yield _chunk(batch, roles, names)


def row_by_row(query: Query, group_bytes: int, rest: str | None = None) -> Iterator[Chunk]:
    """All rows, or some, of all columns that are learned from."""
    for batch in Groups(group_bytes).of(query.stream(query.cells, rest or query.rows)):
        rows = labelled_cells(batch, query.roles)
        yield rows.X, rows.y, rows.weight


def _chunk(batch: Any, roles: Roles, names: Sequence[str]) -> Chunk:
    rows = labelled_cells(batch, roles)
    return rows.X.rename_columns(list(names)), rows.y, rows.weight
