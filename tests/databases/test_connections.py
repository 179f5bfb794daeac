"""Connections, addresses, queries and lazy tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from properties.models import assert_same_model
from tiers import late

from candide import CategoricalNB, GaussianNB, NaiveBayes, fit_sql

from . import tables
from .stores import Put, in_memory

duckdb = late("duckdb")

psycopg = late("psycopg")
TABLE = tables.numbers()
HERE = in_memory(GaussianNB(), TABLE, ["a", "b"])
SQL = "SELECT a, b, y FROM t"


def assert_learned(connection: Any, query: Any, **options: Any) -> None:
    assert_same_model(fit_sql(GaussianNB(), connection, query, label="y", columns=["a", "b"], **options), HERE)


@pytest.mark.parametrize(
    "query",
    ["t", '"t"', "SELECT * FROM t;", "  select * from t -- all\n", "WITH s AS (SELECT * FROM t) SELECT * FROM s"],
)
def test_queries(put: Put, query: str) -> None:
    connection = put(TABLE)
    assert_learned(connection, query.replace('"', "`") if "mysql" in type(connection).__module__ else query)


def test_names_that_need_quotes(put: Put) -> None:
    odd = ['say "x"', "a`b", "a b", "{x}", "%s", "t", "Y", "about"]
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(0, 3, 20) for name in odd} | {"the 'class'": ["u", "v"] * 10})
    there = fit_sql(GaussianNB(), put(table), "t", label="the 'class'")
    assert_same_model(there, in_memory(GaussianNB(), table, odd, label="the 'class'"))


def test_tables_with_odd_names(put_duck: Put) -> None:
    connection = put_duck(TABLE)
    connection.execute(
        'CREATE SCHEMA shop; CREATE TABLE shop.t AS SELECT 1 x, 1 y; CREATE TABLE "a;b c" AS FROM shop.t'
    )
    for name in ("shop.t", "a;b c", '"a;b c"'):
        assert fit_sql(GaussianNB(), connection, name, label="y").class_count_.tolist() == [1.0]


def test_addresses_of_files(tmp_path: Path, put_lite: Put) -> None:
    lite, duck, parquet = tmp_path / "a.sqlite", tmp_path / "a.duckdb", tmp_path / "a.parquet"
    with closing(sqlite3.connect(lite)) as target:
        put_lite(TABLE).backup(target)
    with duckdb.connect(str(duck)) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
        connection.execute(f"COPY t TO '{parquet}'")
    for address in (f"sqlite:{lite}", f"duckdb:{duck}"):
        assert_learned(address, SQL)
        assert_learned(f"{address}?table=t", None)
    assert_learned(None, f"SELECT * FROM '{parquet}'")


@pytest.mark.postgres
def test_addresses_of_servers(put_server: Put, postgres: str) -> None:
    put_server(TABLE)
    assert_learned(f"postgres:{postgres.removeprefix('postgresql:')}", SQL)
    assert_learned(postgres, SQL)


def test_relations_and_lazy_frames(put_duck: Put) -> None:
    import narwhals as nw

    connection = put_duck(TABLE)
    assert_learned(None, connection.sql(SQL))
    assert_learned(connection, connection.table("t"))
    assert_learned(None, nw.from_native(connection.table("t")).select("a", "b", "y"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is deprecated, use:DeprecationWarning")
def test_tables_of_ibis(put_duck: Put) -> None:
    ibis = pytest.importorskip("ibis")
    assert_learned(None, ibis.duckdb.from_connection(put_duck(TABLE)).table("t").select("a", "b", "y"))


def test_dialects_of_other_drivers(put_lite: Put) -> None:
    class Mine:
        """A connection that nobody knows."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    assert_learned(Mine(put_lite(TABLE)), SQL, dialect="sqlite")
    with pytest.raises(ValueError, match="pass a connection of duckdb, sqlite3, psycopg or PyMySQL"):
        assert_learned(Mine(put_lite(TABLE)), SQL)


@pytest.mark.postgres
def test_rows_as_users_like_them(put_lite: Put, put_server: Put) -> None:
    lite, server = put_lite(TABLE), put_server(TABLE)
    lite.row_factory, server.row_factory = sqlite3.Row, psycopg.rows.dict_row
    for connection in (lite, server):
        assert_learned(connection, "t")


def test_letters_that_a_database_takes_for_one_are_two(put_lite: Put, put_duck: Put) -> None:
    for connection in (put_lite(TABLE), put_duck(TABLE)):
        connection.execute("CREATE TABLE names (x TEXT COLLATE NOCASE, y TEXT COLLATE NOCASE)")
        connection.execute("INSERT INTO names VALUES ('a', 'u'), ('A', 'u'), ('a', 'U')")
        model = fit_sql(CategoricalNB(), connection, "names", label="y")
        assert model.classes_.tolist() == ["U", "u"]
        assert [count.tolist() for count in model.category_count_] == [[[0.0, 1.0], [1.0, 1.0]]]


