"""Tables and queries of databases, and SQL on files."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ..data.containers import DECIDED
from ..data.conversion import is_date_text, to_number, to_text
from ..exceptions import SourceError
from .duckdb_engine import check_query, connect, identifier, literal, translate_errors
from .files import not_found_error
from .reader import ENGINE_ROWS, BadRows, Reader, ReadProgress, cast_batch

_URI = re.compile(r"(sqlite|duckdb|postgres(?:ql)?):(.*?)(?:\?table=([^&]+))?$", re.DOTALL)
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
_ENGINE_TABLES = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source'"
# Number of rows used to detect column kinds, and fetched at a time.
_TYPE_ROWS = 10_000
_FETCH_ROWS = 1_000
# DuckDB extensions are never downloaded automatically.
_OPEN_ADVICE = (
    "check the address, and that the database is running; for PostgreSQL, DuckDB needs its extension; install it once "
    "with python -c \"import duckdb; duckdb.sql('INSTALL postgres')\""
)
_QUERY_ADVICE = "check the table and column names"


def is_database_uri(path: str) -> bool:
    """Return whether a source is a database URI, such as sqlite:shop.db?table=orders."""
    return _URI.match(path) is not None


class DatabaseUri(NamedTuple):
    """The address of a database."""

    kind: str  # sqlite, duckdb, postgres or postgresql
    place: str
    table: str | None


def parse_database_uri(text: str) -> DatabaseUri:
    """Parse an address; a file must exist."""
    found = _URI.match(text)
    assert found is not None
    address = DatabaseUri(*found.groups())
    if address.kind in ("sqlite", "duckdb") and not Path(address.place).is_file():
        raise not_found_error(address.place)
    return address


def open_database(address: str, sql: str | None, extensions: bool = False) -> Reader:
    """Return the rows of a table or a query; ``extensions``: whether the engine may install missing extensions."""
    kind, place, table = parse_database_uri(address)
    if kind == "sqlite":
        return SqliteQuery(place, sql or _select(table or _only_table(SqliteQuery(place, _SQLITE_TABLES))))
    attach = _attach(kind, place)
    name = f"{kind}:{place}" if kind == "duckdb" else kind  # an address may hold a password
    query = sql or _select(table or _only_table(DuckDBQuery(name, _ENGINE_TABLES, attach, extensions)))
    return DuckDBQuery(name, query, attach, extensions)


def _attach(kind: str, place: str) -> str:
    if kind == "duckdb":
        return f"ATTACH {literal(place)} AS source (READ_ONLY)"
    address = f"postgresql:{place}" if place.startswith("//") else place
    return f"ATTACH {literal(address)} AS source (TYPE postgres, READ_ONLY)"


def _select(table: str) -> str:
    return f"SELECT * FROM {identifier(table)}"


def _only_table(listing: Reader) -> str:
    batches = listing.batches(ReadProgress(BadRows()), listing.schema.names)
    tables = sorted(name for batch in batches for name in batch.column(0).to_pylist())
    if len(tables) == 1:
        return str(tables[0])
    raise SourceError(
        f"{listing.name} has {len(tables)} tables ({', '.join(tables[:10])}); choose one by appending "
        f"?table={tables[0] if tables else 'name'}, or pass sql='SELECT …'"
    )


class DuckDBQuery(Reader):
    """A query to the embedded engine: on files, or on a database that it can attach."""

    def __init__(self, name: str, sql: str, attach: str | None = None, extensions: bool = False) -> None:
        super().__init__(name)
        self._sql, self._attach, self._extensions = sql.strip().rstrip(";"), attach, extensions
        with self._connected() as connection:
            check_query(connection, self._sql)
            self.schema = connection.sql(f"SELECT * FROM ({self._sql}) LIMIT 0").to_arrow_table().schema

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        with connect(memory_limit="1GB", extensions=self._extensions) as connection:
            if self._attach:
                with translate_errors(f"{self.name} cannot be opened", _OPEN_ADVICE):
                    connection.execute(self._attach)
                    connection.execute("USE source")
            with translate_errors(f"the query {self._sql!r} failed", _QUERY_ADVICE):
                yield connection

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._connected() as connection:
            yield from connection.sql(self._sql).to_arrow_reader(ENGINE_ROWS)


class SqliteQuery(Reader):
    """A query to SQLite, by the standard library. The type of a column is that of its first rows."""

    def __init__(self, path: str, sql: str) -> None:
        super().__init__(f"sqlite:{path}")
        self._path, self._sql = path, sql
        with self._cursor() as cursor:
            self.schema = _with_dates(_to_table(cursor, cursor.fetchmany(_TYPE_ROWS)))

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        try:
            with closing(sqlite3.connect(f"{Path(self._path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
                connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
                yield connection.execute(self._sql)
        except sqlite3.Error as error:
            raise SourceError(f"{self.name}: the query {self._sql!r} failed: {error}; {_QUERY_ADVICE}") from None

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        n_rows = 0
        with self._cursor() as cursor:
            while rows := cursor.fetchmany(_FETCH_ROWS):
                for batch in _to_table(cursor, rows).to_batches():
                    yield cast_batch(batch, self.schema, self.name, n_rows, to_texts=True)
                n_rows += len(rows)


def _to_table(cursor: sqlite3.Cursor, rows: list[tuple[Any, ...]]) -> pa.Table:
    names = [column[0] for column in cursor.description]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table([_to_array(list(cells)) for cells in columns], names=names)


def _with_dates(table: pa.Table) -> pa.Schema:
    """Return names and types of columns. SQLite has no dates: texts in ISO format are taken for them."""
    return pa.schema([_with_date(field, table.column(field.name)) for field in table.schema])


def _with_date(field: pa.Field, column: pa.ChunkedArray) -> pa.Field:
    texts = column.unique().to_pylist() if pa.types.is_string(field.type) else []
    if not any(texts) or not all(text is None or is_date_text(text) for text in texts):
        return field
    return pa.field(field.name, pa.timestamp("us"), metadata={DECIDED: b"values look like dates"})


def _to_array(cells: list[Any]) -> pa.Array:
    """Return cells of one type; numbers and texts in one column, which SQLite allows, become texts.

    If all texts are numbers, they become numbers.
    """
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        numbers = [None if cell is None else to_number(cell) for cell in cells]
        if numbers.count(None) == cells.count(None):
            return pa.array(numbers, pa.float64())
        return pa.array([None if cell is None else to_text(cell) or str(cell) for cell in cells], pa.string())
