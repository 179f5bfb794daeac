"""JSON: a record in each line, or one array of records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..exceptions import SourceError
from .bad_rows import BadRow
from .engine import call, connected, explained, first_line, identifier, literal, plain_path
from .kinds import Kind
from .lines import line_arrays
from .part import ENGINE_ROWS, Part, Reading
from .streams import HEAD_BYTES, Spool, compression_of, opened, spooled_plain, writing_to

# Records that are looked at for names and types.
_ROWS = 20_480
_SAMPLE_BYTES = 4 * HEAD_BYTES
_PLAIN = {"BIGINT": "BIGINT", "UBIGINT": "BIGINT", "HUGEINT": "DOUBLE", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN"}
_PLAIN |= {"DATE": "DATE", "TIMESTAMP": "TIMESTAMP"}
# Read as texts, and made what they are here: the engine would round 1.5 to 2, and take true for 1 and 5 for true.
_READ_AS = {"BIGINT": "VARCHAR", "DOUBLE": "VARCHAR", "BOOLEAN": "VARCHAR"}
_MADE = {
    "BIGINT": "CASE WHEN regexp_full_match({0}, '-?(0|[1-9][0-9]*)') THEN TRY_CAST({0} AS BIGINT) END",
    "DOUBLE": "TRY_CAST({0} AS DOUBLE)",
    "BOOLEAN": "CASE {0} WHEN 'true' THEN true WHEN 'false' THEN false END",
}
_ARROW = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(), "DATE": pa.date32()}
_ARROW |= {"TIMESTAMP": pa.timestamp("us"), "VARCHAR": pa.string()}


class JsonLines(Part):
    """A record in each line. A cell that is a list or a record is read as its JSON text.

    Lines are cut here and taken apart by the engine, which does not say which line of the file it could not read.
    """

    def __init__(self, path: Path, name: str, kind: Kind) -> None:
        self.name = name
        self.n_bytes = path.stat().st_size
        self._path, self._kind = path, kind
        self._types = _types_of(_first_lines(path, kind), name)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, _ARROW[kind]) for name, kind in self._types.items()])

    def as_types(self, schema: pa.Schema) -> JsonLines:
        sql = {str(arrow): name for name, arrow in _ARROW.items()}
        other = copy(self)
        other._types = {name: sql.get(str(schema.field(name).type), "VARCHAR") for name in self._types}
        return other

    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        n_before = 0
        with connected() as connection:
            for lines in line_arrays(self._path, self._kind, reading):
                rows = self._parsed(connection, lines, names)
                kept = self._kept(lines, rows, n_before, reading)
                n_before += len(lines)
                yield from (rows if kept is None else rows.filter(kept)).combine_chunks().to_batches()

    def _parsed(self, connection: Any, lines: pa.Array, names: Sequence[str]) -> pa.Table:
        table = pa.table({"line": lines})
        structure = literal(json.dumps(_read_as({name: self._types[name] for name in names})))
        cells = ", ".join(f"{self._made(name)} AS {identifier(name)}" for name in names)
        # TRY: a line that is no JSON has a record without cells, and is looked at again.
        inner = f"SELECT TRY(json_transform(line, {structure})) AS record FROM lines"
        connection.register("lines", table)
        with explained(self.name, "see that each of its lines is a record, {…}"):
            rows = connection.sql(f"SELECT {cells} FROM ({inner})").to_arrow_table()
        return rows.cast(pa.schema([self.schema.field(name) for name in names]))

    def _made(self, name: str) -> str:
        return _MADE.get(self._types[name], "{0}").format(f"record.{identifier(name)}")

    def _kept(self, lines: pa.Array, rows: pa.Table, n_before: int, reading: Reading) -> pa.Array | None:
        """Which rows stay, None if all do: blank lines and bad ones go."""
        kept = [True] * len(lines)
        for i in _with_holes(rows):
            line = lines[i].as_py()
            problem = _problem(
                line, {name: column[i].as_py() for name, column in zip(rows.column_names, rows.columns, strict=True)}
            )
            kept[i] = bool(line.strip()) and problem is None
            if problem is not None:
                reading.bad_rows.add(BadRow(self.name, n_before + i + 1, problem, line))
        return None if all(kept) else pa.array(kept)


def _with_holes(rows: pa.Table) -> list[int]:
    """Rows with a missing cell: only these may have been read wrongly."""
    holes = pc.is_null(rows.columns[0])
    for column in rows.columns[1:]:
        holes = pc.or_(holes, pc.is_null(column))
    return list(pc.indices_nonzero(holes).to_pylist())


def _problem(line: str, read: dict[str, Any]) -> str | None:
    """What is wrong with a line, None if what is missing is missing there too."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except ValueError as error:
        return f"no JSON: {error}"
    if not isinstance(record, dict):
        return "not a record, {…}"
    for name, cell in read.items():
        if cell is None and record.get(name) is not None:
            return f"{name!r} holds {record[name]!r}, which is not of the kind that the first lines hold"
    return None