def test_cells_of_several_types_in_one_column_of_sqlite(put_lite: Put) -> None:
    connection = put_lite(TABLE)
    connection.execute("CREATE TABLE mix (number, mixed, y)")
    connection.executemany("INSERT INTO mix VALUES (?, ?, ?)", [(1, "a", "u"), (1.5, 2, "v"), (None, None, "v")] * 3)
    model = fit_sql(NaiveBayes(stacking=None, calibrate=None, compute_loo=False), connection, "mix", label="y")
    statistics = model.model_.classifier.state.statistics
    assert statistics.kinds == ("number", "category")
    assert statistics.categories.labels[0].tolist() == ["2", "a"]
    assert statistics.moments.mean.tolist() == [[1.0], [1.5]]


def test_types_of_cells_of_sqlite_that_first_rows_do_not_tell(put_lite: Put) -> None:
    """Reals among integers, words among numbers, and integers after nothing, beyond the rows that are looked at."""
    n = 10_500
    counts, mixed = [i % 5 for i in range(n)], [float(i % 7) for i in range(n)]
    connection, labels = put_lite(TABLE), ["u", "v"] * (n // 2)
    connection.execute("CREATE TABLE late (count, mixed, empty, y)")
    for place, later in enumerate([(2.5, 1.0, None), (3, "many", 4)]):
        counts[-1 - place], mixed[-1 - place] = later[0], later[1]
        empty = [None] * (n - 1) + [later[2]]
        connection.execute("DELETE FROM late")
        connection.executemany("INSERT INTO late VALUES (?, ?, ?, ?)", zip(counts, mixed, empty, labels, strict=True))
        plain = {"stacking": None, "calibrate": None, "compute_loo": False}
        model = fit_sql(NaiveBayes(**plain), connection, "late", label="y")
        statistics = model.model_.classifier.state.statistics
        assert statistics.kinds == ("number", "category" if place else "number", "number" if place else "missing")
        assert statistics.moments.weight.sum(axis=0)[0] == n
        assert statistics.grid.column(0).low.tolist() == [0.0, 1.0, 2.0, 2.5, 3.0, 4.0]
        if place:
            assert "many" in statistics.categories.labels[0].tolist()


# Transactions are left as they were.


def test_what_is_not_committed_is_seen_and_stays_so_in_duckdb(put_duck: Put) -> None:
    connection = put_duck(TABLE)
    connection.begin()
    connection.execute("DELETE FROM t WHERE y <> 'u'")
    assert fit_sql(GaussianNB(), connection, SQL, label="y").classes_.tolist() == ["u"]
    connection.rollback()
    assert_learned(connection, SQL)
    connection.begin()  # none is open
    connection.rollback()


def test_what_is_not_committed_is_seen_and_stays_so_in_sqlite(put_lite: Put) -> None:
    connection = put_lite(TABLE)
    assert_learned(connection, SQL)
    assert not connection.in_transaction
    connection.execute("DELETE FROM t WHERE y <> 'u'")
    assert fit_sql(GaussianNB(), connection, SQL, label="y").classes_.tolist() == ["u"]
    assert connection.in_transaction
    connection.rollback()
    assert_learned(connection, SQL)


@pytest.mark.postgres
def test_what_is_not_committed_is_seen_and_stays_so_in_postgres(put_server: Put) -> None:
    connection = put_server(TABLE)
    idle, within = psycopg.pq.TransactionStatus.IDLE, psycopg.pq.TransactionStatus.INTRANS
    assert_learned(connection, SQL)
    assert connection.info.transaction_status == idle
    connection.execute("DELETE FROM t WHERE y <> 'u'")
    assert fit_sql(GaussianNB(), connection, SQL, label="y").classes_.tolist() == ["u"]
    with pytest.raises(ValueError, match="reported an error"):
        fit_sql(GaussianNB(), connection, "SELECT nonsense FROM t", label="y")
    assert connection.info.transaction_status == within
    connection.rollback()
    assert_learned(connection, SQL)


@pytest.mark.postgres
def test_a_server_is_only_read(put_server: Put) -> None:
    connection = put_server(TABLE)
    connection.execute("CREATE OR REPLACE FUNCTION spoil() RETURNS INT LANGUAGE SQL AS 'DELETE FROM t; SELECT 1'")
    connection.commit()
    with pytest.raises(ValueError, match="read-only"):
        fit_sql(GaussianNB(), connection, "SELECT spoil() AS a, y FROM t", label="y")
    assert_learned(connection, SQL)
