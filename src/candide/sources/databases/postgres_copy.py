"""Rows of PostgreSQL in the binary format of its COPY command, as Arrow batches.

A row is the number of its cells, 2 bytes, then each cell: the number of its bytes, 4 bytes (-1 for NULL), and these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ...kernels.layouts import Array
from ..reader import BATCH_BYTES

# Types that can be copied: that of the database, and how NumPy reads its bytes.
_TYPES: dict[pa.DataType, tuple[str, str | None]] = {
    pa.bool_(): ("BOOLEAN", "?"),
    pa.int64(): ("BIGINT", ">i8"),
    pa.float32(): ("REAL", ">f4"),
    pa.float64(): ("DOUBLE PRECISION", ">f8"),
    pa.string(): ("TEXT", None),
}
_SIGNATURE, _HEADER_BYTES, _END = b"PGCOPY\n\xff\r\n\0", 19, b"\xff\xff"
_LONGEST_NUMBER = 8


def can_copy(connection: Any, cursor: Any, schema: pa.Schema) -> bool:
    """Return whether a driver copies rows (psycopg 3 does), and the format of all types is known."""
    encoding = getattr(getattr(connection, "info", None), "encoding", None)
    return hasattr(cursor, "copy") and encoding == "utf-8" and all(kind in _TYPES for kind in schema.types)


def copy_rows(cursor: Any, sql: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query in batches."""
    names = [f"c{j}" for j in range(len(schema))]
    cells = (f"CAST({name} AS {_TYPES[kind][0]})" for name, kind in zip(names, schema.types, strict=True))
    rows = f"SELECT {', '.join(cells)} FROM ({sql}) AS q ({', '.join(names)})"
    with cursor.copy(f"COPY ({rows}) TO STDOUT (FORMAT binary)") as copy:
        for block in _blocks(copy):
            yield _decode(block, schema)


def _blocks(messages: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield rows in blocks: the driver returns one at a time, the first of them after a header."""
    rows: list[Any] = []
    n_bytes = 0
    for message in messages:
        row = message[_HEADER_BYTES:] if bytes(message[: len(_SIGNATURE)]) == _SIGNATURE else message
        if len(row) > len(_END):
            rows.append(row)
            n_bytes += len(row)
        if n_bytes >= BATCH_BYTES:
            yield rows
            rows, n_bytes = [], 0
    if rows:
        yield rows


def _decode(rows: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    content = b"".join([*rows, bytes(_LONGEST_NUMBER)])  # a NULL at the end is read like a number
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    begins, columns = np.cumsum(sizes) - sizes + 2, []
    for kind in schema.types:
        n_bytes = _numbers(content, begins, ">i4").astype(np.int64)
        columns.append(_column(content, begins + 4, n_bytes, kind))
        begins += 4 + np.maximum(n_bytes, 0)
    return pa.record_batch(columns, schema=schema)


def _column(content: bytes, begins: Array, n_bytes: Array, kind: pa.DataType) -> pa.Array:
    dtype = _TYPES[kind][1]
    if dtype is None:
        ends = begins + n_bytes
        texts = [content[i:j] if j >= i else None for i, j in zip(begins.tolist(), ends.tolist(), strict=True)]
        return pa.array(texts, kind)
    numbers = _numbers(content, begins, dtype)
    return pa.array(numbers.astype(numbers.dtype.newbyteorder("=")), kind, mask=n_bytes < 0, from_pandas=False)


def _numbers(content: bytes, begins: Array, dtype: str) -> Array:
    """Return the numbers that begin at some bytes."""
    size = len(content) - np.dtype(dtype).itemsize + 1
    return np.ndarray((size,), dtype, content, strides=(1,))[begins]
