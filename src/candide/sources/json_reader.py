"""JSON Lines, and JSON files that contain one array of records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..exceptions import SourceError
from .duckdb_engine import connect, escape_glob, first_line, identifier, literal, table_function, translate_errors
from .file_formats import FileFormat
from .files import HEAD_BYTES, TemporaryCopy, copy_as_utf8, detect_compression, open_decompressed, open_for_writing
from .reader import ENGINE_ROWS, BadRow, Reader, ReadProgress, plain_schema
from .text_files import line_arrays

# Number of records used to detect names and types.
_TYPE_ROWS = 20_480
_SAMPLE_BYTES = 4 * HEAD_BYTES
_PLAIN_TYPES = {"BIGINT": "BIGINT", "UBIGINT": "BIGINT", "HUGEINT": "DOUBLE", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN"}
_PLAIN_TYPES |= {"DATE": "DATE", "TIMESTAMP": "TIMESTAMP", '"NULL"': "NULL"}
# Read as strings and converted here: DuckDB would round 1.5 to 2, and read true as 1 and 5 as true.
_READ_AS = {"BIGINT": "VARCHAR", "DOUBLE": "VARCHAR", "BOOLEAN": "VARCHAR", "NULL": "VARCHAR"}
_CASTS = {
    "BIGINT": "CASE WHEN regexp_full_match({0}, '-?(0|[1-9][0-9]*)') THEN TRY_CAST({0} AS BIGINT) END",
    "DOUBLE": "TRY_CAST({0} AS DOUBLE)",
    "BOOLEAN": "CASE {0} WHEN 'true' THEN true WHEN 'false' THEN false END",
}
_ARROW_TYPES = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(), "DATE": pa.date32()}
_ARROW_TYPES |= {"TIMESTAMP": pa.timestamp("us"), "VARCHAR": pa.string(), "NULL": pa.null()}


class JsonLinesReader(Reader):
    """A record in each line. A cell that is a list or a record is read as its JSON text.

    Lines are cut here and taken apart by the engine, which does not say which line of the file it could not read.
    """

    def __init__(self, path: Path, name: str, kind: FileFormat) -> None:
        super().__init__(name, path)
        self._path, self._kind = path, kind
        self._types = _detect_types(_first_lines(path, kind), name)

    @property
    def schema(self) -> pa.Schema:
        return _schema(self._types)

    def as_types(self, schema: pa.Schema) -> JsonLinesReader:
        sql = {str(arrow): name for name, arrow in _ARROW_TYPES.items()}
        other = copy(self)
        found = {name: sql.get(str(schema.field(name).type), "VARCHAR") for name in self._types}
        # The text of a number would depend on how it is written.
        texts = {name for name, kind in found.items() if kind == "VARCHAR" and self._types[name] != "NULL"}
        other._types = found | {name: self._types[name] for name in texts}
        return other

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        n_before = 0
        with connect() as connection:
            for lines in line_arrays(self._path, self._kind, progress):
                rows = self._parsed(connection, lines, names)
                kept = self._kept(lines, rows, n_before, progress)
                n_before += len(lines)
                yield from (rows if kept is None else rows.filter(kept)).combine_chunks().to_batches()

    def _parsed(self, connection: Any, lines: pa.Array, names: Sequence[str]) -> pa.Table:
        table = pa.table({"line": lines})
        structure = literal(json.dumps(_read_as({name: self._types[name] for name in names})))
        cells = ", ".join(f"{self._made(name)} AS {identifier(name)}" for name in names)
        # TRY: a line that is not JSON becomes a record without cells, and is checked again.
        inner = f"SELECT TRY(json_transform(line, {structure})) AS record FROM lines"
        connection.register("lines", table)
        with translate_errors(self.name, "expected one record, {…}, per line"):
            rows = connection.sql(f"SELECT {cells} FROM ({inner})").to_arrow_table()
        return rows.cast(plain_schema(pa.schema([self.schema.field(name) for name in names])))

    def _made(self, name: str) -> str:
        return _CASTS.get(self._types[name], "{0}").format(f"record.{identifier(name)}")

    def _kept(self, lines: pa.Array, rows: pa.Table, n_before: int, progress: ReadProgress) -> pa.Array | None:
        """Return which rows are kept, without blank and bad lines; None if all are."""
        kept = [True] * len(lines)
        for i in _rows_with_nulls(rows):
            line = lines[i].as_py()
            problem = _find_problem(
                line, {name: column[i].as_py() for name, column in zip(rows.column_names, rows.columns, strict=True)}
            )
            kept[i] = bool(line.strip()) and problem is None
            if problem is not None:
                progress.bad_rows.add(BadRow(self.name, n_before + i + 1, problem, line))
        return None if all(kept) else pa.array(kept)


def _rows_with_nulls(rows: pa.Table) -> list[int]:
    """Return the rows with a missing cell: only these may have been misread."""
    missing = pc.is_null(rows.columns[0])
    for column in rows.columns[1:]:
        missing = pc.or_(missing, pc.is_null(column))
    return list(pc.indices_nonzero(missing).to_pylist())


def _find_problem(line: str, read: dict[str, Any]) -> str | None:
    """Return what is wrong with a line, None if its cells are missing in the file too."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except ValueError as error:
        return f"invalid JSON: {error}"
    if not isinstance(record, dict):
        return "not a record, {…}"
    for name, cell in read.items():
        if cell is None and record.get(name) is not None:
            return f"{name!r} contains {record[name]!r}, whose type differs from the first lines"
    return None