class JsonArray(Part):
    """One array of records, read whole by the engine."""

    def __init__(self, path: Path, name: str, kind: Kind) -> None:
        self.name = name
        self.n_bytes = path.stat().st_size
        if not kind.is_utf8 or compression_of(path):
            self.copies = (spooled_plain(path, kind.encoding),)
        self._path = self.copies[0].path if self.copies else path
        self._types = _described(self._path, name, {"format": "array"})

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, _ARROW[kind]) for name, kind in self._types.items()])

    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        options = {"format": "array", "columns": _read_as(self._types)}
        selected = ", ".join(f"{self._made(name)} AS {identifier(name)}" for name in names)
        with connected(threads=1) as connection, explained(self.name, "correct it, or write one record in each line"):
            query = connection.sql(f"SELECT {selected} FROM {call('read_json', plain_path(self._path), options)}")
            for batch in query.to_arrow_reader(ENGINE_ROWS):
                reading.bytes_here = int(max(connection.query_progress(), 0.0) / 100 * (self.n_bytes or 0))
                yield batch

    def _made(self, name: str) -> str:
        cell, kind = identifier(name), self._types[name]
        if kind not in _MADE:
            return cell
        problem = literal(f"{name!r} is not of the kind that the first records hold in a record with ")
        refused = f"CASE WHEN {cell} IS NOT NULL THEN error({problem} || {cell}) END"
        return f"coalesce({_MADE[kind].format(cell)}, {refused})"


def _read_as(types: dict[str, str]) -> dict[str, str]:
    return {name: _READ_AS.get(kind, kind) for name, kind in types.items()}


def _first_lines(path: Path, kind: Kind) -> list[str]:
    with opened(path) as stream:
        text: str = stream.read(_SAMPLE_BYTES).decode(kind.encoding, errors="replace").removeprefix("\ufeff")
        is_all = not stream.read(1)
    lines = text.split("\n")
    return lines[:_ROWS] if is_all else lines[:-1][:_ROWS]


def _types_of(lines: list[str], name: str) -> dict[str, str]:
    records = [line for line in lines if _is_record(line)]
    if not records:
        first = next((line for line in lines if line.strip()), "")
        raise SourceError(
            f"{name} holds no records in its first lines (the first is {first[:80]!r}); a line of JSON Lines is a "
            'record such as {"text": "hello", "label": "ham"}'
        )
    spool = Spool(".jsonl")
    with writing_to(spool) as file:
        file.write(("\n".join(records) + "\n").encode("utf-8", errors="replace"))
    return _described(spool.path, name, {"format": "newline_delimited", "sample_size": -1})


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _described(path: Path, name: str, options: dict[str, Any]) -> dict[str, str]:
    """Names and types, by the engine; what has parts, or several types, is text."""
    import duckdb

    query = f"DESCRIBE SELECT * FROM {call('read_json', plain_path(path), {'records': True, **options})}"
    records = call("read_json_objects", plain_path(path), {"format": options["format"]})
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM (SELECT json FROM {records} LIMIT {_ROWS})"
    try:
        with connected() as connection:
            found = connection.execute(query).fetchall()
            _check_case([key for (key,) in connection.execute(keys).fetchall()], name)
    except duckdb.Error as error:
        raise SourceError(
            f"{name} cannot be read as JSON: {first_line(error)}; write one record in each line"
        ) from None
    return {column: _PLAIN.get(kind, "VARCHAR") for column, kind, *_ in found}


def _check_case(keys: list[str], name: str) -> None:
    """The engine takes keys that differ in case alone for one."""
    seen: dict[str, str] = {}
    for key in sorted(keys):
        other = seen.setdefault(key.lower(), key)
        if other != key:
            raise SourceError(
                f"{name} has the keys {other!r} and {key!r}, which differ in capital letters alone; give one of them "
                "another name"
            )
