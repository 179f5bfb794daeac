"""CSV and similar files, read by DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from heapq import merge
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..data.column_types import STRINGS
from ..data.containers import DECIDED
from ..data.conversion import to_boolean
from ..data.dates import ISO, as_iso, describe_format, to_date
from ..exceptions import SourceError, warn
from .csv_dialect import (
    NULL_TEXTS,
    detect_dialect,
    is_float,
    is_integer,
    parse_booleans,
    parse_dates,
    parse_integers,
)
from .csv_errors import (
    LINE_BYTES,
    MAX_SHOWN,
    describe_reject,
    find_parse_errors,
    line_numbers,
    skip_bytes,
    too_long_row,
)
from .duckdb_engine import connect, escape_glob, first_line, literal, table_function, translate_errors
from .file_formats import FileFormat, detect_encoding
from .files import HEAD_BYTES, TemporaryCopy, copy_as_utf8, detect_compression, open_decompressed
from .reader import (
    ENGINE_ROWS,
    BadRow,
    BadRows,
    Reader,
    ReadProgress,
    date_formats,
    plain_schema,
    rebatch,
    with_date_formats,
)

_SQL_TYPES = {"int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}
# All cells are read as strings, because NA marks a missing cell in a column of numbers and is a value among words.
# Numbers and ISO dates are converted by DuckDB. It would read 5-3-22 as a date in the year 5, and ignore times of day.
_IS_ISO = "substr({0}, 5, 1) = '-'"
_CONVERTED = {
    "DOUBLE": "TRY_CAST({0} AS DOUBLE)",
    "DATE": f"CASE WHEN {_IS_ISO} AND length({{0}}) <= 10 THEN TRY_CAST({{0}} AS DATE) END",
    "TIMESTAMP": f"CASE WHEN {_IS_ISO} THEN TRY_CAST({{0}} AS TIMESTAMP) END",
}
# Integers and booleans are parsed here: DuckDB would round 1.5, and read yes as true.
_CHECKS: dict[str, Callable[[str], bool]] = {
    "DOUBLE": is_float,
    "BIGINT": is_integer,
    "BOOLEAN": lambda cell: to_boolean(cell) is not None,
}
_ARROW_TYPES = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us")}
_ARROW_TYPES |= {"BOOLEAN": pa.bool_(), "NULL": pa.null()}
# How the type of a column was decided.
_DECIDED = {"BIGINT": "values look like integers", "DOUBLE": "values look like numbers"}
_DECIDED |= {"DATE": "values look like dates", "TIMESTAMP": "values look like dates with times"}
_DECIDED |= {"BOOLEAN": "values are true and false", "NULL": "no values", "VARCHAR": STRINGS}
# Bytes used to detect types and delimiters.
_SAMPLE_BYTES = 4 * HEAD_BYTES
# Size of the buffer.
_BUFFER_BYTES = 1 << 24
# After a byte, so many rows are looked at for one that is too long.
_MAX_INSPECTED = 10
# Maximum number of unreadable rows that DuckDB lists.
_MAX_REJECTS = 100_000
_REJECTED = "SELECT line_byte_position, error_type, csv_line, error_message FROM reject_errors"


class ReadAs(NamedTuple):
    """How a column is read: its type, and for dates in other formats than ISO those that they fit."""

    kind: str
    formats: tuple[str, ...] = ()

    def parse(self, texts: pa.Array) -> pa.Array:
        """Return texts converted, null where one is no value of the type."""
        if self.formats:
            return parse_dates(texts, self.formats[0])
        if self.kind == "NULL":
            return pc.if_else(_are_null_texts(texts), None, texts)
        parser = {"BIGINT": parse_integers, "BOOLEAN": parse_booleans}.get(self.kind)
        return texts if parser is None else parser(texts)

    def check(self) -> Callable[[str], bool] | None:
        """Return a test of which cells are values of the type; None if all are."""
        if self.kind in ("DATE", "TIMESTAMP"):
            longest = 10 if self.kind == "DATE" and not self.formats else MAX_SHOWN
            format = self.formats[0] if self.formats else ISO
            return lambda cell: len(cell) <= longest and to_date(cell, format) is not None
        return _CHECKS.get(self.kind)


class CsvReader(Reader):
    """A file of cells between delimiters."""

    is_text_format = True

    def __init__(self, path: Path, name: str, kind: FileFormat, missing: Sequence[str]) -> None:
        super().__init__(name, path)
        self._following: tuple[CsvReader, ...] = ()
        self._missing = tuple(missing)
        self._path = path
        self._given = path, kind
        sample = _sample(path, kind)
        if not kind.is_utf8 or detect_compression(path) in ("bz2", "xz") or _mixed_newlines(sample):
            self._use(copy_as_utf8(path, kind.encoding, one_newline=_mixed_newlines(sample)))
        if not sample.strip():
            raise SourceError(f"{name} contains only blank lines; pass a file with rows")
        self._detect(sample)

    def _detect(self, sample: str) -> None:
        self.dialect = detect_dialect(sample, self._missing)
        self._columns = tuple(map(ReadAs, self.dialect.types, self.dialect.date_formats))

    def _use(self, spool: TemporaryCopy) -> None:
        self.temporary_files, self._path = (spool,), spool.path
        self.n_bytes = spool.path.stat().st_size

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(map(_field, self.dialect.names, self._columns)))

    def as_types(self, schema: pa.Schema) -> CsvReader:
        other, dialect = copy(self), self.dialect
        fields = [schema.field(name) for name in dialect.names]
        other._columns = tuple(map(_read_as, fields, dialect.types, dialect.date_formats))
        return other

    def with_missing(self, missing: Sequence[str]) -> CsvReader:
        other = copy(self)
        other._missing = tuple(missing)
        other._detect(_sample(*self._given))
        return other

    def like(self, path: Path, name: str) -> CsvReader | None:
        """Return a reader of a small file that begins with the same line, which is a header; None if it does not.

        It has the dialect and the types of this one: ``fits`` tells whether they are right.
        """
        if self.temporary_files or not self.dialect.header or not _is_small(path):
            return None
        content = path.read_bytes()
        if content[: content.find(b"\n") + 1] != self._first_line or detect_encoding(content) != "utf-8":
            return None
        if _mixed_newlines(content.decode()):
            return None
        other = copy(self)
        other.name, other.n_bytes, other._path, other._given = name, len(content), path, (path, self._given[1])
        return other

    @cached_property
    def _first_line(self) -> bytes | None:
        """The header; None if it may be longer than a line."""
        with self._path.open("rb") as file:
            line = file.readline()
        return line if line.endswith(b"\n") and not line.count(b'"') % 2 else None

    def fits(self, others: Sequence[CsvReader]) -> bool:
        """Return whether files made by ``like`` have the dialect and the types of this one, in all their rows."""
        import duckdb

        columns = dict(zip(self.dialect.names, self._columns, strict=True))
        if any(len(column.formats) > 1 for column in self._columns):
            return False
        checked = [name for name, column in columns.items() if column.kind != "VARCHAR"]
        empty = [name for name, column in columns.items() if column.kind == "NULL"]
        progress, files = ReadProgress(BadRows()), others[0].followed_by(others[1:])
        try:
            with connect(threads=1) as connection:
                stream = files._stream(connection, progress, checked, files._options())
                return all(
                    odd is None and all(batch.column(name).null_count == len(batch) for name in empty)
                    for batch, odd in stream
                )
        except (duckdb.Error, OSError):
            return False

    def follows(self, other: Reader) -> bool:
        if not isinstance(other, CsvReader) or detect_compression(self._path) or not _is_small(self._path):
            return False
        mine, theirs = (
            (reader._columns, reader._missing, reader.dialect.quoting, reader.dialect.header, reader.dialect.names)
            for reader in (self, other)
        )
        return mine == theirs and not detect_compression(other._path)

    def followed_by(self, others: Sequence[Reader]) -> CsvReader:
        whole = copy(self)
        whole._following = tuple(other for other in others if isinstance(other, CsvReader))
        whole.n_bytes = sum(reader.n_bytes or 0 for reader in (self, *whole._following))
        return whole

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if not progress.is_preview:
            self._check_formats(names)
        with connect(threads=1) as connection:
            if progress.bad_rows.are_errors:
                yield from self._strictly(connection, progress, names)
            else:
                yield from self._leniently(connection, progress, names)

    def _check_formats(self, names: Sequence[str]) -> None:
        """Raise an error if dates fit several formats."""
        for name, column in zip(self.dialect.names, self._columns, strict=True):
            if len(column.formats) > 1 and name in names:
                raise SourceError(
                    f"{self.name}: the dates of column {name!r} fit several formats ({', '.join(column.formats)}); "
                    f"expected one; declare the right one, such as schema={{{name!r}: 'date:{column.formats[-1]}'}} "
                    f"(--type '{name}=date:{column.formats[-1]}'), or 'category' if they are no dates, or write ISO "
                    "dates such as 2024-02-29"
                )

    def _strictly(self, connection: Any, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import duckdb

        try:
            for batch, odd in self._stream(connection, progress, names, self._options()):
                if odd is not None:
                    for reader in (self, *self._following):
                        _add_all(progress, reader._odd_rows(names))
                    raise SourceError(
                        f"{self.name} contains a value that is not of the type of its column; skip such rows with "
                        "on_bad_row='skip'"
                    )
                yield batch
        except (duckdb.Error, OSError) as error:
            for reader in (self, *self._following):
                _add_all(progress, reader._first_bad(names))
            raise SourceError(
                f"{self.name} cannot be read as CSV: {first_line(error)}; check its line endings and quotes"
            ) from None

    def _leniently(self, connection: Any, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        found_odd = False
        for batch, odd in self._stream(connection, progress, names, self._options(rejects=True)):
            found_odd |= odd is not None
            yield batch if odd is None else batch.filter(pc.invert(odd))
        odd_rows = self._odd_rows(names) if found_odd else iter(())
        by_line = attrgetter("line")
        together = merge(self._rejected(connection), odd_rows, key=by_line)
        _add_all(progress, (next(same) for _, same in groupby(together, by_line)))  # a row may have several faults

    def _first_bad(self, names: Sequence[str]) -> list[BadRow]:
        """Return the first bad rows with their lines, which the engine does not report."""
        alone = self.followed_by(())
        with connect(threads=1) as connection, translate_errors(self.name, "check its quotes"):
            for _ in alone._read(connection, names, self._options(rejects=True)):
                pass
            return self._rejected(connection)

    def _odd_rows(self, names: Sequence[str]) -> Iterator[BadRow]:
        read = [column.check() if name in names else None
                for name, column in zip(self.dialect.names, self._columns, strict=True)]  # fmt: skip
        checks = {j: check for j, check in enumerate(read) if check is not None}
        missing = {"", *self._missing, *NULL_TEXTS}
        for odd in find_parse_errors(self._path, self.dialect, checks, missing, LINE_BYTES):
            name, column = self.dialect.names[odd.column], self._columns[odd.column]
            yield BadRow(self.name, odd.line, *_wrong_type(name, odd.cell, column, odd.row))

    def _stream(
        self, connection: Any, progress: ReadProgress, names: Sequence[str], options: dict[str, Any]
    ) -> Iterator[tuple[pa.RecordBatch, pa.Array | None]]:
        """Yield batches, and which rows have a cell of another type; None if there are none."""
        for cells in rebatch(self._read(connection, names, options)):
            progress.bytes_current = int(max(connection.query_progress(), 0.0) / 100 * (self.n_bytes or 0))
            schema = plain_schema(pa.schema([self.schema.field(name) for name in names]))
            yield _parse_columns(cells, [self._columns[self.dialect.names.index(name)] for name in names], schema)

    def _read(self, connection: Any, names: Sequence[str], options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        """Yield cells, and in the last column whether one was not converted."""
        selected, possible, odd = [], ["false"], ["false"]
        for j in map(self.dialect.names.index, names):
            # By position: DuckDB ignores case in names.
            cell, column = f"c{j}", self._columns[j]
            converted = None if column.formats else _CONVERTED.get(column.kind)
            selected.append(cell if converted is None else f"{converted.format(cell)} AS {cell}")
            if converted is not None:
                possible.append(f"({converted.format(cell)} IS NULL AND {cell} IS NOT NULL)")
                odd.append(f"({possible[-1]} AND NOT list_contains({literal(NULL_TEXTS)}, {cell}))")
        # The first condition is there for speed: few rows have such cells.
        is_odd = f"CASE WHEN {' OR '.join(possible)} THEN {' OR '.join(odd)} ELSE false END"
        paths = [escape_glob(reader._path) for reader in (self, *self._following)]
        files = table_function("read_csv", paths, options)
        query = connection.sql(f"SELECT {', '.join(selected)}, {is_odd} AS odd FROM {files}")
        return iter(query.to_arrow_reader(ENGINE_ROWS))

    def _options(self, rejects: bool = False) -> dict[str, Any]:
        quoting, dialect = self.dialect.quoting, self.dialect
        options = {
            "auto_detect": False,
            "delim": quoting.delimiter,
            "quote": quoting.quote,
            "escape": quoting.escape,
            "header": dialect.header,
            "comment": "",
            "columns": {f"c{j}": "VARCHAR" for j in range(len(dialect.names))},
            "nullstr": ["", *self._missing],
            "max_line_size": LINE_BYTES,
            "buffer_size": _BUFFER_BYTES,
            "compression": detect_compression(self._path) or "none",
        }
        return options | ({"store_rejects": True, "rejects_limit": _MAX_REJECTS} if rejects else {})

    def _rejected(self, connection: Any) -> list[BadRow]:
        found = connection.execute(
            f"{_REJECTED} ORDER BY line_byte_position, column_name LIMIT {_MAX_REJECTS}"
        ).fetchall()
        first = {row[0]: row for row in reversed(found)}  # a row may have several faults
        positions = sorted(first)
        unquoted = next((at for at in positions if first[at][1] == "UNQUOTED VALUE"), None)
        huge = None if unquoted is None else self._huge_row(unquoted)
        if huge is None and len(found) == _MAX_REJECTS:
            warn(
                f"{self.name} has {_MAX_REJECTS:,} or more rows that cannot be read; only the first {_MAX_REJECTS:,} "
                "are listed"
            )
        rows = self._bad_rows(first)
        if huge is not None and unquoted is not None:
            # If such a row crosses the end of a buffer, DuckDB reports an unclosed quote.
            rows[positions.index(unquoted)] = huge
        return rows

    def _huge_row(self, start: int) -> BadRow | None:
        """Return the first overlong row from a byte on."""
        with open_decompressed(self._path) as stream:
            # The reported position may be within the row: at its quote, or after it.
            before = skip_bytes(stream, start)
            text: str = (before + stream.read(2 * LINE_BYTES + _BUFFER_BYTES)).decode(errors="replace")
        line = line_numbers(self._path, [start - len(before)])[0]
        line, text = line + len(text) - len(text.lstrip("\n")), text.lstrip("\r\n")
        for row in self.dialect.quoting.texts(text, _MAX_INSPECTED):
            if len(row.encode()) > LINE_BYTES:
                return BadRow(self.name, line, *too_long_row(row))
            line += row.count("\n") or row.count("\r")
        return None

    def _bad_rows(self, first: dict[int, tuple[Any, ...]]) -> list[BadRow]:
        """Return the bad rows that the engine reports by byte."""
        positions = sorted(first)
        # Where lines end with \r\n, the engine may begin a row with the \n of the line before.
        starts = [at + len(line) - len(line.lstrip("\r\n")) for at in positions for line in [first[at][2] or ""]]
        lines = line_numbers(self._path, starts)
        return [self._bad_row(first[at], line) for at, line in zip(positions, lines, strict=True)]

    def _bad_row(self, rejected: tuple[Any, ...], line: int) -> BadRow:
        _, error, text, message = rejected
        problem, advice = describe_reject(error, message)
        return BadRow(self.name, line, problem, (text or "").strip("\r\n"), advice)


def _add_all(progress: ReadProgress, rows: Iterable[BadRow]) -> None:
    for bad in rows:
        progress.bad_rows.add(bad)


def _field(name: str, column: ReadAs) -> pa.Field:
    kind, decided = _ARROW_TYPES.get(column.kind, pa.string()), _DECIDED[column.kind]
    return with_date_formats(pa.field(name, kind, metadata={DECIDED: decided.encode()}), column.formats)


def _read_as(field: pa.Field, kind: str, formats: tuple[str, ...]) -> ReadAs:
    """Return how a column is read that is to have an Arrow type, and looks like another."""
    if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
        if kind in ("DATE", "TIMESTAMP") and not formats:
            return ReadAs(kind)
        return ReadAs("TIMESTAMP", date_formats(field) or (ISO,))
    if kind == "NULL" and field.metadata and field.metadata.get(DECIDED) == _DECIDED[kind].encode():
        return ReadAs(kind)
    return ReadAs(_SQL_TYPES.get(str(field.type), "VARCHAR"))


def _are_null_texts(texts: pa.Array) -> pa.Array:
    return pc.is_in(texts, value_set=pa.array(NULL_TEXTS, texts.type))


def _parse_columns(
    cells: pa.RecordBatch, read_as: Sequence[ReadAs], schema: pa.Schema
) -> tuple[pa.RecordBatch, pa.Array | None]:
    """Convert texts to their types; also return which rows have a cell that is not of its type."""
    *columns, odd = cells.columns
    for j, (texts, column) in enumerate(zip(columns, read_as, strict=True)):
        columns[j] = column.parse(texts)
        if columns[j].null_count > texts.null_count:
            here = pc.and_(pc.is_null(columns[j]), pc.invert(pc.or_kleene(pc.is_null(texts), _are_null_texts(texts))))
            odd = pc.or_(odd, here)
    typed = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(typed, schema=schema), odd if odd.true_count else None


def _declare(column: str, kind: str) -> str:
    """Return the advice to declare a type."""
    return f"declare the type (schema={{{column!r}: {kind!r}}}, --type {column}={kind})"


def _wrong_type(column: str, cell: str, read: ReadAs, row: str) -> tuple[str, str, str]:
    """Return what is wrong with a row, the row, and what to do."""
    kind, advice = read.kind, f"pass missing=[{cell!r}] (--missing {cell!r}) if it means a missing value"
    if read.formats:
        return (
            f"column {column!r} contains {cell!r}, but it is a column of dates in {describe_format(read.formats[0])}",
            row,
            f"write ISO dates such as {as_iso(cell)}, or declare the format of this file, as in candide.read(…, "
            f"schema={{{column!r}: 'date:%m/%d/%Y'}}), or {advice}",
        )
    names = {"DATE": "dates", "TIMESTAMP": "dates and times", "BIGINT": "integers", "BOOLEAN": "booleans"}
    if kind == "BIGINT" and any(map(str.isdigit, cell)):
        advice = "write a number like this one in the first rows, from which the type of the column is detected"
    advice = f"correct it, {_declare(column, 'category')}, or {advice}"
    return (
        f"column {column!r} contains {cell!r}, but the preceding rows contain {names.get(kind, 'numbers')}",
        row,
        advice,
    )


def _is_small(path: Path) -> bool:
    """Return whether all rows of a file are looked at to detect types."""
    return path.stat().st_size <= _SAMPLE_BYTES


def _sample(path: Path, kind: FileFormat) -> str:
    """Return the first complete lines."""
    with open_decompressed(path) as stream:
        head = stream.read(_SAMPLE_BYTES)
        is_all = not stream.read(1)
    text: str = head.decode(kind.encoding, errors="replace").removeprefix("\ufeff")
    if is_all:
        return text
    end = max(text.rfind("\n"), text.rfind("\r"))
    return text if end < 0 else text[: end + 1]


def _mixed_newlines(text: str) -> bool:
    """Return whether line ends \\r\\n and \\n are mixed outside of quotes, which the engine does not accept."""
    if "\r\n" not in text:
        return False
    outside = "".join(text.split('"')[::2])
    return 0 < outside.count("\r\n") < outside.count("\n")
