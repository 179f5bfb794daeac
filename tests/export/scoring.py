"""Queries run by databases, and their answers beside those of the model."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import late

from candide.sources.duckdb_engine import identifier

duckdb = late("duckdb")

psycopg = late("psycopg")
# Sums in another order.
CLOSE, ROUNDING = 1e-9, 1e-12

# From a query and the table "rows" to the columns of the answer by name, in the order of the column "id".
Score = Callable[[str, pd.DataFrame], pd.DataFrame]


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def score(request: pytest.FixtureRequest) -> Score:
    """Each of the databases that queries are written for; ``score.keywords["dialect"]`` is its name."""
    return scored_by(request.param, request.getfixturevalue("postgres") if request.param == "postgres" else "")


def scored_by(dialect: str, address: str = "") -> Score:
    return partial(_scored, dialect=dialect, address=address)


@pytest.fixture(scope="module")
def spark_sql() -> Iterator[Score]:
    """Spark, on two cores."""
    from candide.sources.cluster_files import find_java

    find_java()
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "600m", "spark.sql.shuffle.partitions": "2"}
    settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.log.level": "OFF"}
    builder = SparkSession.builder.master("local[2]").appName("candide")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()

    def scored(query: str, rows: pd.DataFrame, dialect: str) -> pd.DataFrame:
        session.createDataFrame(pa.Table.from_pandas(rows, preserve_index=False)).createOrReplaceTempView("rows")
        return session.sql(query).toArrow().to_pandas().sort_values("id", ignore_index=True)

    yield partial(scored, dialect="spark")
    session.stop()


def _scored(query: str, rows: pd.DataFrame, dialect: str, address: str = "") -> pd.DataFrame:
    found = {"duckdb": _by_duckdb, "sqlite": _by_sqlite, "postgres": partial(_by_postgres, address=address)}[dialect](
        query, rows
    )
    return found.sort_values("id", ignore_index=True) if "id" in found else found


@cache
def _duckdb() -> Any:
    return duckdb.connect()


def _by_duckdb(query: str, rows: pd.DataFrame) -> pd.DataFrame:
    with _duckdb().cursor() as connection:  # a temporary table is that of one connection
        connection.register("given", rows)
        connection.execute('CREATE TEMP TABLE "rows" AS SELECT * FROM given')
        # DuckDB's own conversion of times with a zone to pandas gives a warning.
        return connection.sql(query).to_arrow_table().to_pandas()


def _by_sqlite(query: str, rows: pd.DataFrame) -> pd.DataFrame:
    connection = sqlite3.connect(":memory:")
    rows.to_sql("rows", connection, index=False)
    found = pd.read_sql(query, connection)
    connection.close()
    return found


def _by_postgres(query: str, rows: pd.DataFrame, address: str) -> pd.DataFrame:
    types = {"f": "FLOAT8", "i": "BIGINT", "b": "BOOL", "M": "TIMESTAMP", "m": "INTERVAL"}
    columns = ", ".join(
        f"{identifier(str(name))} {types.get(column.dtype.kind, 'TEXT')}{'TZ' * hasattr(column.dtype, 'tz')}"
        for name, column in rows.items()
    )
    with psycopg.connect(address) as connection:
        connection.execute('DROP TABLE IF EXISTS "rows"')
        connection.execute(f'CREATE TABLE "rows" ({columns})')
        with connection.cursor().copy('COPY "rows" FROM STDIN') as copy:
            for row in rows.astype(object).itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
        answer = connection.execute(query)
        return pd.DataFrame(answer.fetchall(), columns=[column.name for column in answer.description or []])


def assert_same_answers(model: Any, X: Any, score: Score, close: float = CLOSE) -> None:
    """The query's labels are those of ``predict``, its probabilities those of ``predict_proba``."""
    names = X.columns if isinstance(X, pd.DataFrame) else [f"x{j}" for j in range(np.shape(X)[1])]
    rows = pd.DataFrame(X, columns=names).assign(id=np.arange(len(X)))
    found = score(model.to_sql(score.keywords["dialect"]), rows)
    assert found.columns[: rows.shape[1]].tolist() == rows.columns.tolist()
    labels, titles = model.classes_.tolist(), [f"p({label})" for label in model.classes_.tolist()]
    expected = model.predict_proba(X)
    np.testing.assert_allclose(found[titles].to_numpy(np.float64), expected, rtol=0, atol=close)
    # Rounding may part what is equal, or make equal what it has parted.
    own = expected[np.arange(len(X)), [labels.index(label) for label in found["prediction"].tolist()]]
    same = found["prediction"].to_numpy() == model.predict(X)
    assert (same | (own > expected.max(axis=1) - ROUNDING)).all()
