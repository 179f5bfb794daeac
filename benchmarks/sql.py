"""Table models as SQL queries, beside ``predict_proba``: ``python -m benchmarks.sql [--data FOLDER] [--save]``.

Models are trained on data of scikit-learn, on a made table with columns of many categories and, with ``--data``, on
``FOLDER/tabular/adult.parquet``. They score rows of these tables, drawn with replacement, whose numbers are moved by a
tenth of their deviation. A query and ``predict_proba`` take turns, on one thread (Spark: two).
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import candide
from candide import CategoricalNB, GaussianNB, NaiveBayes

from . import scale_engines
from .markdown import heading, line, show

RESULTS = Path(__file__).with_name("SQL.md")
# Measured once, at commit 75c438e9.
BEFORE = """
Before numbers that depend on a column became tables, and counts became lists in DuckDB, queries for DuckDB had these
figures, measured once (one round) on the same machine at commit 75c438e9. Of `NaiveBayes()` on wine, 4,000 rows took
7.1 seconds of processor time, and 1.4 to 1.5 now.

| model | rows | query, kB | ratio |
|---|---|---|---|
| `NaiveBayes()`, iris | 20,000 | 240 | 21.4 |
| `GaussianNB()`, wine | 20,000 | 7 | 113.2 |
| `NaiveBayes(order=0)`, wine | 20,000 | 109 | 26.5 |
| `NaiveBayes()`, wine | | 1344 | |
"""
# Engines, and how many rows they score.
ENGINES = {"duckdb": 20_000, "sqlite": 500, "postgres": 500, "spark": 1_000}


class Case(NamedTuple):
    """A fitted model, and rows from which those to score are drawn."""

    name: str
    model: Any
    rows: pd.DataFrame


def drawn(table: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Return rows with replacement, with noise in the columns of fractions."""
    rows, rng = table.sample(n_rows, replace=True, random_state=0, ignore_index=True), np.random.default_rng(0)
    numbers = [name for name in rows if rows[name].dtype == float and (rows[name] % 1 != 0).any()]
    for name in numbers:
        rows[name] += rng.normal(0, 0.1 * rows[name].std(), n_rows)
    return rows


