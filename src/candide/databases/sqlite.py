"""SQLite, by the standard library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from ..data.conversion import is_date_text
from .database import Database, explained
from .fetched import batches

# Columns that one query asks for the types of their cells: SQLite answers 2,000 at most.
_SOME = 500
# Texts of a column that tell whether they are dates.
_FIRST = 10_000
# Types, each of which holds those before it, but for bytes.
_RANK = "CASE TYPEOF({cell}) WHEN 'integer' THEN 1 WHEN 'real' THEN 2 WHEN 'blob' THEN 3 WHEN 'text' THEN 4 END"


class Sqlite(Database):
    """A connection to SQLite. Every cell has a type of its own there: a column is of the one that holds all of them."""

    double: ClassVar[str] = "REAL"
    bytewise: ClassVar[str] = "BINARY"
    has_variances: ClassVar[bool] = False

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def schema(self, source: str) -> pa.Schema:
        names = [column[0] for column in self._cursor(f"SELECT * FROM {source} AS t LIMIT 0").description]
        kinds: list[pa.DataType] = []
        for begin in range(0, len(names), _SOME):
            ranks = [_RANK.format(cell=f"t.{self.quoted(name)}") for name in names[begin : begin + _SOME]]
            asked = ", ".join(f"MIN({rank}), MAX({rank})" for rank in ranks)
            found = self._cursor(f"SELECT {asked} FROM {source} AS t").fetchone()
            kinds += map(_type, found[::2], found[1::2])
        return pa.schema([(name, self._or_date(name, source, kind)) for name, kind in zip(names, kinds, strict=True)])

    def _or_date(self, name: str, source: str, kind: pa.DataType) -> pa.DataType:
        """The type of dates, if the first texts of a column are dates in ISO format: SQLite has no such type."""
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
            yield from batches(cursor, schema)

    def _cursor(self, sql: str) -> Any:
        cursor = self._connection.cursor()
        cursor.row_factory = None  # tuples, whatever the user likes
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


def _type(least: int | None, most: int | None) -> pa.DataType:
    """The type that holds cells from one rank to another."""
    if most is None or most <= 2:
        return pa.int64() if most == 1 else pa.float64()
    return pa.binary() if least == most == 3 else pa.string()
