"""Columns of all types in all formats and engines, and what becomes of them.

``python -m data.type_matrix`` in the folder of the tests prints the tables of docs/reference/column_types.md.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from tiers import late

import candide
from candide import NaiveBayes
from candide.data.conversion import to_text
from candide.exceptions import CandideError

pl = late("polars")
duckdb = late("duckdb")
psycopg = late("psycopg")
pymysql = late("pymysql")

N = 80
HALF = N // 2
PLAIN: dict[str, Any] = {"stacking": None, "calibrate": None, "compute_loo": False, "subsample": 0}


class Case(NamedTuple):
    """Cells of a column, and the type that it may be declared as."""

    cells: list[Any]
    declared: str
    #: Whether the halves hold different types, which a typed column cannot.
    is_mixed: bool = False


def _draw(values: Iterable[Any], seed: int) -> list[Any]:
    each = list(values)
    # Both halves hold all values.
    picks = np.random.default_rng(seed).permutation(np.arange(N) % len(each))
    return [each[pick] for pick in picks]


_DAYS = [dt.date(2024, 2, 29) + dt.timedelta(days=9 * i) for i in range(20)]
_TOPICS = ["the room was clean and quiet", "breakfast came late and cold", "we would stay here again"]
_AGES = _draw([17.0, 18.5, 30.0, 41.25, 55.0, 62.0], 9)
CASES = {
    "integers": Case(_draw([1, 2, 3, 5, 8, 13, 21], 0), "category"),
    "integers as strings": Case(_draw(["1", "2", "3", "5", "8"], 1), "category"),
    "codes with zeros": Case(_draw(["007", "012", "100", "042"], 2), "category"),
    "names": Case(_draw(["red", "green", "blue"], 3), "category"),
    "booleans": Case(_draw([True, False], 4), "boolean"),
    "dates": Case(_draw(_DAYS, 5), "date"),
    "dates with times": Case(_draw([dt.datetime(2024, 3, 1, hour) for hour in range(0, 24, 3)], 6), "date"),
    "decimals": Case(_draw([Decimal("0.25"), Decimal("1.50"), Decimal("-3.75"), Decimal("2.00")], 7), "number"),
    "integers with nulls": Case(_draw([1, 2, None, 4, 5], 8), "number"),
    "codes with nulls": Case(_draw([1, 2, None, 4, 5], 8), "category"),
    "booleans with nulls": Case(_draw([True, None, False], 10), "boolean"),
    "texts": Case([f"{topic}, number {i}" for i, topic in enumerate(_draw(_TOPICS, 11))], "text"),
    "null in the first half": Case([None] * HALF + _draw([1, 2, 3], 12)[HALF:], "number"),
    "strings in the second half": Case([*_AGES[:HALF], *(str(age) for age in _AGES[HALF:])], "number", is_mixed=True),
    "strings in the first half": Case([*(str(age) for age in _AGES[:HALF]), *_AGES[HALF:]], "number", is_mixed=True),
    "numbers and names": Case(_draw([1, "a", 2, "b"], 13), "category", is_mixed=True),
}
# Labels, which a model may have learned as one type and get as another.
LABELS = {
    "integers": ([0, 1], "str"),
    "strings": (["0", "1"], "str"),
    "names": (["ham", "spam"], "str"),
    "booleans": ([False, True], "boolean"),
}


def _table(case: Case, labels: list[Any]) -> dict[str, list[Any]]:
    rng = np.random.default_rng(20)
    y = (rng.random(N) < 0.5).tolist()
    # The column tells something of the class, so that a value that is misread changes probabilities.
    ranks = {to_text(cell): i for i, cell in enumerate(dict.fromkeys(case.cells))}
    y = [bool(ranks[to_text(cell)] % 2) if rng.random() < 0.8 else own for cell, own in zip(case.cells, y, strict=True)]
    x = (rng.normal(size=N) + np.array(y)).round(2).tolist()
    return {"c": case.cells, "x": x, "y": [labels[one] for one in y]}


def table_of(name: str, label: str = "names") -> dict[str, list[Any]]:
    """Return the columns of a case: c, x and the label y."""
    return _table(CASES[name], LABELS[label][0])


def texts_if_mixed(cells: list[Any], mixed: bool) -> list[Any]:
    """Return cells for a typed column, which holds texts where others hold several types."""
    return [None if cell is None else str(cell) for cell in cells] if mixed else cells


def pandas_frame(table: dict[str, list[Any]], case: Case) -> pd.DataFrame:
    """Return a frame with nullable types where pandas has them."""
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in table.items()})
    frame["x"] = frame["x"].astype(float)
    kinds = {type(cell) for cell in case.cells if cell is not None}
    if kinds == {int}:
        frame["c"] = frame["c"].astype("float64" if None in case.cells else "int64")
    elif kinds == {bool}:
        frame["c"] = frame["c"].astype("boolean" if None in case.cells else "bool")
    elif kinds in ({dt.date}, {dt.datetime}):
        frame["c"] = pd.to_datetime(frame["c"])
    return frame.infer_objects()


def arrow_table(table: dict[str, list[Any]], case: Case) -> pa.Table:
    """Return a table of Arrow."""
    return pa.table({name: pa.array(texts_if_mixed(cells, case.is_mixed and name == "c"))
                     for name, cells in table.items()})  # fmt: skip


class Rows(NamedTuple):
    """Rows in a format: how a model learns from them, and how it predicts them."""

    fit: Callable[[Any], Any]
    proba: Callable[[Any], Any]


def _in_memory(frame: Any) -> Rows:
    without = frame.drop(columns="y") if isinstance(frame, pd.DataFrame) else None
    if without is None:
        without = frame.drop("y") if isinstance(frame, pl.DataFrame) else frame.drop_columns("y")
    return Rows(lambda model: model.fit(frame, "y"), lambda model: model.predict_proba(without))


def _numpy(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    X = np.array([table["c"], table["x"]], dtype=object).T
    y = np.array(table["y"])
    return Rows(lambda model: model.fit({"c": X[:, 0], "x": X[:, 1]}, y), lambda model: model.predict_proba(X))


def _source(*paths: Any) -> Rows:
    @cache
    def opened() -> Any:
        return candide.read(*paths, label="y")

    return Rows(lambda model: model.fit(opened()), lambda model: model.predict_proba(opened()))


def _halves(table: dict[str, list[Any]]) -> list[dict[str, list[Any]]]:
    return [{name: cells[part] for name, cells in table.items()} for part in (slice(HALF), slice(HALF, N))]


def _csv(table: dict[str, list[Any]], case: Case, folder: Path, suffix: str = "csv") -> Rows:
    for number, half in enumerate(_halves(table)):
        pd.DataFrame(half, dtype=object).to_csv(folder / f"{number}.{suffix}", index=False)
    return _source(folder / f"*.{suffix}")


def _json(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    for number, half in enumerate(_halves(table)):
        records = [dict(zip(half, map(_json_cell, row), strict=True)) for row in zip(*half.values(), strict=True)]
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return _source(folder / "*.jsonl")


def _json_cell(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return float(cell)
    return str(cell) if isinstance(cell, dt.date) else cell


def _parquet(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    import pyarrow.parquet as pq

    for number, half in enumerate(_halves(table)):
        mixed = len({type(cell) for cell in half["c"]} - {type(None)}) > 1
        pq.write_table(arrow_table(half, case._replace(is_mixed=mixed)), folder / f"{number}.parquet")
    return _source(folder / "*.parquet")


def _arrow(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    arrow = arrow_table(table, case)
    with pa.ipc.new_file(folder / "a.arrow", arrow.schema) as file:
        file.write_table(arrow)
    return _source(folder / "a.arrow")


def _put_sqlite(table: dict[str, list[Any]], folder: Path) -> str:
    path = folder / "a.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (c, x REAL, y)")
        rows = zip(*(map(_sqlite_cell, cells) for cells in table.values()), strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return str(path)


def _sqlite_cell(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Decimal) else str(cell) if isinstance(cell, dt.date) else cell


def _sqlite(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    return _source(f"sqlite:{_put_sqlite(table, folder)}?table=t")


def _sql(address: str, rows: Rows) -> Rows:
    def fit(model: Any) -> Any:
        return candide.fit_sql(model, address, "t", label="y")

    return rows._replace(fit=fit)


def _sqlite_sql(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    path = _put_sqlite(table, folder)
    return _sql(f"sqlite:{path}", _source(f"sqlite:{path}?table=t"))


def _put_duckdb(table: dict[str, list[Any]], case: Case, folder: Path) -> str:
    path = str(folder / "a.duckdb")
    with duckdb.connect(path) as connection:
        connection.register("given", arrow_table(table, case))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return path


def _duckdb(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    return _source(f"duckdb:{_put_duckdb(table, case, folder)}?table=t")


def _duckdb_sql(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    path = _put_duckdb(table, case, folder)
    return _sql(f"duckdb:{path}", _source(f"duckdb:{path}?table=t"))


def postgres_rows(table: dict[str, list[Any]], case: Case, address: str) -> Rows:
    """Put rows into PostgreSQL; predictions are made for rows as its driver fetches them."""
    kinds = {"int64": "BIGINT", "double": "FLOAT8", "string": "TEXT", "bool": "BOOL", "date32[day]": "DATE"}
    kinds |= {"timestamp[us]": "TIMESTAMP"}
    arrow = arrow_table(table, case)
    columns = ", ".join(f"{field.name} {kinds.get(str(field.type), 'NUMERIC(8, 2)')}" for field in arrow.schema)
    with psycopg.connect(address) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(f"CREATE TABLE t ({columns})")
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            for row in zip(*arrow.to_pydict().values(), strict=True):
                copy.write_row(row)
    return _server_rows(lambda: psycopg.connect(address))


def mysql_rows(table: dict[str, list[Any]], case: Case, socket: str) -> Rows:
    """Put rows into MariaDB; predictions are made for rows as PyMySQL fetches them."""
    kinds = {"int64": "BIGINT", "double": "DOUBLE", "string": "TEXT", "bool": "BOOLEAN", "date32[day]": "DATE"}
    kinds |= {"timestamp[us]": "DATETIME"}
    arrow = arrow_table(table, case)
    columns = ", ".join(f"{field.name} {kinds.get(str(field.type), 'DECIMAL(8, 2)')}" for field in arrow.schema)
    opened = partial(pymysql.connect, unix_socket=socket, database="test")
    with opened() as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS t")
        cursor.execute(f"CREATE TABLE t ({columns})")
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s)", list(zip(*arrow.to_pydict().values(), strict=True)))
        connection.commit()
    return _server_rows(opened)


def _server_rows(opened: Callable[[], Any]) -> Rows:
    """Return the rows of the table t of a server."""

    def fit(model: Any) -> Any:
        with opened() as connection:
            return candide.fit_sql(model, connection, "t", label="y")

    def proba(model: Any) -> Any:
        with opened() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT c, x FROM t")
            cells = zip(*cursor.fetchall(), strict=True)
        return model.predict_proba(dict(zip("cx", map(list, cells), strict=True)))

    return Rows(fit, proba)


def _dask(table: dict[str, list[Any]], case: Case, folder: Path) -> Rows:
    import dask
    import dask.dataframe as dd

    frame = dd.from_pandas(pandas_frame(table, case), npartitions=2)

    def fit(model: Any) -> Any:
        with dask.config.set(scheduler="synchronous"):
            return model.fit(frame, "y")

    def proba(model: Any) -> Any:
        with dask.config.set(scheduler="synchronous"):
            return model.predict_proba(frame).compute().iloc[:, -2:].to_numpy()

    return Rows(fit, proba)


def spark_rows(table: dict[str, list[Any]], case: Case, spark: Any) -> Rows:
    """Put rows into a data frame of Spark."""
    arrow = arrow_table(table, case)
    frame = spark.createDataFrame(arrow.to_pylist(), schema=_spark_schema(arrow))

    def proba(model: Any) -> Any:
        return np.array([row[-2:] for row in model.predict_proba(frame).collect()])

    return Rows(lambda model: model.fit(frame, "y"), proba)


def _spark_schema(arrow: pa.Table) -> str:
    names = {"int64": "bigint", "double": "double", "string": "string", "bool": "boolean", "date32[day]": "date"}
    names |= {"timestamp[us]": "timestamp_ntz"}
    return ", ".join(f"{field.name} {names.get(str(field.type), 'decimal(8, 2)')}" for field in arrow.schema)


Format = Callable[..., Rows]
FORMATS: dict[str, Format] = {
    "pandas": lambda table, case, folder: _in_memory(pandas_frame(table, case)),
    "polars": lambda table, case, folder: _in_memory(pl.from_arrow(arrow_table(table, case))),
    "pyarrow": lambda table, case, folder: _in_memory(arrow_table(table, case)),
    "NumPy": _numpy,
    "CSV": _csv,
    "CSV.gz": lambda table, case, folder: _csv(table, case, folder, "csv.gz"),
    "JSON Lines": _json,
    "Parquet": _parquet,
    "Arrow": _arrow,
    "SQLite": _sqlite,
    "SQLite (fit_sql)": _sqlite_sql,
    "DuckDB": _duckdb,
    "DuckDB (fit_sql)": _duckdb_sql,
    "Dask": _dask,
}


class Outcome(NamedTuple):
    """What became of a column in a format."""

    kind: str  # its type when nothing is declared
    later: str  # what becomes of it when the model of pandas gets it: same, converted or refused


def outcome(name: str, make: Callable[[dict[str, list[Any]], Case], Rows]) -> Outcome:
    """Return what becomes of a column; raise an error if a model differs from that of pandas."""
    case, table = CASES[name], table_of(name)
    frame = pandas_frame(table, case)
    rows, X = make(table, case), frame.drop(columns="y")
    declared = NaiveBayes(schema={"c": case.declared}, **PLAIN).fit(frame, "y")
    _assert_same(rows.fit(NaiveBayes(schema={"c": case.declared}, **PLAIN)), declared, X)
    plain = NaiveBayes(**PLAIN).fit(frame, "y")
    kind = _or_refused(lambda: kind_of(rows.fit(NaiveBayes(**PLAIN))))
    found = _or_refused(lambda: rows.proba(plain))
    if isinstance(found, str):
        return Outcome(kind, found)
    np.testing.assert_allclose(found, plain.predict_proba(X), rtol=1e-9, err_msg=f"{name}: another meaning")
    return Outcome(kind, "same" if kind == kind_of(plain) else "converted")


def kind_of(model: Any) -> str:
    """Return the type of the column in question."""
    return str(model.schema_["kind"][0])


def _or_refused(call: Callable[[], Any]) -> Any:
    """Return a result, or "refused" if there is an error that says what to declare."""
    try:
        return call()
    except CandideError as error:
        if "schema={" not in str(error):
            raise
        return "refused"


def _assert_same(model: Any, expected: Any, X: Any) -> None:
    """Models of the same rows: classes, types, labels of categories, and probabilities."""
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    assert kind_of(model) == kind_of(expected)
    mine, theirs = (one.model_.state.statistics for one in (model, expected))
    assert (mine.names, mine.kinds) == (theirs.names, theirs.kinds)
    assert [labels.tolist() for labels in mine.categories.labels] == [
        labels.tolist() for labels in theirs.categories.labels
    ]
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def written(found: dict[str, dict[str, Outcome]]) -> str:
    """Return outcomes by column and format as tables of Markdown; formats without a difference share a column."""
    formats = list(next(iter(found.values())))
    groups: dict[tuple[Outcome, ...], list[str]] = {}
    for format in formats:
        groups.setdefault(tuple(cells[format] for cells in found.values()), []).append(format)
    headings = " | ".join(map(", ".join, groups.values()))
    tables = []
    for part in Outcome._fields:
        lines = [f"| column | {headings} |", f"|---{'|---' * len(groups)}|"]
        for j, name in enumerate(found):
            lines.append(f"| {name} | {' | '.join(getattr(column[j], part) for column in groups)} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def read_tables(page: str) -> dict[str, dict[str, Outcome]]:
    """Return the outcomes that a page lists, by format and column."""
    tables = [_read_table(page, part) for part in Outcome._fields]
    return {
        format: {name: Outcome(*(table[format][name] for table in tables)) for name in CASES} for format in tables[0]
    }


def _read_table(page: str, part: str) -> dict[str, dict[str, str]]:
    lines = page.partition(f"<!-- {part} -->")[2].strip().partition("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    columns = {heading: {row[0]: row[j] for row in rows[2:]} for j, heading in enumerate(rows[0]) if j}
    return {format: cells for heading, cells in columns.items() for format in heading.split(", ")}


def main() -> None:
    """Print the tables of the page for the formats that need no server."""
    from tempfile import TemporaryDirectory

    found: dict[str, dict[str, Outcome]] = {}
    for name in CASES:
        for format, make in FORMATS.items():
            with TemporaryDirectory() as folder:
                found.setdefault(name, {})[format] = outcome(name, partial(make, folder=Path(folder)))
    print(written(found))


if __name__ == "__main__":
    main()
