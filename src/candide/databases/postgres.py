"""PostgreSQL, by psycopg or another driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from .database import Database, explained
from .fetched import batches

# Types by their numbers in the catalogue of every PostgreSQL; all others are fetched as texts.
_TYPES = {
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
        self._info = getattr(connection, "info", None)  # of psycopg, in either version

    def schema(self, source: str) -> pa.Schema:
        cursor = self._cursor(f"SELECT * FROM {source} AS t LIMIT 0", many=False)
        return pa.schema([(column[0], self._type(column[1])) for column in cursor.description])

    def _type(self, number: int) -> pa.DataType:
        if number == _MOMENT:
            return pa.timestamp("us", tz=str(getattr(self._info, "timezone", "UTC")))
        return _TYPES.get(number, pa.string())

    def answer(self, sql: str, schema: pa.Schema, *, many: bool) -> Iterator[pa.RecordBatch]:
        with explained(sql), closing(self._cursor(sql, many=many)) as cursor:
            yield from batches(cursor, schema)

    def _cursor(self, sql: str, *, many: bool) -> Any:
        # A cursor with a name leaves rows where they are until they are fetched, and its query to one process.
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
        # Within a transaction of the user's it is a savepoint, which an error leaves as it was.
        with self._connection.transaction(force_rollback=True):
            if is_first:
                self._cursor("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", many=False)
            yield

    def number(self, column: str, kind: pa.DataType) -> str:
        return super().number(f"CAST({column} AS INT)" if pa.types.is_boolean(kind) else column, kind)

    def leading_bits(self, number: str, shift: int) -> str | None:
        return f"SUBSTR(FLOAT8SEND({number} + 0), 1, {8 - shift // 8})"

    def row_hash(self, cells: list[str]) -> str | None:
        row = f"CAST(ROW({', '.join(cells)}) AS TEXT)"
        return f"CAST(CAST('x' || SUBSTR(MD5({row}), 1, 8) AS BIT(32)) AS BIGINT)"


def _tuples(cursor: Any) -> Any:
    """Rows as tuples, whatever the user likes."""
    return tuple