class JsonArrayReader(Reader):
    """A file with one array of records, read as a whole by the engine."""

    def __init__(self, path: Path, name: str, kind: FileFormat) -> None:
        super().__init__(name, path)
        if not kind.is_utf8 or detect_compression(path):
            self.temporary_files = (copy_as_utf8(path, kind.encoding),)
        self._path = self.temporary_files[0].path if self.temporary_files else path
        self._types = _describe_columns(self._path, name, {"format": "array"})
        self.schema = _schema(self._types)

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        options = {"format": "array", "columns": _read_as(self._types)}
        selected = ", ".join(f"{self._made(name)} AS {identifier(name)}" for name in names)
        with (
            connect(threads=1) as connection,
            translate_errors(self.name, "correct it, or write one record per line"),
        ):
            query = connection.sql(
                f"SELECT {selected} FROM {table_function('read_json', escape_glob(self._path), options)}"
            )
            for batch in query.to_arrow_reader(ENGINE_ROWS):
                progress.bytes_current = int(max(connection.query_progress(), 0.0) / 100 * (self.n_bytes or 0))
                yield batch

    def _made(self, name: str) -> str:
        cell, kind = identifier(name), self._types[name]
        if kind not in _CASTS:
            return cell
        problem = literal(f"{name!r} has a type that differs from the first records in a record with ")
        refused = f"CASE WHEN {cell} IS NOT NULL THEN error({problem} || {cell}) END"
        return f"coalesce({_CASTS[kind].format(cell)}, {refused})"


def _schema(types: dict[str, str]) -> pa.Schema:
    return pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in types.items()])


def _read_as(types: dict[str, str]) -> dict[str, str]:
    return {name: _READ_AS.get(kind, kind) for name, kind in types.items()}


def _first_lines(path: Path, kind: FileFormat) -> list[str]:
    with open_decompressed(path) as stream:
        text: str = stream.read(_SAMPLE_BYTES).decode(kind.encoding, errors="replace").removeprefix("\ufeff")
        is_all = not stream.read(1)
    lines = text.split("\n")
    return lines[:_TYPE_ROWS] if is_all else lines[:-1][:_TYPE_ROWS]


def _detect_types(lines: list[str], name: str) -> dict[str, str]:
    records = [line for line in lines if _is_record(line)]
    if not records:
        first = next((line for line in lines if line.strip()), "")
        raise SourceError(
            f"{name} contains no records in its first lines (the first is {first[:80]!r}); expected one record per "
            'line, such as {"text": "hello", "label": "ham"}'
        )
    spool = TemporaryCopy(".jsonl")
    with open_for_writing(spool) as file:
        file.write(("\n".join(records) + "\n").encode("utf-8", errors="replace"))
    return _describe_columns(spool.path, name, {"format": "newline_delimited", "sample_size": -1})


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _describe_columns(path: Path, name: str, options: dict[str, Any]) -> dict[str, str]:
    """Return names and types by the engine; nested or mixed columns are text."""
    import duckdb

    rows = table_function("read_json", escape_glob(path), {"records": True, **options})
    records = table_function("read_json_objects", escape_glob(path), {"format": options["format"]})
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM (SELECT json FROM {records} LIMIT {_TYPE_ROWS})"
    try:
        with connect() as connection:
            found = connection.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()
            _check_case([key for (key,) in connection.execute(keys).fetchall()], name)
    except duckdb.Error as error:
        raise SourceError(f"{name} cannot be read as JSON: {first_line(error)}; write one record per line") from None
    return {column: _PLAIN_TYPES.get(kind, "VARCHAR") for column, kind, *_ in found}


def _check_case(keys: list[str], name: str) -> None:
    """Raise an error for keys that differ only in case, which the engine would merge."""
    seen: dict[str, str] = {}
    for key in sorted(keys):
        other = seen.setdefault(key.lower(), key)
        if other != key:
            raise SourceError(
                f"{name} has the keys {other!r} and {key!r}, which differ only in case; rename one of them"
            )
