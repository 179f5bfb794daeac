"""What MySQL and MariaDB do in their own way: collations, types, transactions, and results that are not fetched."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from properties.models import assert_same_model
from tiers import late

from candide import CategoricalNB, GaussianNB, NaiveBayes, fit_sql
from candide.exceptions import SourceError
from candide.sources.databases import dialects

from . import tables
from .stores import Put, assert_same_sums, in_memory, put_mysql

pytestmark = pytest.mark.mysql
pymysql = late("pymysql")
PLAIN = {"stacking": None, "calibrate": None, "compute_loo": False}
TABLE = tables.numbers()
SQL = "SELECT a, b, y FROM t"


def run(connection: Any, *queries: str) -> Any:
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
        return cursor.fetchall()


def n_rows(connection: Any, table: str = "t") -> int:
    return run(connection, f"SELECT COUNT(*) AS n FROM {table}")[0][0]


@pytest.mark.parametrize("charset", ["utf8mb4", "latin1"])
def test_strings_are_compared_by_their_characters(mysql: str, charset: str) -> None:
    """Not by the collation, for which these are the same; nor converted for the connection, which has no Cyrillic."""
    names = ["a", "A", "ä", "a ", "ж", "Ж", "😀", "😁"]
    table = pa.table({"name": names * 3, "y": [*names, *names[::-1], *names]})
    with closing(put_mysql(table, mysql)) as connection:
        assert len(run(connection, "SELECT name FROM t GROUP BY name")) == 3
    with closing(pymysql.connect(unix_socket=mysql, database="test", charset=charset)) as connection:
        there = fit_sql(CategoricalNB(), connection, "t", label="y")
        assert_same_model(there, in_memory(CategoricalNB(), table, ["name"]))
        there = fit_sql(NaiveBayes(**PLAIN), connection, "t", label="y")
        assert_same_sums(there, in_memory(NaiveBayes(**PLAIN), table, ["name"]))


@pytest.mark.parametrize("name", ["DictCursor", "SSDictCursor"])
def test_cursors_as_users_like_them(mysql: str, name: str) -> None:
    here = in_memory(GaussianNB(compute_loo=True), TABLE, ["a", "b"])
    put_mysql(TABLE, mysql).close()
    cursor = getattr(pymysql.cursors, name)
    with closing(pymysql.connect(unix_socket=mysql, database="test", cursorclass=cursor)) as connection:
        assert_same_model(fit_sql(GaussianNB(compute_loo=True), connection, SQL, label="y"), here)


@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")  # in the code of mariadb
@pytest.mark.parametrize("driver", ["MySQLdb", "mysql.connector", "mariadb"])
def test_other_drivers(mysql: str, driver: str) -> None:
    """With rows that are fetched in batches, after an error, and within a transaction, which stays open."""
    here = in_memory(NaiveBayes(order=0), TABLE, ["a", "b_word"])
    query = "SELECT a, b_word, y FROM t"
    put_mysql(TABLE, mysql).close()
    connect = pytest.importorskip(driver).connect
    with closing(connect(unix_socket=mysql, user="root", database="test")) as connection:
        for _ in range(2):
            assert_same_sums(fit_sql(NaiveBayes(order=0), connection, query, label="y"), here)
            with pytest.raises(SourceError, match="nonsense"):
                fit_sql(NaiveBayes(), connection, "SELECT nonsense FROM t", label="y")
        with closing(connection.cursor()) as cursor:
            cursor.execute("DELETE FROM t WHERE y <> 'u'")
        assert fit_sql(GaussianNB(), connection, SQL, label="y").classes_.tolist() == ["u"]
        connection.rollback()
        assert_same_sums(fit_sql(NaiveBayes(order=0), connection, query, label="y"), here)


@pytest.mark.parametrize("name", ["test.t", "`t`", "`test`.`t`", "a;b c", "`a;b c`", 'say "`t`"'])
def test_names_of_tables(put_maria: Put, name: str) -> None:
    connection = put_maria(TABLE)
    for view in ("`a;b c`", '`say "``t``"`'):
        run(connection, f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM t")
    there = fit_sql(GaussianNB(), connection, name, label="y", columns=["a", "b"])
    assert_same_model(there, in_memory(GaussianNB(), TABLE, ["a", "b"]))


# Types.

TYPES = {
    "small": ("TINYINT", "CAST(seq % 100 AS SIGNED) - 50"),
    "counts": ("INT UNSIGNED", "4294967295 - seq % 9"),
    "huge": ("BIGINT UNSIGNED", "9223372036854775807 - seq % 5"),
    "is_new": ("BOOLEAN", "seq % 2"),
    "flags": ("BIT(9)", "seq % 300"),
    "price": ("DECIMAL(20, 5)", "seq / 7"),
    "day": ("DATE", "'2024-02-01' + INTERVAL seq % 99 DAY"),
    "moment": ("DATETIME(6)", "'2024-02-01 00:00:00.5' + INTERVAL seq % 99 HOUR"),
    "stamp": ("TIMESTAMP NULL", "'2024-02-01 12:00:00' + INTERVAL seq % 99 HOUR"),
    "span": ("TIME(3)", "SEC_TO_TIME(seq * 77.5 - 9000)"),
    "year": ("YEAR", "2000 + seq % 30"),
    "size": ("ENUM('S', 'M', 'L')", "1 + seq % 3"),
    "extras": ("SET('p', 'q')", "seq % 4"),
    "document": ("JSON", "JSON_OBJECT('a', seq % 3)"),
    "latin": ("VARCHAR(5) CHARACTER SET latin1", "ELT(1 + seq % 3, 'é', 'e', 'ö')"),
    "padded": ("CHAR(5)", "ELT(1 + seq % 3, 'a', 'A', 'c ')"),
    "bytes": ("BLOB", "UNHEX(HEX(250 + seq % 5))"),
    "fixed": ("BINARY(2)", "ELT(1 + seq % 3, 'a', 'A', 'aa')"),
}


@pytest.fixture
def typed(put_maria: Put) -> Any:
    connection = put_maria(TABLE)
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    cells = ", ".join(cell for _, cell in TYPES.values())
    nulls = ", ".join(["NULL"] * len(TYPES))
    run(
        connection,
        "DROP TABLE IF EXISTS typed",
        f"CREATE TABLE typed ({columns}, y INT UNSIGNED)",
        f"INSERT INTO typed SELECT {cells}, seq % 7 < 3 FROM seq_1_to_300",
        f"INSERT INTO typed VALUES ({nulls}, 1), ({nulls}, NULL)",
    )
    connection.commit()
    return connection


@pytest.mark.filterwarnings("ignore:skipped 1 row without a label")
def test_types(typed: Any) -> None:
    """The model is that of the cells as PyMySQL fetches them, and of bits as integers."""
    with typed.cursor() as cursor:
        cursor.execute("SELECT * FROM typed WHERE y IS NOT NULL")
        names = [column[0] for column in cursor.description]
        cells = dict(zip(names, map(list, zip(*cursor.fetchall(), strict=True)), strict=True))
    cells["flags"] = [None if cell is None else int.from_bytes(cell, "big") for cell in cells["flags"]]
    cells["price"] = [None if cell is None else float(cell) for cell in cells["price"]]
    here = in_memory(NaiveBayes(**PLAIN), pa.table(cells), list(TYPES))
    there = fit_sql(NaiveBayes(**PLAIN), typed, "typed", label="y")
    assert there.schema_["kind"].tolist() == here.schema_["kind"].tolist()
    assert_same_sums(there, here)


def test_short_floats_have_all_digits(put_maria: Put) -> None:
    cells = np.random.default_rng(0).normal(size=50).astype(np.float32)
    table = pa.table({"x": cells, "y": ["u", "v"] * 25})
    connection = put_maria(table)
    there = fit_sql(NaiveBayes(**PLAIN), connection, "t", label="y")
    assert_same_sums(there, in_memory(NaiveBayes(**PLAIN), table, ["x"]))


@pytest.mark.parametrize(
    ("cell", "match"),
    [
        ("CAST(18446744073709551615 - seq AS UNSIGNED)", "not of type int64 .*too large.*SELECT CAST"),
        ("CAST('2024-00-00' AS DATE)", "not of type date32.*SELECT CAST"),
    ],
)
def test_cells_that_have_no_type_here(put_maria: Put, cell: str, match: str) -> None:
    connection = put_maria(TABLE)
    run(connection, "SET SESSION sql_mode = ''")
    query = "SELECT {} AS x, IF(seq % 2, 'u', 'v') AS y FROM seq_1_to_20"
    with pytest.raises(SourceError, match=f"column 'x' contains values that are {match}"):
        fit_sql(CategoricalNB(), connection, query.format(cell), label="y")
    fit_sql(CategoricalNB(), connection, query.format(f"CAST({cell} AS CHAR)"), label="y")


def test_declared_labels(put_maria: Put) -> None:
    table = pa.table({"x": [1.0, 2.0, 4.0], "y": [0, 1, 1]})
    model = fit_sql(NaiveBayes(schema={"y": "str"}, **PLAIN), put_maria(table), "t", label="y")
    assert model.classes_.tolist() == ["0", "1"]


# Transactions.


def test_what_is_not_committed_is_seen_and_stays_so(put_maria: Put, mysql: str) -> None:
    connection = put_maria(TABLE)
    run(connection, "DELETE FROM t WHERE y <> 'u'")
    assert fit_sql(GaussianNB(), connection, SQL, label="y").classes_.tolist() == ["u"]
    with pytest.raises(SourceError, match="nonsense"):
        fit_sql(GaussianNB(), connection, "SELECT nonsense FROM t", label="y")
    with closing(pymysql.connect(unix_socket=mysql, database="test")) as other:
        assert n_rows(other) == len(TABLE)
    assert n_rows(connection) < len(TABLE)
    connection.rollback()
    assert n_rows(connection) == len(TABLE)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "READ COMMITTED"])
@pytest.mark.parametrize("autocommit", [False, True])
def test_rows_of_others_do_not_appear_between_queries(
    mysql: str, level: str, autocommit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    others, answer, asked = [], dialects.MySQL.answer, []
    with closing(put_mysql(TABLE, mysql, autocommit=autocommit)) as connection:
        run(connection, f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        with closing(pymysql.connect(unix_socket=mysql, database="test", autocommit=True)) as other:

            def inserting(self: Any, sql: str, schema: Any, *, many: bool) -> Any:
                asked.append(many)
                others.append(run(other, "INSERT INTO t (a, y) VALUES (9, 'u')"))
                yield from answer(self, sql, schema, many=many)

            monkeypatch.setattr(dialects.MySQL, "answer", inserting)
            there = fit_sql(NaiveBayes(order=0), connection, SQL, label="y")
        assert set(asked) == {False, True}
        assert_same_sums(there, in_memory(NaiveBayes(order=0), TABLE, ["a", "b"]))
        assert not connection.server_status & 1  # no transaction is open, and new rows are seen
        assert n_rows(connection) == len(TABLE) + len(others)
        assert run(connection, "SELECT @@tx_isolation")[0][0] == level.replace(" ", "-")


def test_a_server_is_only_read(put_maria: Put) -> None:
    connection = put_maria(TABLE)
    body = "BEGIN DELETE FROM t; RETURN 1; END"
    run(connection, f"CREATE OR REPLACE FUNCTION spoil() RETURNS INT {body}", "COMMIT")
    with pytest.raises(SourceError, match="READ ONLY"):
        fit_sql(GaussianNB(), connection, "SELECT spoil() AS a, y FROM (SELECT 'u' AS y) AS s", label="y")
    assert n_rows(connection) == len(TABLE)


# Results with many rows.


def test_rows_stay_on_the_server_until_they_are_fetched(put_maria: Put) -> None:
    """Of 50 MB, a part is in memory; the connection can be used when the others are left."""
    connection = put_maria(TABLE)
    database = dialects.MySQL(connection)
    query = "SELECT CAST(REPEAT('x', 1000) AS BINARY) AS x FROM seq_1_to_50000"
    tracemalloc.start()
    try:
        with database.snapshot():
            batches = database.answer(query, pa.schema([("x", pa.string())]), many=True)
            assert 0 < len(next(batches)) <= 10_000  # and the rest is left
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
    assert n_rows(connection) == len(TABLE)


def test_a_lost_connection_is_the_error(put_maria: Put, mysql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = put_maria(TABLE)
    fetched = dialects._fetched

    def killing(cursor: Any, schema: Any) -> Any:
        for batch in fetched(cursor, schema):
            with closing(pymysql.connect(unix_socket=mysql)) as other:
                run(other, f"KILL {connection.thread_id()}")
            yield batch

    monkeypatch.setattr(dialects, "_fetched", killing)
    with pytest.raises(SourceError, match=r"the database reported an error.*the query was"):
        fit_sql(GaussianNB(), connection, SQL, label="y")
