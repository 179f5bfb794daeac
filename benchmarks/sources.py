"""The same rows from one source and from another: ``python -m benchmarks.sources FOLDER``.

Rows in 200 and 500 partitions of Dask against two, in 200 CSV files against one, in SQLite against rows fetched by its
driver, and in PostgreSQL against DuckDB; and the memory of a fit as the rows of a file grow. FOLDER holds
``adult.parquet`` (48,842 rows of 14 columns and ``label``), which Dask reads; other rows are made. All sides of a table
in turn after a round to warm up, medians. Processor time is that of this process, without PostgreSQL's own.
``--save`` keeps the tables in ``benchmarks/SOURCES.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from pyarrow.csv import write_csv

import candide

from . import scale_data, scale_engines
from .files_data import Tables
from .markdown import heading, line
from .scale_sides import load

RESULTS = Path(__file__).with_name("SOURCES.md")
PACKAGES = ("candide", "dask", "pandas", "pyarrow", "duckdb", "pgserver", "psycopg")
PARTITIONS = (2, 200, 500)
N_FILES, ROWS_PER_FILE = 200, 2_000
LITE_ROWS, LITE_COLUMNS = 300_000, 20
MEMORY_ROWS = (1_200_000, 4_700_000)
# ``ru_maxrss`` would be that of the parent process, if it is larger.
_FIT = """
import sys, candide
from benchmarks.memory import resident
candide.NaiveBayes().fit(candide.read(sys.argv[1], label="label"))
print(resident("VmHWM"))
"""

Sides = dict[str, Callable[[], Any]]


def sums() -> Any:
    """A model that keeps no rows and fits nothing to them."""
    return candide.NaiveBayes(stacking=None, calibrate=None, compute_loo=False)


def compared(title: str, sides: Sides, rounds: int) -> list[str]:
    """A line for each side: seconds, and how many times those of the first."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, run in sides.items():
            began, used = time.perf_counter(), time.process_time()
            run()
            if number:
                taken[name].append((time.perf_counter() - began, time.process_time() - used))
    lines = heading(title, ["s", "processor s", "times the first, s", "processor s"])
    first = None
    for name, times in taken.items():
        seconds = [median(each) for each in zip(*times, strict=True)]
        first = first or seconds
        ratios = [one / other for one, other in zip(seconds, first, strict=True)]
        lines.append(line(name, [f"{number:.2f}" for number in (*seconds, *ratios)]))
    print("\n".join(lines), flush=True)
    return lines


def dask(folder: Path, rounds: int) -> Iterator[str]:
    import dask.dataframe as dd

    table = pd.read_parquet(folder / "adult.parquet").sample(frac=1, random_state=0, ignore_index=True)
    frames = {n: dd.from_pandas(table, npartitions=n) for n in PARTITIONS}
    for name, make in (("NaiveBayes(), sums alone", sums), ("NaiveBayes()", candide.NaiveBayes)):
        sides: Sides = {
            f"{n} partitions": lambda make=make, frame=frame: make().fit(frame, "label") for n, frame in frames.items()
        }
        yield from compared(f"adult on Dask's threads, {name}", sides, rounds)
    lengths: Sides = {f"{n} partitions": lambda f=frame: f.map_partitions(len).compute() for n, frame in frames.items()}
    yield from compared("the same, lengths of the partitions, by Dask alone", lengths, rounds)


def csv_files(folder: Path, rounds: int) -> Iterator[str]:
    source = Tables()
    source.n_rows = N_FILES * ROWS_PER_FILE
    table, many, one = source(np.random.default_rng(0)), folder / "many", folder / "one.csv"
    many.mkdir()
    write_csv(table, one)
    for i in range(N_FILES):
        write_csv(table.slice(i * ROWS_PER_FILE, ROWS_PER_FILE), many / f"part-{i:03d}.csv")
    places = {"one file": one, f"{N_FILES} files": many}
    for name, make in (("NaiveBayes(), sums alone", sums), ("NaiveBayes()", candide.NaiveBayes)):
        sides: Sides = {
            label: lambda make=make, place=place: make().fit(candide.read(place, label="label"))
            for label, place in places.items()
        }
        title = f"CSV, {table.num_rows:,} rows, {one.stat().st_size / 1e6:.0f} MB, {name}"
        yield from compared(title, sides, rounds)


