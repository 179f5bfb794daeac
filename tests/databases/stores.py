"""Databases to put tables into, and the models that are made there and in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from properties.compare import assert_alike
from tiers import late

from candide.sources.duckdb_engine import identifier

duckdb = late("duckdb")

psycopg = late("psycopg")
pymysql = late("pymysql")
# Types of PostgreSQL, where they are not called as in Arrow.
_POSTGRES = {
    "int64": "BIGINT",
    "int32": "INT",
    "double": "FLOAT8",
    "float": "FLOAT4",
    "string": "TEXT",
    "bool": "BOOL",
    "date32[day]": "DATE",
    "timestamp[us]": "TIMESTAMP",
    "decimal128(8, 2)": "NUMERIC(8, 2)",
}
# Types of MySQL that have other names there.
_MYSQL = {"double": "DOUBLE", "float": "FLOAT", "string": "LONGTEXT", "timestamp[us]": "DATETIME(6)"}

Put = Callable[[pa.Table], Any]


def put_duckdb(table: pa.Table) -> Any:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return connection


def put_sqlite(table: pa.Table) -> Any:
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(map(identifier, table.column_names))})")
    marks = ", ".join("?" * table.num_columns)
    connection.executemany(f"INSERT INTO t VALUES ({marks})", zip(*table.to_pydict().values(), strict=True))
    connection.commit()
    return connection


def put_postgres(table: pa.Table, address: str) -> Any:
    connection = psycopg.connect(address)
    columns = ", ".join(f"{identifier(field.name)} {_POSTGRES[str(field.type)]}" for field in table.schema)
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t ({columns})")
    with connection.cursor().copy("COPY t FROM STDIN") as copy:
        for row in zip(*table.to_pydict().values(), strict=True):
            copy.write_row(row)
    connection.commit()
    return connection


def put_mysql(table: pa.Table, socket: str, **options: Any) -> Any:
    """Its strings are in a collation for which a, A, ä and a with a space at the end are the same."""
    connection = pymysql.connect(unix_socket=socket, database="test", **options)
    kinds = _POSTGRES | _MYSQL
    columns = ", ".join(f"{_backticks(field.name)} {kinds[str(field.type)]}" for field in table.schema)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS t")
        cursor.execute(f"CREATE TABLE t ({columns}) COLLATE utf8mb4_general_ci")
        marks = ", ".join(["%s"] * table.num_columns)
        rows = [[_storable(cell) for cell in row.values()] for row in table.to_pylist()]
        cursor.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    connection.commit()
    return connection


def _storable(cell: Any) -> Any:
    if cell in (np.inf, -np.inf):
        pytest.skip("MySQL stores no infinite numbers")
    return None if cell != cell else cell


def _backticks(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def in_memory(model: Any, table: pa.Table, columns: list[str], label: str = "y", weight: str | None = None) -> Any:
    """The model of the same rows by ``fit``."""
    heavy = None if weight is None else table[weight].to_numpy()
    return model.fit(table.select(columns), table[label].to_numpy(zero_copy_only=False), sample_weight=heavy)


def assert_same_sums(a: Any, b: Any, rtol: float = 0.0) -> None:
    """Tables alike: kinds, counts, grids and samples to the last count, moments to rounding."""
    assert a.classes_.tolist() == b.classes_.tolist()
    mine, theirs = a.model_.classifier.state, b.model_.classifier.state
    assert mine.statistics.names == theirs.statistics.names
    assert mine.statistics.kinds == theirs.statistics.kinds
    np.testing.assert_allclose(mine.statistics.squares, theirs.statistics.squares, rtol=rtol)
    for part in ("grid", "categories"):
        assert_alike(getattr(mine.statistics, part), getattr(theirs.statistics, part), rtol=rtol)
    assert_moments(mine.statistics.moments, theirs.statistics.moments, rtol)
    assert (mine.sample is None) == (theirs.sample is None)
    if mine.sample is not None:
        assert_alike(mine.sample, theirs.sample, rtol=rtol)


def assert_moments(a: Any, b: Any, rtol: float = 0.0) -> None:
    """Means to rounding of the numbers, scatters to rounding of themselves."""
    np.testing.assert_allclose(a.weight, b.weight, rtol=rtol)
    size = np.abs(b.mean) + np.sqrt(b.scatter / np.maximum(b.weight, 1e-300))
    assert (np.abs(a.mean - b.mean) <= 1e-12 * size).all()
    within = 1e-10 * b.scatter + 1e-13 * b.weight * size**2 * 1e-10
    assert (np.abs(a.scatter - b.scatter) <= within).all()
