"""DuckDB: answers come as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from ..sources.duckdb_engine import check_query
from ..sources.reader import cast_batch
from .database import Database, explained

# What a relation is called in queries about it.
ROWS = "candide_rows"
# Rows of a batch: later ones may be long.
_BATCH_ROWS = 1 << 13


class DuckDB(Database):
    """A connection of DuckDB, or a relation, which has one inside."""

    double: ClassVar[str] = "DOUBLE"

    def __init__(self, connection: Any, relation: Any = None) -> None:
        self._connection, self._relation = connection, relation
        self._reader: Any = None  # of the last answer

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
        # A second BEGIN would end what the user has begun.
        is_first = self._connection is not None and not self._is_within_transaction()
        if is_first:
            self._connection.begin()
        try:
            yield
        finally:
            if self._reader is not None:
                self._reader.close()  # after an error; nothing else could be asked while it is open
            if is_first:
                self._connection.rollback()

    def _is_within_transaction(self) -> bool:
        """Whether two queries are of one transaction."""
        one, other = (self._connection.sql("SELECT txid_current()").fetchall() for _ in range(2))
        return bool(one == other)
