"""Rows of PostgreSQL as they are copied: every type, NULL, and rows of any length."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from tiers import late

from candide.sources.databases import postgres_copy
from candide.sources.databases.dialects import Postgres

pytestmark = pytest.mark.postgres
psycopg = late("psycopg")

SCHEMA = pa.schema(
    {"i": pa.int64(), "s": pa.float32(), "d": pa.float64(), "b": pa.bool_(), "t": pa.string(), "last": pa.int64()}
)
ROWS = [
    (2**63 - 1, 0.1, 0.1, True, "a", 1),
    (-(2**63), -0.0, -0.0, False, "", None),
    (0, math.inf, 5e-324, None, 'two\nlines, "quoted"', 2),
    (None, None, -math.inf, True, "ä€𝄞", None),
    (None, None, None, None, None, None),
    (7, 1e-40, 1.7976931348623157e308, False, "x" * 100_000, 3),
]


@pytest.fixture
def connection(postgres: str) -> Any:
    with psycopg.connect(postgres) as opened:
        opened.execute("DROP TABLE IF EXISTS copied")
        opened.execute("CREATE TABLE copied (i INT8, s FLOAT4, d FLOAT8, b BOOL, t TEXT, last INT8, n SERIAL)")
        with opened.cursor() as cursor:
            cursor.executemany("INSERT INTO copied VALUES (%s, %s, %s, %s, %s, %s)", ROWS)
        opened.commit()
        yield opened


def fetched(connection: Any, where: str = "", schema: pa.Schema = SCHEMA) -> list[pa.RecordBatch]:
    sql = f"SELECT {', '.join(schema.names)} FROM copied {where} ORDER BY n"
    return list(Postgres(connection).answer(sql, schema, many=True))


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_rows(connection: Any, block_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_copy, "BATCH_BYTES", block_bytes)
    batches = fetched(connection)
    assert len(batches) == (len(ROWS) if block_bytes == 1 else 1)
    table = pa.Table.from_batches(batches)
    assert table.schema == SCHEMA
    columns = zip(zip(*ROWS, strict=True), SCHEMA.types, strict=True)
    assert table.equals(pa.table([pa.array(cells, kind) for cells, kind in columns], schema=SCHEMA))
    assert [math.copysign(1.0, row["d"]) for row in table.slice(1, 1).to_pylist()] == [-1.0]


def test_nan_is_a_number_and_null_is_none(connection: Any) -> None:
    connection.execute("UPDATE copied SET d = 'NaN' WHERE n = 1")
    column = pa.Table.from_batches(fetched(connection))["d"]
    assert math.isnan(column[0].as_py())
    assert column.null_count == 1


def test_no_rows(connection: Any) -> None:
    assert fetched(connection, "WHERE FALSE") == []


def test_types_without_a_known_format_are_fetched(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dates by the driver, numerics as doubles."""
    monkeypatch.setattr("candide.sources.databases.dialects.copy_rows", None)
    schema = pa.schema({"DATE '2024-02-29' AS day": pa.date32()})
    assert fetched(connection, "WHERE n = 1", schema)[0].to_pylist()[0].popitem()[1].isoformat() == "2024-02-29"


def test_numerics_are_rounded_to_the_nearest_double(connection: Any) -> None:
    schema = pa.schema({"price": pa.float64()})
    connection.execute("ALTER TABLE copied ADD price NUMERIC(20, 10) DEFAULT 0.1234567891")
    assert fetched(connection, "WHERE n = 1", schema)[0].to_pylist() == [{"price": 0.1234567891}]


def test_a_pass_that_ends_early_leaves_the_connection_usable(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_copy, "BATCH_BYTES", 1)
    rows = Postgres(connection).answer("SELECT i FROM copied", SCHEMA.empty_table().select(["i"]).schema, many=True)
    assert next(rows).num_rows == 1
    rows.close()
    assert connection.execute("SELECT COUNT(*) FROM copied").fetchone() == (len(ROWS),)
