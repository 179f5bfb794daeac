"""Records made one by one in Python, gathered to batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from .part import BATCH_BYTES


def record_batches(records: Iterable[Mapping[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Batches of records, cut by the bytes of their texts."""
    waiting: list[Mapping[str, Any]] = []
    size = 0
    for record in records:
        waiting.append(record)
        size += sum(len(cell) if isinstance(cell, str) else 8 for cell in record.values())
        if size >= BATCH_BYTES:
            yield pa.RecordBatch.from_pylist(waiting, schema)
            waiting, size = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema)


def encodable(text: str) -> str:
    """Text without halves of surrogate pairs, which UTF-8 does not have."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
