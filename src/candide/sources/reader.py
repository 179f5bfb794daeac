"""The base class of readers, their batches, their schemas, and rows that cannot be read.

A source is a sequence of readers, each of one file, folder, mailbox or query.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.compute as pc

from ..data.column_types import split_type
from ..data.containers import DATE_FORMATS, DECIDED, DECLARED
from ..data.conversion import to_boolean, to_datetime, to_exact_number, to_number, to_text
from ..exceptions import ParameterError, SourceError, naming
from .files import TemporaryCopy, TemporaryFolder

# Maximum number of bad rows that are kept; further ones are only counted.
_MAX_KEPT = 1_000
# Maximum number of characters of a row in an error.
_MAX_SHOWN = 200


class BadRow(NamedTuple):
    """A row that could not be read."""

    file: str
    #: Line number in the file, from 1; for a row of several lines, the first one.
    line: int
    problem: str
    row: str
    #: What to do, other than skipping the row.
    advice: str = "correct the line"


OnBadRow = str | os.PathLike[str] | Callable[[BadRow], object]


class BadRows:
    """The rows that a pass skipped: their number, and the first of them.

    ``on_bad_row`` is "error", "skip", a file that collects them as JSON Lines, or a function that is called with each.

    >>> bad = BadRows("skip")
    >>> bad.add(BadRow("mail.csv", 17, "3 cells where 2 are expected", "a,b,c"))
    >>> bad.n_rows, bad.rows[0].line
    (1, 17)
    """

    def __init__(self, on_bad_row: OnBadRow = "error") -> None:
        self.on_bad_row = _check_handler(on_bad_row)
        self.n_rows = 0
        self.rows: list[BadRow] = []
        self._file: TextIO | None = None

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[BadRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"BadRows(n_rows={self.n_rows}, rows={self.rows[:3]}{'…' if self.n_rows > 3 else ''})"

    @property
    def are_errors(self) -> bool:
        return self.on_bad_row == "error"

    def begin(self) -> None:
        """Start a pass: the file of bad rows is overwritten."""
        if isinstance(self.on_bad_row, Path):
            try:
                self._file = self.on_bad_row.open("w", encoding="utf-8")
            except OSError as error:
                raise SourceError(
                    f"cannot write bad rows to {str(self.on_bad_row)!r} ({error.strerror}); choose a file in a "
                    "writable folder"
                ) from None

    def end(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with naming(file.name):
                file.close()

    def add(self, bad: BadRow) -> None:
        if self.are_errors:
            raise SourceError(
                f"{bad.file}, line {bad.line}: {bad.problem} ({_shorten(bad.row)}); {bad.advice}, or skip such rows "
                "with on_bad_row='skip'"
            )
        self.n_rows += 1
        if len(self.rows) < _MAX_KEPT:
            self.rows.append(bad._replace(row=bad.row[:_MAX_SHOWN]))
        if self._file is not None:
            with naming(self._file.name):
                self._file.write(json.dumps(bad._asdict(), ensure_ascii=False) + "\n")
        elif callable(self.on_bad_row):
            self.on_bad_row(bad)


def _shorten(row: str) -> str:
    return repr(row if len(row) <= _MAX_SHOWN else row[:_MAX_SHOWN] + "…")


def _check_handler(on_bad_row: OnBadRow) -> str | Path | Callable[[BadRow], object]:
    if callable(on_bad_row) or on_bad_row in ("error", "skip"):
        return on_bad_row
    if isinstance(on_bad_row, os.PathLike) or (isinstance(on_bad_row, str) and Path(on_bad_row).suffix):
        return Path(on_bad_row)
    raise ParameterError(
        f"on_bad_row is {on_bad_row!r}; expected 'error', 'skip', a path to write bad rows to (such as 'bad.jsonl'), "
        "or a function that is called with each bad row"
    )


# Bytes of a batch: large enough to make the overhead per batch negligible, small enough to keep a few in memory.
BATCH_BYTES = 8 << 20
MAX_ROWS = 1 << 17
# Number of rows that DuckDB returns at once: few, because later rows may be long.
ENGINE_ROWS = 2_048


class ReadProgress:
    """One pass over the parts: its progress, and the rows that it could not read.

    ``is_preview``: whether it is only a look at first rows, which another pass will read again.
    """

    def __init__(self, bad_rows: BadRows, *, is_preview: bool = False) -> None:
        self.bad_rows = bad_rows
        self.is_preview = is_preview
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

    #: Names and types of the columns as they are read.
    schema: pa.Schema
    #: None if it is unknown without a pass.
    n_rows: int | None = None
    #: Whether each row is one text, in a column named text.
    is_texts = False
    #: Whether all cells are strings, whose types are inferred from their content.
    is_text_format = False
    #: Whether the first rows used for detection stay in memory until the pass that reads them.
    keeps_first_rows = False
    #: Temporary copies that are deleted with the part.
    temporary_files: tuple[TemporaryCopy | TemporaryFolder, ...] = ()

    def __init__(self, name: str, *paths: Path) -> None:
        #: Name used in messages.
        self.name = name
        #: Size on disk, None where unknown.
        self.n_bytes = sum(path.stat().st_size for path in paths) if paths else None

    @abstractmethod
    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows from the beginning, with at least these columns."""

    def as_types(self, schema: pa.Schema) -> Reader:
        """Return the same part with other column types, where the reader infers them."""
        return self

    def follows(self, other: Reader) -> bool:
        """Return whether this part can be read in one stream with the one before it."""
        return False

    def followed_by(self, others: Sequence[Reader]) -> Reader:
        """Return a reader of this part and of those that follow it; by default, none do."""
        return self

    def with_missing(self, missing: Sequence[str]) -> Reader:
        """Return the same part with other texts that mark missing cells, where the format has such texts."""
        return self


