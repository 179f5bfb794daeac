"""The base class of readers, their batches and their schemas.

A source is a sequence of readers, each of one file, folder, mailbox or query.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..exceptions import SourceError
from .bad_rows import BadRows
from .files import TemporaryCopy

# Bytes of a batch: large enough that its cost is that of its bytes, small enough that a few are no burden.
BATCH_BYTES = 8 << 20
MAX_ROWS = 1 << 17
# Asked of the engine at once, which counts rows and not bytes: few, for later rows may be long.
ENGINE_ROWS = 2_048


class ReadProgress:
    """One pass over the parts: its progress, and the rows that it could not read."""

    def __init__(self, bad_rows: BadRows) -> None:
        self.bad_rows = bad_rows
        self.bytes_before = 0
        self.bytes_current = 0

    @property
    def bytes_read(self) -> int:
        return self.bytes_before + self.bytes_current

    def finish(self, n_bytes: int | None) -> None:
        """Record that a part is finished."""
        self.bytes_before += n_bytes or 0
        self.bytes_current = 0


class Reader(ABC):
    """Reads the rows of one file or query."""

    #: What messages call it.
    name: str
    #: Size on disk, None where unknown.
    n_bytes: int | None = None
    #: None where only a pass would tell.
    n_rows: int | None = None
    #: Whether rows are texts, in a column of that name.
    is_texts = False
    #: Copies on disk that go with the part.
    temporary_files: tuple[TemporaryCopy, ...] = ()

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns as they are read."""

    @abstractmethod
    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows from the beginning, with at least these columns."""

    def as_types(self, schema: pa.Schema) -> Reader:
        """Return the same part with other column types, where the reader infers them."""
        return self


def rows_per_batch(row_bytes: float) -> int:
    """Return the number of rows of this size in a batch."""
    return max(1, min(MAX_ROWS, int(BATCH_BYTES / max(row_bytes, 1.0))))


_MIN_BYTES = BATCH_BYTES // 8


def rebatch(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches that are neither small nor larger than ``BATCH_BYTES``.

    A row that is larger is a batch of its own. What is large enough is not copied, which would cost a third of the
    time that it takes to read it.
    """
    gathered: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        for piece in _split_batch(batch):
            if gathered and (n_bytes + piece.nbytes > BATCH_BYTES or n_rows + len(piece) > MAX_ROWS):
                yield _combine(gathered)
                gathered, n_rows, n_bytes = [], 0, 0
            gathered.append(piece)
            n_rows, n_bytes = n_rows + len(piece), n_bytes + piece.nbytes
            if n_bytes >= _MIN_BYTES:
                yield _combine(gathered)
                gathered, n_rows, n_bytes = [], 0, 0
        del batch  # not held while the next is made
    if gathered:
        yield _combine(gathered)


def _split_batch(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Split a batch in halves recursively, because rows may differ in size."""
    if len(batch) < 2 or (batch.nbytes <= BATCH_BYTES and len(batch) <= MAX_ROWS):
        yield batch
        return
    middle = len(batch) // 2
    yield from _split_batch(batch.slice(0, middle))
    yield from _split_batch(batch.slice(middle))


def _combine(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    joined = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    # Arrow would hold on to what reading took, which is many times the batch, while somebody counts.
    pa.default_memory_pool().release_unused()
    return joined


def record_batches(records: Iterable[Mapping[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield batches of records, limited by the bytes of their texts."""
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


def replace_surrogates(text: str) -> str:
    """Return text without lone surrogates, which UTF-8 does not allow."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the types to read: strings are contiguous, and dictionaries become their values."""
    return pa.schema([(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return pa.float64()
    # Null columns may hold something later; a view of strings is no buffer that the core reads.
    return pa.string() if pa.types.is_null(kind) or str(kind) == "string_view" else kind


def union_schema(parts: Sequence[Reader]) -> pa.Schema:
    """Return one schema for all parts: names and order of the first, types that fit all."""
    schema = plain_schema(parts[0].schema)
    for part in parts[1:]:
        check_columns(part, schema, parts[0].name)
        theirs = plain_schema(part.schema)
        schema = pa.schema([(field.name, _common_type(field.type, theirs.field(field.name).type)) for field in schema])
    return schema


def check_columns(part: Reader, schema: pa.Schema, first: str) -> None:
    """Check that all parts have the same columns, in any order."""
    lacking, new = set(schema.names) - set(part.schema.names), set(part.schema.names) - set(schema.names)
    if not lacking and not new:
        return
    differences = [f"lacks {', '.join(map(repr, sorted(lacking)))}"] if lacking else []
    differences += [f"has {', '.join(map(repr, sorted(new)))} besides"] if new else []
    raise SourceError(
        f"{part.name} {' and '.join(differences)}, compared with {first}; files that are read together have the same "
        "columns; give them the same header, or read them one by one"
    )


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if one.equals(other):
        return one
    if _is_number(one) and _is_number(other):
        return pa.float64() if pa.types.is_floating(one) or pa.types.is_floating(other) else pa.int64()
    return pa.large_string() if pa.large_string() in (one, other) else pa.string()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema, name: str) -> pa.RecordBatch:
    """Return the columns of a schema, in its order and types."""
    if batch.schema.equals(schema):
        return batch
    return pa.RecordBatch.from_arrays([_cast(batch.column(f.name), f, name) for f in schema], schema=schema)


def _cast(column: pa.Array, field: pa.Field, name: str) -> pa.Array:
    if column.type.equals(field.type):
        return column
    try:
        if pa.types.is_dictionary(column.type):  # values first: Arrow takes no elements of views of strings
            return column.dictionary.cast(field.type).take(column.indices)
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        said = str(error).partition("\n")[0]
        raise SourceError(
            f"{name}: column {field.name!r} is of type {column.type}, which cannot be read as {field.type} ({said}); "
            "write it with the same type in all files"
        ) from None


def schema_fingerprint(schema: pa.Schema) -> str:
    """Return a fingerprint of names and types."""
    lines = "".join(f"{field.name}\0{field.type}\n" for field in schema)
    return hashlib.sha256(lines.encode("utf-8", errors="replace")).hexdigest()[:16]
