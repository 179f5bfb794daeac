"""JSON Lines and JSON."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

import candide
from candide.exceptions import SourceError

from .files import COMPRESSIONS, json_lines, write

GOOD = {"n": 1, "text": "née\nhere"}
# More than ``short_sample``, and more than the engine reads at once.
MANY = 2_500


def test_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", json_lines(GOOD, "", {"n": None}, GOOD))
    assert candide.read(path).to_table().to_pylist() == [GOOD, {"n": None, "text": None}, GOOD]


def test_types(tmp_path: Path) -> None:
    record = {"day": "2020-01-31", "truth": True, "x": 1.5, "none": None, "list": ["a", 1], "inner": {"x": 1}}
    (row,) = candide.read(write(tmp_path / "a.jsonl", json_lines(record))).to_table().to_pylist()
    assert row["list"] == '["a",1]'
    assert row["inner"] == '{"x":1}'
    assert (row["day"], row["truth"], row["x"], row["none"]) == (dt.date(2020, 1, 31), True, 1.5, None)


def test_several_kinds_in_one_column_are_texts(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", json_lines({"a": 1}, {"a": "x"}, {"a": 1.5}))
    assert candide.read(path).to_table()["a"].to_pylist() == ["1", "x", "1.5"]


@pytest.mark.parametrize("indent", [None, 1], ids=["one-line", "pretty"])
def test_array(tmp_path: Path, indent: int | None) -> None:
    path = write(tmp_path / "a.json", json.dumps([GOOD, GOOD], indent=indent))
    assert candide.read(path).to_table().to_pylist() == [GOOD, GOOD]


def test_array_that_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"a\.json cannot be read as JSON"):
        candide.read(write(tmp_path / "a.json", '[{"a": 1}, {"a": ')).to_table()


def test_lines_by_another_name(tmp_path: Path) -> None:
    for name in ("a.json", "a.ndjson", "a"):
        assert candide.read(write(tmp_path / name, json_lines(GOOD, GOOD))).to_table().num_rows == 2


@pytest.mark.parametrize("ending", sorted(COMPRESSIONS))
def test_compressed(tmp_path: Path, ending: str) -> None:
    content = json_lines(*[GOOD] * 1000).encode()
    source = candide.read(write(tmp_path / f"a.jsonl.{ending}", COMPRESSIONS[ending](content)))
    assert source.to_table().to_pylist() == [GOOD] * 1000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param('{"n": 2,', "invalid JSON", id="cut-off"),
        pytest.param("5", "not a record", id="number"),
        pytest.param('{"n": "n/a", "text": "x"}', "'n' contains 'n/a', whose type differs from", id="type"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.usefixtures("short_sample")
def test_bad_row(tmp_path: Path, line: str, message: str, newline: str) -> None:
    content = json_lines(*[GOOD] * MANY, line, GOOD).replace("\n", newline)
    path = write(tmp_path / "a.jsonl", content)
    with pytest.raises(SourceError, match=rf"a\.jsonl, line {MANY + 1}: {message}"):
        candide.read(path).to_table()
    source = candide.read(path, on_bad_row="skip")
    assert source.to_table().num_rows == MANY + 1
    assert [bad.line for bad in source.bad_rows] == [MANY + 1]


def test_bad_row_at_the_beginning(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", json_lines("{", GOOD))
    with pytest.raises(SourceError, match="line 1: invalid JSON"):
        candide.read(path).to_table()


def test_no_records(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"contains no records in its first lines \(the first is '5'\)"):
        candide.read(write(tmp_path / "a.jsonl", "5\n6\n"))


@pytest.mark.parametrize("format", ["jsonl", "json"])
@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
def test_keys_that_differ_in_case_are_refused(tmp_path: Path, format: str, apart: bool) -> None:
    records = [{"Text": "a"}, {"text": "b"}] if apart else [{"Text": "a", "text": "b"}]
    content = json_lines(*records) if format == "jsonl" else json.dumps(records)
    with pytest.raises(SourceError, match="has the keys 'Text' and 'text', which differ only in case"):
        candide.read(write(tmp_path / f"a.{format}", content))