def sqlite(folder: Path, rounds: int) -> Iterator[str]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, LITE_ROWS)
    X = rng.normal(size=(LITE_ROWS, LITE_COLUMNS)) + 0.3 * y[:, None]
    with closing(sqlite3.connect(folder / "rows.sqlite")) as connection:
        connection.execute(f"CREATE TABLE t (label INTEGER, {', '.join(f'x{j} REAL' for j in range(LITE_COLUMNS))})")
        rows = ([label, *cells] for label, cells in zip(y.tolist(), X.tolist(), strict=True))
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (LITE_COLUMNS + 1))})", rows)
        connection.commit()

        def fetched() -> Any:
            table = np.array(connection.execute("SELECT * FROM t").fetchall())
            return candide.GaussianNB().fit(table[:, 1:], table[:, 0].astype(int))

        sides: Sides = {
            "fetchall, np.array, fit": fetched,
            "fit_sql": lambda: candide.fit_sql(candide.GaussianNB(), connection, "t", label="label"),
        }
        yield from compared(f"SQLite, GaussianNB, {LITE_ROWS:,} rows of {LITE_COLUMNS} numbers", sides, rounds)


def postgres(folder: Path, rounds: int, scale: float) -> Iterator[str]:
    data = scale_data.rows(folder / "rows", scale)
    with scale_engines.begun(["duckdb", "postgres"], folder) as engines:
        load(engines.postgres, "rows", data)
        files = f"SELECT * FROM '{data.pattern}'"
        places = {"DuckDB": (engines.duckdb, files), "PostgreSQL": (engines.postgres, "rows")}
        for make in (candide.NaiveBayes, candide.GaussianNB):
            sides: Sides = {
                name: lambda make=make, where=where: candide.fit_sql(make(), *where, label="label")
                for name, where in places.items()
            }
            yield from compared(f"{make.__name__}(), {data.n_rows:,} rows of 20 numbers", sides, rounds)


def memory(folder: Path, scale: float) -> Iterator[str]:
    lines = heading("NaiveBayes() from a Parquet file of 17 columns", ["peak MB", "times the first"])
    peaks: list[float] = []
    for n_rows in (int(n * scale) for n in MEMORY_ROWS):
        path = folder / f"{n_rows}.parquet"
        n_rows = _write(path, n_rows)
        done = subprocess.run([sys.executable, "-c", _FIT, str(path)], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout) / 1e6)
        lines.append(line(f"{n_rows:,} rows", [f"{peaks[-1]:,.0f}", f"{peaks[-1] / peaks[0]:.2f}"]))
    print("\n".join(lines), flush=True)
    yield from lines


def _write(path: Path, n_rows: int) -> int:
    source, schema = Tables(), Tables()(np.random.default_rng()).schema
    n_chunks = -(-n_rows // source.n_rows)
    with pq.ParquetWriter(path, schema) as writer:
        for i in range(n_chunks):
            writer.write_table(source(np.random.default_rng([0, i])))
    return n_chunks * source.n_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument("folder", type=Path, help="of adult.parquet")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median is shown (5)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the rows of databases and of memory (1)")
    parser.add_argument("--only", nargs="+", help="some of dask csv sqlite postgres memory")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of where PostgreSQL keeps files
    load_average = os.getloadavg()[0]
    lines = [
        "# Sources",
        "",
        f"{date.today()}, {', '.join(f'{name} {version(name)}' for name in PACKAGES)}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores, load {load_average:.0f} at the start, medians of "
        f"{given.rounds}. Command: `python -m benchmarks.sources FOLDER --save`; the docstring describes the "
        "procedure.",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        tables: dict[str, Callable[[], Iterator[str]]] = {
            "dask": lambda: dask(given.folder, given.rounds),
            "csv": lambda: csv_files(place, given.rounds),
            "sqlite": lambda: sqlite(place, given.rounds),
            "postgres": lambda: postgres(place, given.rounds, given.scale),
            "memory": lambda: memory(place, given.scale),
        }
        for name, make in tables.items():
            if given.only is None or name in given.only:
                lines += make()
    if given.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
