"""Database connections: the common interface, and the SQL of DuckDB, MySQL, PostgreSQL and SQLite."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import datetime
from importlib import import_module
from types import NoneType
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ...data.conversion import is_date_text, to_datetime
from ...exceptions import CandideError, SourceError
from ..duckdb_engine import EXTENSIONS_ADVICE, check_query, first_line, needs_extension
from ..reader import cast_batch
from .postgres_copy import can_copy, copy_rows

# Maximum number of characters of a query shown in an error.
_SHOWN = 500
_ADVICE = "check the names in the query and your permissions"


class Database(ABC):
    """A connection, and its SQL dialect."""

    #: Name of the type for doubles.
    double: ClassVar[str]
    #: Whether the database can compute sums faster than it returns rows.
    counts: ClassVar[bool] = True
    #: Name of the collation that compares strings by their bytes.
    bytewise: ClassVar[str] = '"C"'
    #: The character around names.
    quote: ClassVar[str] = '"'

    @abstractmethod
    def schema(self, source: str) -> pa.Schema:
        """Return the names and types of the columns of a FROM clause."""

    @abstractmethod
    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in batches; ``many``: whether they are too many to fetch at once."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context in which all queries see the same rows; it leaves the connection as it was."""
        return nullcontext()

    def cell(self, column: str, kind: pa.DataType) -> str:
        """Return the SQL by which a column is fetched and grouped."""
        return column if not _is_text(kind) else f"CAST({column} AS TEXT) COLLATE {self.bytewise}"

    def number(self, column: str, kind: pa.DataType) -> str:
        """Return SQL for a column of numbers or booleans as doubles, without NaN."""
        return f"NULLIF(CAST({column} AS {self.double}), {self.literal(float('nan'))})"

    def literal(self, number: float) -> str:
        """Return SQL for a double."""
        return f"CAST('{number!r}' AS {self.double})"

    def quoted(self, name: str) -> str:
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@contextmanager
def explained(sql: str | None) -> Iterator[None]:
    """Turn driver errors into a ``SourceError`` with the query, or None while the connection is being opened."""
    try:
        yield
    except CandideError:
        raise
    except Exception as error:
        message = f"the database reported an error: {first_line(error)}"
        if sql is None:
            raise SourceError(f"{message}; check the address and your permissions") from error
        shown = sql if len(sql) <= _SHOWN else f"{sql[:_SHOWN]}…"
        advice = EXTENSIONS_ADVICE if needs_extension(error) else _ADVICE
        raise SourceError(f"{message}; the query was {shown!r}; {advice}") from error


class UnexpectedTypeError(SourceError):
    """A cell is not of the type of its column."""


# Number of rows fetched at once.
_FETCHED = 2_000


