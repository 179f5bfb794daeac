"""Databases and queries."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tiers import late

import candide
from candide.exceptions import ParameterError, SourceError

from .files import write

duckdb = late("duckdb")

ROWS = [("free entry", "spam", 1.5), (None, "ham", None), ("noon", "ham", 2.0)]


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE mail (text TEXT, label TEXT, x REAL)")
        connection.executemany("INSERT INTO mail VALUES (?, ?, ?)", ROWS)
    return path


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mail (text TEXT, label TEXT, x DOUBLE)")
        connection.executemany("INSERT INTO mail VALUES (?, ?, ?)", ROWS)
    return path


def tuples(source: candide.sources.Source) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in source.to_table().to_pylist()]


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_tables_and_queries(request: pytest.FixtureRequest, kind: str) -> None:
    path = request.getfixturevalue("sqlite" if kind == "sqlite" else "duck")
    assert tuples(candide.read(f"{kind}:{path}?table=mail")) == ROWS
    assert tuples(candide.read(f"{kind}:{path}")) == ROWS
    assert tuples(candide.read(path)) == ROWS
    assert tuples(candide.read(f"{kind}:{path}", sql="SELECT label FROM mail WHERE x > 1")) == [("spam",), ("ham",)]
    assert candide.read(f"{kind}:{path}").n_bytes is None


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_what_may_be_wrong(request: pytest.FixtureRequest, kind: str) -> None:
    path = request.getfixturevalue("sqlite" if kind == "sqlite" else "duck")
    with pytest.raises(SourceError, match=r"there is no file '.*2'; did you mean"):
        candide.read(f"{kind}:{path}2")
    with pytest.raises(
        SourceError, match=r"the query 'SELECT \* FROM \"males\"' failed.*; check the table and column names"
    ):
        candide.read(f"{kind}:{path}?table=males")
    with pytest.raises(SourceError, match="SELECT nothing"):
        candide.read(f"{kind}:{path}", sql="SELECT nothing FROM mail")


def test_several_tables(sqlite: Path) -> None:
    with closing(sqlite3.connect(sqlite)) as connection, connection:
        connection.execute("CREATE TABLE orders (x)")
    with pytest.raises(SourceError, match=r"has 2 tables \(mail, orders\); choose one by appending \?table=mail"):
        candide.read(f"sqlite:{sqlite}")


def test_sqlite_does_not_mind_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE a (x)")
        connection.executemany("INSERT INTO a VALUES (?)", [(1,), ("n/a",), (None,), (2.5,)])
    assert tuples(candide.read(f"sqlite:{path}")) == [("1",), ("n/a",), (None,), ("2.5",)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM a")
        connection.executemany("INSERT INTO a VALUES (?)", [(1,)] * 20_000 + [("n/a",)])
    with pytest.raises(SourceError, match=r"'x' .* cannot be converted to int64, .* \('n/a' at row 20000\).*--type x="):
        candide.read(f"sqlite:{path}").to_table()


def test_sql_on_files(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\nfree entry,spam\nnoon,ham\n")
    assert tuples(candide.read(sql=f"SELECT upper(label) AS label FROM '{path}';")) == [("SPAM",), ("HAM",)]
    with pytest.raises(SourceError, match="the query 'SELEC 1' failed: Parser Error"):
        candide.read(sql="SELEC 1")
    with pytest.raises(ParameterError, match=r"a query names its own files"):
        candide.read(path, sql="SELECT 1")


def test_a_database_that_does_not_answer() -> None:
    with pytest.raises(SourceError, match=r"postgres cannot be opened: .*check the address") as found:
        candide.read("postgres://me:secret@127.0.0.1:1/shop?table=mail")
    assert "secret" not in str(found.value)