def rows_per_batch(row_bytes: float) -> int:
    """Return the number of rows of this size in a batch."""
    return max(1, min(MAX_ROWS, int(BATCH_BYTES / max(row_bytes, 1.0))))


_MIN_BYTES = BATCH_BYTES // 8


def rebatch(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches that are neither small nor larger than ``BATCH_BYTES``.

    A larger row is a separate batch. Large batches are not copied, which would take a third of the reading time.
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
        del batch  # not kept in memory while the next one is read
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
    # Otherwise Arrow would keep the memory used for reading, many times the batch, while the batch is processed.
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
    return pa.schema([pa.field(field.name, _plain_type(field.type), metadata=field.metadata) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        # A categorical column of numbers is categorical, too.
        return _plain_type(kind.value_type) if not _is_number(kind.value_type) else pa.string()
    if pa.types.is_decimal(kind):
        return pa.float64()
    # Null columns may contain values later; the core cannot read string views.
    return pa.string() if pa.types.is_null(kind) or str(kind) == "string_view" else kind


# How columns of a declared type are read.
_DECLARED_TYPES = {
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.timestamp("us"),
    "category": pa.string(),
    "text": pa.string(),
    "str": pa.string(),
}


def declared_field(field: pa.Field, kind: str) -> pa.Field:
    """Return a column of a declared type; dates keep their time zone."""
    kind, format = split_type(kind)
    zoned = kind == "date" and pa.types.is_timestamp(field.type) and field.type.tz is not None
    dtype = field.type if zoned else _DECLARED_TYPES[kind]
    declared = pa.field(field.name, dtype, metadata={DECIDED: b"declared", DECLARED: kind.encode()})
    return with_date_formats(declared, [format] if format else ())


def date_formats(field: pa.Field) -> tuple[str, ...]:
    """Return the formats that the dates of a column fit; none for ISO dates and for columns of another type."""
    found = (field.metadata or {}).get(DATE_FORMATS)
    return tuple(found.decode().split("\n")) if found else ()


def with_date_formats(field: pa.Field, formats: Sequence[str]) -> pa.Field:
    """Return a column whose dates fit these formats."""
    if not formats:
        return field
    return field.with_metadata({**(field.metadata or {}), DATE_FORMATS: "\n".join(formats).encode()})


def union_schema(parts: Sequence[Reader], declared: Mapping[str, str]) -> pa.Schema:
    """Return one schema for all parts: names, order and types of the first, or the types that are declared.

    A column that is empty in the first part has the type of the first part in which it is not.
    """
    first = parts[0]
    fields = {field.name: field for field in first.schema}
    formats = {field.name: date_formats(field) for field in first.schema}
    for part in parts[1:]:
        check_columns(part, first.schema, first.name)
        for field in part.schema:
            name = field.name
            if declared.get(name, "date") == "date":
                formats[name] = _common_formats(name, formats[name], date_formats(field), part.name)
            fields[name] = _common_field(fields[name], field)
    found = plain_schema(pa.schema(list(fields.values())))
    return pa.schema([_decided_field(field, declared.get(field.name), formats[field.name]) for field in found])


def _decided_field(field: pa.Field, declared: str | None, formats: tuple[str, ...]) -> pa.Field:
    if declared is None:
        return with_date_formats(field, formats)
    decided = declared_field(field, declared)
    if pa.types.is_date(field.type) and pa.types.is_timestamp(decided.type):
        decided = decided.with_type(field.type)  # without times of day
    return with_date_formats(decided, formats if declared == "date" else ())


def _common_formats(name: str, mine: tuple[str, ...], theirs: tuple[str, ...], file: str) -> tuple[str, ...]:
    """Return the formats that the dates of all parts fit."""
    both = tuple(format for format in mine if format in theirs) if mine and theirs else mine or theirs
    if (mine or theirs) and not both:
        raise SourceError(
            f"{file}: the dates of column {name!r} fit {', '.join(theirs)}, but those of the preceding files fit "
            f"{', '.join(mine)}; expected one format; write all dates in one format, such as 2024-02-29"
        )
    return both


def _common_field(mine: pa.Field, theirs: pa.Field) -> pa.Field:
    """Return a column of the first part, widened where that changes no value of it."""
    kinds = [_plain_type(field.type) for field in (mine, theirs)]
    if pa.types.is_null(mine.type):
        return theirs
    if all(map(_is_number, kinds)):
        return mine.with_type(pa.float64() if any(map(pa.types.is_floating, kinds)) else pa.int64())
    if all(map(_is_text, kinds)) and not kinds[0].equals(kinds[1]):
        return mine.with_type(pa.large_string())
    if pa.types.is_date(kinds[0]) and pa.types.is_timestamp(kinds[1]):
        return theirs
    return mine


def check_columns(part: Reader, schema: pa.Schema, first: str) -> None:
    """Check that all parts have the same columns, in any order."""
    lacking, new = set(schema.names) - set(part.schema.names), set(part.schema.names) - set(schema.names)
    if not lacking and not new:
        return
    differences = [f"is missing columns {', '.join(map(repr, sorted(lacking)))}"] if lacking else []
    differences += [f"has additional columns {', '.join(map(repr, sorted(new)))}"] if new else []
    raise SourceError(
        f"{part.name} {' and '.join(differences)}, compared with {first}; expected the same columns in all files; use "
        "the same header, or read the files separately"
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def cast_batch(
    batch: pa.RecordBatch, schema: pa.Schema, name: str, first_row: int = 0, *, to_texts: bool = False
) -> pa.RecordBatch:
    """Return the columns of a schema, in its order and types.

    Values are converted without loss, or refused: ``first_row`` is that of the batch in the part called ``name``. What
    is no text becomes one where a column is declared so, or if ``to_texts``: one value may be written in several ways.
    """
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = [_cast(batch.column(f.name), f, name, first_row, to_texts) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, field: pa.Field, name: str, first_row: int, to_texts: bool) -> pa.Array:
    if column.type.equals(field.type):
        return column
    if pa.types.is_dictionary(column.type):  # decode first: Arrow cannot take elements of string views
        return _cast(column.dictionary, field, name, first_row, to_texts=True).take(column.indices)
    # Bytes and records have a unique string form.
    plain = _is_number(column.type) or pa.types.is_boolean(column.type) or pa.types.is_temporal(column.type)
    if _is_text(field.type) and plain and not to_texts and DECLARED not in (field.metadata or {}):
        raise _refusal(column, field, name, "the same value could be written in several ways, such as '17' and '17.0'")
    try:
        converted = convert_array(column, field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise _refusal(column, field, name, str(error).partition("\n")[0]) from None
    if isinstance(converted, int):
        raise _refusal(column, field, name, f"{column[converted].as_py()!r} at row {first_row + converted}")
    return converted


def _refusal(column: pa.Array, field: pa.Field, name: str, found: str) -> SourceError:
    declared = (field.metadata or {}).get(DECLARED)
    decided = "its declared type" if declared else "the type of the preceding rows"
    return SourceError(
        f"{name}: column {field.name!r} is of type {column.type}, which cannot be converted to {field.type}, "
        f"{decided} ({found}); write it with one type in all files, or declare its type: schema={{{field.name!r}: "
        f"'number'}} or 'category' (--type {field.name}=number on the command line)"
    )


def convert_array(column: pa.Array, kind: pa.DataType) -> pa.Array | int:
    """Return a column as another type; the first row that would change its meaning, if there is one.

    >>> convert_array(pa.array(["17.0", None, "18"]), pa.float64()).to_pylist()
    [17.0, None, 18.0]
    >>> convert_array(pa.array([1, 0, 2]), pa.bool_())
    2
    """
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None and getattr(column.type, "tz", None) is None:
        local = convert_array(column, pa.timestamp(kind.unit))
        if isinstance(local, int):
            return local
        return pc.assume_timezone(local, kind.tz, ambiguous="earliest", nonexistent="earliest")
    if pa.types.is_timestamp(kind) and kind.tz is None and getattr(column.type, "tz", None) is not None:
        column = pc.local_timestamp(column)  # a cast would give UTC
    if _is_number(column.type) and pa.types.is_floating(kind):
        return column.cast(kind, safe=False)  # models read doubles
    convert = _converter(kind)
    plain = _is_text(column.type) and _is_text(kind)
    if convert is None or plain or (pa.types.is_temporal(column.type) and pa.types.is_temporal(kind)):
        return column.cast(kind)
    coded = column.dictionary_encode()
    values = [None if value is None else convert(value) for value in coded.dictionary.to_pylist()]
    for code, value in enumerate(values):
        if value is None and coded.dictionary[code].is_valid:
            return int(pc.index(coded.indices, code).as_py())
    return pa.array(values, kind).take(coded.indices)


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    if pa.types.is_boolean(kind):
        return to_boolean
    if _is_number(kind):
        return to_number if pa.types.is_floating(kind) else _to_integer
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return to_datetime if pa.types.is_timestamp(kind) else _to_day
    return to_text if _is_text(kind) else None


def _to_integer(value: Any) -> int | None:
    number = to_exact_number(value)
    return number if isinstance(number, int) and -(1 << 63) <= number < 1 << 63 else None


def _to_day(value: Any) -> date | None:
    moment = to_datetime(value)
    return moment.date() if moment is not None and moment.time() == time() else None


def schema_fingerprint(schema: pa.Schema) -> str:
    """Return a fingerprint of names and types."""
    lines = "".join(f"{field.name}\0{field.type}\n" for field in schema)
    return hashlib.sha256(lines.encode("utf-8", errors="replace")).hexdigest()[:16]
