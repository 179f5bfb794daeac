"""The engines of ``benchmarks.scale``, each begun once and ended in the end."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import candide

from .scale_data import Data

N_WORKERS = 2


class Engines(NamedTuple):
    """Those that take part; None for others."""

    dask: Any = None  # a client
    spark: Any = None  # a session
    duckdb: Any = None  # a connection
    postgres: Any = None  # a connection


@contextmanager
def begun(names: list[str], folder: Path) -> Iterator[Engines]:
    makers = {"dask": dask, "spark": spark, "duckdb": duckdb, "postgres": postgres}
    with ExitStack() as stack:
        yield Engines(**{name: stack.enter_context(makers[name](folder)) for name in names})


def found() -> list[str]:
    """Engines that are installed, and that candide can ask."""
    packages = {"dask": "distributed", "spark": "pyspark", "duckdb": "duckdb", "postgres": "pgserver"}
    asked = [name for name in packages if name in ("dask", "spark") or hasattr(candide, "fit_sql")]
    return [name for name in asked if find_spec(packages[name])]


@contextmanager
def dask(folder: Path) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=None, local_directory=str(folder)
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def spark(folder: Path) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    }  # fmt: skip
    builder = SparkSession.builder.master(f"local[{N_WORKERS}]").appName("benchmarks.scale")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def duckdb(folder: Path) -> Iterator[Any]:
    from duckdb import connect

    with connect(config={"threads": N_WORKERS}) as connection:
        yield connection


@contextmanager
def postgres(folder: Path) -> Iterator[Any]:
    import pgserver
    import psycopg

    server = pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            yield connection
    finally:
        server.cleanup()


def load(connection: Any, name: str, data: Data) -> None:
    """The files as a table of PostgreSQL."""
    kinds = {pa.string(): "text", pa.int64(): "bigint", pa.float64(): "double precision"}
    columns = ", ".join(f'"{field.name}" {kinds[field.type]}' for field in data.held_out.schema)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
            for path in sorted(data.folder.glob("*.parquet")):
                for batch in pq.ParquetFile(path).iter_batches():
                    copy.write(_as_csv(batch))
        cursor.execute(f"ANALYZE {name}")


def _as_csv(batch: pa.RecordBatch) -> bytes:
    out = io.BytesIO()
    pc.write_csv(batch, out, pc.WriteOptions(include_header=False))
    return out.getvalue()
