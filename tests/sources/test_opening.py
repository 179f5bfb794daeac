"""What users name: files that are not there, globs, formats, standard input."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import candide
from candide.exceptions import ParameterError, SourceError

from .files import write

CSV = "text,label\nfree entry,spam\nnoon,ham\n"


def test_missing_file(tmp_path: Path) -> None:
    write(tmp_path / "messages.csv", CSV)
    with pytest.raises(SourceError, match=r"there is no file '.*mesages\.csv'; did you mean 'messages\.csv'\?"):
        candide.read(tmp_path / "mesages.csv")
    with pytest.raises(SourceError, match=r"there is no file '.*'; the folder contains messages\.csv"):
        candide.read(tmp_path / "x")
    with pytest.raises(SourceError, match=r"the folder '.*nowhere' does not exist"):
        candide.read(tmp_path / "nowhere" / "x.csv")


def test_glob(tmp_path: Path) -> None:
    for day in (3, 1, 2):
        write(tmp_path / f"{day}.csv", f"text,label\nday {day},ham\n")
    source = candide.read(str(tmp_path / "*.csv"))
    assert source.to_table()["text"].to_pylist() == ["day 1", "day 2", "day 3"]
    with pytest.raises(SourceError, match=r"no file matches '.*\*\.parquet'"):
        candide.read(str(tmp_path / "*.parquet"))


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.csv", CSV)

    def refuse(*args: object, **settings: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"a\.csv cannot be read: permission denied; .* chmod u\+r a\.csv"):
        candide.read(path)


def test_empty_file(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet", "a.jsonl", "a.txt"):
        with pytest.raises(SourceError, match=rf"{name} is empty \(0 bytes\)"):
            candide.read(write(tmp_path / name, b""))


@pytest.mark.parametrize("name", ["a.csv", "a.xyz", "a.jsonl"])
def test_garbage(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match="is neither text nor one of the formats csv, jsonl"):
        candide.read(write(tmp_path / name, bytes(range(256)) * 20))


def test_foreign_format(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"a\.csv is a zip archive or an Excel workbook; export its rows as one of csv"
    ):
        candide.read(write(tmp_path / "a.csv", b"PK\x03\x04" + bytes(100)))


def test_content_tells_where_the_name_does_not(tmp_path: Path) -> None:
    assert candide.read(write(tmp_path / "a.data", CSV)).names == ["text", "label"]
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b.data")
    assert candide.read(tmp_path / "b.data").names == ["x"]
    with pytest.raises(
        SourceError, match=r"its format cannot be detected from .* format to 'text' \(one text per line\)"
    ):
        candide.read(write(tmp_path / "c.data", "Call me Ishmael.\nSome years ago, never mind how long, precisely\n"))
    assert candide.read(tmp_path / "c.data", format="text").to_table().num_rows == 2


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    table = candide.read(write(tmp_path / "a.csv", CSV)).to_table()
    path = tmp_path / f"b{ending}"
    if ending == ".parquet":
        pq.write_table(table, path)
    else:
        write(
            path, CSV if ending == ".csv" else '{"text":"free entry","label":"spam"}\n{"text":"noon","label":"ham"}\n'
        )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    source = candide.read("-")
    assert source.to_table().equals(table)
    assert source.to_table().equals(table)  # as often as one likes


def test_standard_input_in_another_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode("utf-16"))))
    assert candide.read("-").to_table()["label"].to_pylist() == ["spam", "ham"]


def test_standard_input_that_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SourceError, match="standard input is empty"):
        candide.read("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(CSV,))
    writer.start()
    assert candide.read(pipe).to_table().num_rows == 2
    writer.join()


def test_files_beside_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    write(tmp_path / "a.csv", CSV)
    assert candide.read("-", str(tmp_path / "*.csv")).to_table().num_rows == 4


def test_copies_go_with_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    source = candide.read(write(tmp_path / "a.csv", CSV.encode("utf-16")))
    assert len(list((tmp_path / "copies").iterdir())) == 1
    del source
    assert list((tmp_path / "copies").iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"format": "xls"}, "format is 'xls'; expected one of csv, jsonl", id="format"),
        pytest.param({"encoding": "klingon"}, "encoding is 'klingon', which is not a Python encoding", id="encoding"),
        pytest.param({"columns": "text"}, r"columns is the string 'text'; expected a list", id="columns"),
        pytest.param({"on_bad_row": "ignore"}, "on_bad_row is 'ignore'; expected 'error', 'skip'", id="on_bad_row"),
    ],
)
def test_settings_are_checked(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        candide.read(write(tmp_path / "a.csv", CSV), **settings)


def test_nothing_named() -> None:
    with pytest.raises(ParameterError, match="no source was given"):
        candide.read()