def _fetched(cursor: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a cursor in batches."""
    are_numbers = all(map(_is_number, schema.types))
    while rows := cursor.fetchmany(_FETCHED):
        # One array of all rows is made twice as fast as an array of each column.
        table = np.array(rows) if are_numbers else None
        are_numbers = table is not None and table.dtype.kind in "fi"
        if table is None or not are_numbers:
            columns = zip(*rows, strict=True)
            arrays = [_to_array(cells, field) for cells, field in zip(columns, schema, strict=True)]
        else:
            table = np.ascontiguousarray(table.T, dtype=np.float64)
            arrays = [_of_numbers(table, rows, j, field) for j, field in enumerate(schema)]
        yield pa.record_batch(arrays, schema=schema)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _of_numbers(table: Any, rows: list[tuple[Any, ...]], j: int, field: pa.Field) -> pa.Array:
    """Return a column of rows that contain numbers alone."""
    if pa.types.is_floating(field.type):
        return pa.array(table[j], field.type)
    return _to_array(tuple([row[j] for row in rows]), field)


def _to_array(cells: tuple[Any, ...], field: pa.Field) -> pa.Array:
    try:
        # Arrow takes 1.5 for the integer 1.
        if not pa.types.is_integer(field.type) or set(map(type, cells)) <= {int, NoneType}:
            return pa.array(cells, field.type)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass  # converted below, if that is possible
    try:
        return pa.array(_plain(cells, field.type), field.type)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise UnexpectedTypeError(
            f"column {field.name!r} contains values that are not of type {field.type} ({first_line(error)}); convert "
            f"them in the query, to text or to doubles: SELECT CAST({field.name} AS …), …"
        ) from None


def _plain(cells: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    """Return decimals as doubles, date strings as dates, and cells of text columns as strings; Arrow does not."""
    found = {type(cell) for cell in cells} - {NoneType}
    if (pa.types.is_integer(kind) and found != {int}) or (pa.types.is_floating(kind) and found & {str, bytes}):
        raise TypeError(f"found {', '.join(sorted(each.__name__ for each in found))}")
    if pa.types.is_floating(kind):
        return [None if cell is None else float(cell) for cell in cells]
    if pa.types.is_string(kind):
        return [cell if cell is None or isinstance(cell, (str, bytes)) else str(cell) for cell in cells]
    if pa.types.is_timestamp(kind):
        return [_moment(cell) if isinstance(cell, str) else cell for cell in cells]
    return cells


def _moment(text: str) -> datetime:
    moment = to_datetime(text)
    if moment is None:
        raise ValueError(f"{text!r} is not a date in ISO format")
    return moment


# Name of a relation in queries.
ROWS = "candide_rows"
# Maximum number of rows per batch: later rows may be long.
_BATCH_ROWS = 1 << 13


class DuckDB(Database):
    """A connection or a relation of DuckDB."""

    double: ClassVar[str] = "DOUBLE"

    def __init__(self, connection: Any, relation: Any = None) -> None:
        self._connection, self._relation = connection, relation
        self._reader: Any = None  # of the last query

    def schema(self, source: str) -> pa.Schema:
        sql = f"SELECT * FROM {source} AS t LIMIT 0"
        with explained(sql):
            if self._connection is not None:
                check_query(self._connection, sql)
            return self._run(sql).to_arrow_table().schema

    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        with explained(sql):
            self._reader = self._run(sql).to_arrow_reader(_BATCH_ROWS)
            for batch in self._reader:
                yield cast_batch(batch, schema, "the database")

    def _run(self, sql: str) -> Any:
        return self._connection.sql(sql) if self._relation is None else self._relation.query(ROWS, sql)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        # A second BEGIN would end the transaction that the user has opened.
        is_first = self._connection is not None and not self._is_within_transaction()
        if is_first:
            self._connection.begin()
        try:
            yield
        finally:
            if self._reader is not None:
                self._reader.close()  # after an error; no other query can run while it is open
            if is_first:
                self._connection.rollback()

    def _is_within_transaction(self) -> bool:
        """Return whether two queries are in one transaction."""
        one, other = (self._connection.sql("SELECT txid_current()").fetchall() for _ in range(2))
        return bool(one == other)


# Types by their OIDs, which are the same in every PostgreSQL; all other types are fetched as strings.
_POSTGRES_TYPES = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1083: pa.time64("us"),
    1114: pa.timestamp("us"),
    1186: pa.duration("us"),
    1700: pa.float64(),
}
_MOMENT = 1184
_IDLE = 0


class Postgres(Database):
    """A connection to PostgreSQL."""

    double: ClassVar[str] = "DOUBLE PRECISION"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._info = getattr(connection, "info", None)  # of psycopg 2 and 3

    def schema(self, source: str) -> pa.Schema:
        cursor = self._cursor(f"SELECT * FROM {source} AS t LIMIT 0", many=False)
        return pa.schema([(column[0], self._type(column[1])) for column in cursor.description])

    def _type(self, number: int) -> pa.DataType:
        if number == _MOMENT:
            return pa.timestamp("us", tz=str(getattr(self._info, "timezone", "UTC")))
        return _POSTGRES_TYPES.get(number, pa.string())

    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        with explained(sql):
            with closing(self._connection.cursor()) as cursor:
                if many and can_copy(self._connection, cursor, schema):
                    yield from copy_rows(cursor, sql, schema)
                    return
            with closing(self._cursor(sql, many=many)) as cursor:
                yield from _fetched(cursor, schema)

    def _cursor(self, sql: str, *, many: bool) -> Any:
        # With a named cursor, rows stay on the server until they are fetched, and one process runs the query.
        cursor = self._connection.cursor("candide") if many and self._info else self._connection.cursor()
        with explained(sql):
            if hasattr(cursor, "row_factory"):
                cursor.row_factory = _tuples
            cursor.execute(sql)
            return cursor

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._info is None or not hasattr(self._connection, "transaction"):
            yield
            return
        is_first = self._info.transaction_status == _IDLE
        # Within the user's transaction this is a savepoint, so an error leaves the transaction unchanged.
        with self._connection.transaction(force_rollback=True):
            if is_first:
                self._cursor("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", many=False)
            yield

    def number(self, column: str, kind: pa.DataType) -> str:
        return super().number(f"CAST({column} AS INT)" if pa.types.is_boolean(kind) else column, kind)


def _tuples(cursor: Any) -> Any:
    """Return rows as tuples, regardless of the row factory of the connection."""
    return tuple


# Number of columns whose types one query returns: SQLite allows at most 2,000 result columns.
_SOME = 500
# Number of strings of a column used to detect dates.
_FIRST = 10_000
# Ordered so that each type includes the previous ones, except for bytes.
_RANK = "CASE TYPEOF({cell}) WHEN 'integer' THEN 1 WHEN 'real' THEN 2 WHEN 'blob' THEN 3 WHEN 'text' THEN 4 END"


class Sqlite(Database):
    """A connection to SQLite, where each cell has its own type; the type of a column includes those of its cells.

    Rows are fetched, because the sums of a query take several times as long.
    """

    double: ClassVar[str] = "REAL"
    bytewise: ClassVar[str] = "BINARY"
    counts: ClassVar[bool] = False

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, source: str, *, every_row: bool = False) -> pa.Schema:
        """Return names and types, those of the cells of the first rows, or of all of them."""
        names = [column[0] for column in self._cursor(f"SELECT * FROM {source} AS t LIMIT 0").description]
        ranks = {} if every_row else self._ranks(names, f"(SELECT * FROM {source} LIMIT {_FIRST})")
        # All rows are read for a column without a value in the first ones.
        ranks |= self._ranks([name for name in names if ranks.get(name, (None, None))[1] is None], source)
        return pa.schema([(name, self._or_date(name, source, _sqlite_type(*ranks[name]))) for name in names])

    def _ranks(self, names: list[str], source: str) -> dict[str, tuple[int | None, int | None]]:
        """Return the least and the highest rank of the cells of each column."""
        ranks: dict[str, tuple[int | None, int | None]] = {}
        for begin in range(0, len(names), _SOME):
            some = names[begin : begin + _SOME]
            cells = [_RANK.format(cell=f"t.{self.quoted(name)}") for name in some]
            bounds = ", ".join(f"MIN({rank}), MAX({rank})" for rank in cells)
            found = self._cursor(f"SELECT {bounds} FROM {source} AS t").fetchone()
            ranks |= dict(zip(some, zip(found[::2], found[1::2], strict=True), strict=True))
        return ranks

    def _or_date(self, name: str, source: str, kind: pa.DataType) -> pa.DataType:
        """Return the date type if the first strings of a column are ISO dates, because SQLite has no date type."""
        if kind != pa.string():
            return kind
        cell = f"t.{self.quoted(name)}"
        cursor = self._cursor(f"SELECT {cell} FROM {source} AS t WHERE {cell} IS NOT NULL LIMIT {_FIRST}")
        while texts := cursor.fetchmany(_SOME):
            if not all(isinstance(text, str) and is_date_text(text) for (text,) in texts):
                return kind
        return pa.timestamp("us")

    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        cursor = self._cursor(sql)
        with explained(sql):
            yield from _fetched(cursor, schema)

    def _cursor(self, sql: str) -> Any:
        cursor = self._connection.cursor()
        cursor.row_factory = None  # tuples, regardless of the user's setting
        with explained(sql):
            return cursor.execute(sql)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._connection.in_transaction:
            yield
            return
        self._cursor("BEGIN")
        try:
            yield
        finally:
            self._cursor("COMMIT")

    def number(self, column: str, kind: pa.DataType) -> str:
        return f"CAST({column} AS {self.double})"  # NaN is NULL here


def _sqlite_type(least: int | None, most: int | None) -> pa.DataType:
    """Return the type that includes the cells from one rank to another."""
    if most is None or most <= 2:
        return pa.int64() if most == 1 else pa.float64()
    return pa.binary() if least == most == 3 else pa.string()


# Types by the codes of the protocol; all others are strings or bytes.
_MYSQL_TYPES: dict[int, pa.DataType] = {
    **dict.fromkeys((1, 2, 3, 8, 9, 13, 16), pa.int64()),
    **dict.fromkeys((0, 5, 246), pa.float64()),
    4: pa.float32(),
    6: pa.null(),
    **dict.fromkeys((10, 14), pa.date32()),
    11: pa.duration("us"),
    **dict.fromkeys((7, 12), pa.timestamp("us")),
    245: pa.string(),  # JSON
    255: pa.binary(),  # geometry
}
# Number of the error of a statement that is not allowed within a transaction.
_WITHIN_TRANSACTION = 1568


class MySQL(Database):
    """A connection to MySQL or MariaDB by PyMySQL, mysqlclient, or a connector of theirs."""

    double: ClassVar[str] = "DOUBLE"
    quote: ClassVar[str] = "`"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._package = type(connection).__module__.partition(".")[0]
        self._streaming: Any = None  # the cursor of an unfinished result

    def schema(self, source: str) -> pa.Schema:
        with closing(self._cursor(f"SELECT * FROM {source} AS t LIMIT 0")) as cursor:
            kinds = {column[0]: _MYSQL_TYPES.get(column[1]) for column in cursor.description}
            cursor.fetchall()
        unknown = [name for name, kind in kinds.items() if kind is None]
        if unknown:
            kinds |= dict(zip(unknown, self._string_types(source, unknown), strict=True))
        return pa.schema(kinds)

    def _string_types(self, source: str, names: list[str]) -> list[pa.DataType]:
        """Return whether columns contain strings or bytes, which have the same codes, without reading rows."""
        charsets = ", ".join(f"CHARSET(MAX(t.{self.quoted(name)}))" for name in names)
        with closing(self._cursor(f"SELECT {charsets} FROM {source} AS t WHERE FALSE")) as cursor:
            (found,) = cursor.fetchall()
        return [pa.binary() if charset == "binary" else pa.string() for charset in found]

    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        with explained(sql):
            self._streaming = self._cursor(sql, many=many)
            yield from _fetched(self._streaming, schema)
            self._finish()

    def _finish(self) -> None:
        """Read the unfinished result to its end, because a connection has one result at a time."""
        cursor, self._streaming = self._streaming, None
        if cursor is not None:
            while cursor.fetchmany(_FETCHED):
                pass
            cursor.close()

    def _cursor(self, sql: str, *, many: bool = False) -> Any:
        with explained(sql):
            cursor = self._new_cursor(many)
            cursor.execute(sql)
            return cursor

    def _new_cursor(self, many: bool) -> Any:
        """Return a cursor of tuples, regardless of the connection's default; ``many``: rows stay on the server."""
        if self._package == "mysql":
            return self._connection.cursor(buffered=not many, dictionary=False, raw=False)
        if self._package == "mariadb":
            return self._connection.cursor(buffered=not many, dictionary=False)
        if self._package not in ("pymysql", "MySQLdb"):
            return self._connection.cursor()
        cursors = import_module(f"{self._package}.cursors")
        return self._connection.cursor(cursors.SSCursor if many else cursors.Cursor)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        is_first = self._is_first()
        if is_first:
            self._cursor("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").close()
        try:
            yield
        except BaseException:
            with suppress(Exception):  # of a lost connection, which the first error is about
                self._end(is_first)
            raise
        self._end(is_first)

    def _end(self, is_first: bool) -> None:
        """Leave the connection as it was."""
        self._finish()
        if is_first:
            self._connection.rollback()

    def _is_first(self) -> bool:
        """Return whether no transaction is open, and if so, prepare the next one."""
        try:
            self._cursor("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").close()
        except SourceError as error:
            cause = error.__cause__  # the drivers keep the number in different places
            if _WITHIN_TRANSACTION not in (*getattr(cause, "args", ()), getattr(cause, "errno", None)):
                raise
            return False
        return True

    def cell(self, column: str, kind: pa.DataType) -> str:
        if _is_text(kind):
            # As bytes, strings are not compared by a collation, nor converted to the connection's character set.
            return f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)"
        # Without a sum, bits are fetched as bytes, and short floats with six digits.
        return f"{column} + 0" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else column

    def number(self, column: str, kind: pa.DataType) -> str:
        return f"CAST({column} AS {self.double})"  # there is no NaN
