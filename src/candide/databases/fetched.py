"""Rows that were fetched through Python's common interface to databases, as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

from ..data.conversion import to_datetime
from ..exceptions import SourceError
from ..sources.duckdb_engine import first_line

# Rows that are fetched at once.
_FETCHED = 10_000


def batches(cursor: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a cursor, some at a time."""
    while rows := cursor.fetchmany(_FETCHED):
        columns = zip(*rows, strict=True)
        arrays = [_array(list(cells), field) for cells, field in zip(columns, schema, strict=True)]
        yield pa.record_batch(arrays, schema=schema)


def _array(cells: list[Any], field: pa.Field) -> pa.Array:
    try:
        return pa.array(_plain(cells, field.type), field.type)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise SourceError(
            f"column {field.name!r} holds cells that are no {field.type} ({first_line(error)}); make them one type, as "
            f"in CAST({field.name} AS TEXT)"
        ) from None


def _plain(cells: list[Any], kind: pa.DataType) -> list[Any]:
    """Decimals as doubles, texts of dates as dates, and what is to be text as text: Arrow does none of it."""
    if pa.types.is_floating(kind):
        return [None if cell is None else float(cell) for cell in cells]
    if pa.types.is_string(kind):
        return [cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells]
    if pa.types.is_timestamp(kind) and any(isinstance(cell, str) for cell in cells):
        return [_moment(cell) if isinstance(cell, str) else cell for cell in cells]
    return cells


def _moment(text: str) -> datetime:
    moment = to_datetime(text)
    if moment is None:
        raise ValueError(f"{text!r} is no date in ISO format")
    return moment