def many_categories() -> tuple[pd.DataFrame, Any]:
    """Return 3,000 rows with two columns of hundreds of categories."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3_000)
    frame = pd.DataFrame({f"code{j}": (rng.zipf(1.3, 3_000) * (2 - y) + j) % 400 for j in range(2)}).astype(str)
    return frame.assign(amount=rng.lognormal(y * 0.5), kind=rng.choice(list("abcd"), 3_000)), y


def cases(folder: Path | None) -> Iterator[Case]:
    """Fit the models."""
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        table, y = load(return_X_y=True, as_frame=True)
        models = [NaiveBayes()] if name != "wine" else [GaussianNB(), NaiveBayes(order=0), NaiveBayes()]
        for model in models:
            title = "NaiveBayes(order=0)" if getattr(model, "order", 1) == 0 else f"{type(model).__name__}()"
            yield Case(f"{title}, {name}", model.fit(table, y), table)
    table, y = many_categories()
    categories = table[["code0", "code1", "kind"]]
    yield Case("CategoricalNB(), many categories", CategoricalNB().fit(categories, y), categories)
    yield Case("NaiveBayes(), many categories", NaiveBayes().fit(table, y), table)
    if folder is not None:
        adult = pd.read_parquet(folder / "tabular" / "adult.parquet").sample(frac=1, random_state=0, ignore_index=True)
        y, rows = adult.pop("label"), adult.tail(10_000)
        for title, settings in (("refine=False", {"refine": False}), ("order=0", {"order": 0})):
            yield Case(f"NaiveBayes({title}), adult", NaiveBayes(**settings).fit(adult[:36_000], y[:36_000]), rows)


# Scores a table with a query; returns what it takes to do so.
Run = Callable[[str, pd.DataFrame], Callable[[], pd.DataFrame]]


def by_duckdb(connection: Any) -> Run:
    def prepare(query: str, rows: pd.DataFrame) -> Callable[[], pd.DataFrame]:
        connection.register("given", rows)
        connection.execute("SET threads = 1")
        connection.execute('CREATE OR REPLACE TABLE "rows" AS SELECT * FROM given')
        return lambda: connection.sql(query).to_arrow_table().to_pandas()

    return prepare


def by_sqlite() -> Run:
    def prepare(query: str, rows: pd.DataFrame) -> Callable[[], pd.DataFrame]:
        connection = sqlite3.connect(":memory:")
        rows.to_sql("rows", connection, index=False)
        return lambda: pd.DataFrame(connection.execute(query).fetchall())

    return prepare


def by_postgres(connection: Any) -> Run:
    def prepare(query: str, rows: pd.DataFrame) -> Callable[[], pd.DataFrame]:
        kinds = {"f": "float8", "i": "bigint"}
        columns = ", ".join(f'"{name}" {kinds.get(column.dtype.kind, "text")}' for name, column in rows.items())
        connection.execute('DROP TABLE IF EXISTS "rows"')
        connection.execute(f'CREATE TABLE "rows" ({columns})')
        with connection.cursor().copy('COPY "rows" FROM STDIN') as copy:
            for row in rows.astype(object).itertuples(index=False):
                copy.write_row([None if pd.isna(cell) else cell for cell in row])
        connection.execute('ANALYZE "rows"')
        return lambda: pd.DataFrame(connection.execute(query).fetchall())

    return prepare


def by_spark(session: Any) -> Run:
    def prepare(query: str, rows: pd.DataFrame) -> Callable[[], pd.DataFrame]:
        frame = session.createDataFrame(rows).coalesce(1).cache()
        frame.count()
        frame.createOrReplaceTempView("rows")
        return lambda: session.sql(query).toPandas()

    return prepare


def begun(names: list[str], stack: ExitStack) -> Iterator[tuple[str, Run, float]]:
    """Begin the engines; also yield the seconds that takes."""
    folder = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
    for name in names:
        start = time.perf_counter()
        if name == "sqlite":
            run = by_sqlite()
        else:
            engine = stack.enter_context(getattr(scale_engines, name)(folder))
            run = {"duckdb": by_duckdb, "postgres": by_postgres, "spark": by_spark}[name](engine)
        yield name, run, time.perf_counter() - start


class Timing(NamedTuple):
    """Medians of seconds, and the largest difference between probabilities."""

    query: float
    python: float
    difference: float


def measured(model: Any, rows: pd.DataFrame, query: str, run: Run, rounds: int) -> Timing:
    """Let a query and ``predict_proba`` take turns."""
    score = run(query, rows.assign(id=np.arange(len(rows))))
    found = score()
    found = found.set_axis(["id", "prediction", *range(found.shape[1] - 2)], axis=1).sort_values("id")
    difference = np.abs(found.iloc[:, 2:].to_numpy(float) - model.predict_proba(rows)).max()
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for own, act in zip(seconds, (score, lambda: model.predict_proba(rows)), strict=True):
            start = time.perf_counter()
            act()
            own.append(time.perf_counter() - start)
    return Timing(*map(statistics.median, seconds), float(difference))


def report(names: list[str], folder: Path | None, rounds: int) -> Iterator[str]:
    versions = f"candide {candide.__version__}, {', '.join(f'{name} {version}' for name, version in _versions(names))}"
    yield (
        f"# Scoring in SQL\n\n{date.today()}, {versions}. Rows are scored by a query and by "
        f"`predict_proba`, in turns: medians of {rounds} rounds. A ratio is the query's time divided by that of "
        "`predict_proba`. Command: `python -m benchmarks.sql --data FOLDER --save`."
    )
    with ExitStack() as stack:
        engines = list(begun(names, stack))
        yield f"\nStarting takes {', '.join(f'{name} {seconds:.1f} s' for name, _, seconds in engines)}."
        yield from heading(
            "model", ["engine", "rows", "query, kB", "query, s", "predict_proba, s", "ratio", "difference"]
        )
        for case in cases(folder):
            case.model.set_params(n_threads=1)
            for name, run, _ in engines:
                query = case.model.to_sql(name, keep=["id"])
                found = measured(case.model, drawn(case.rows, ENGINES[name]), query, run, rounds)
                cells = [f"{ENGINES[name]:,}", f"{len(query) / 1e3:.0f}", f"{found.query:.3f}", f"{found.python:.4f}"]
                ratio = f"{found.query / found.python:.1f}"
                yield line(f"`{case.name.replace(', ', '`, ', 1)}", [name, *cells, ratio, f"{found.difference:.0e}"])


def _versions(names: list[str]) -> Iterator[tuple[str, str]]:
    from importlib.metadata import version

    packages = {"duckdb": "duckdb", "postgres": "pgserver", "spark": "pyspark"}
    for name in names:
        yield name, sqlite3.sqlite_version if name == "sqlite" else version(packages[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of tabular/adult.parquet")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), help=f"some of {' '.join(ENGINES)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of PySpark about versions of pandas
    show(report(arguments.engines, arguments.data, arguments.rounds), RESULTS if arguments.save else None, BEFORE)


if __name__ == "__main__":
    main()
