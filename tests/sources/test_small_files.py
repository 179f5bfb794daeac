"""Many small CSV files: one stream, the same rows, types and errors as one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

import candide
from candide.exceptions import SourceError
from candide.sources import opening
from candide.sources.csv_reader import CsvReader

HEADER = "number,name,label\n"


def written(folder: Path, *contents: str) -> Path:
    for i, content in enumerate(contents):
        (folder / f"part-{i}.csv").write_bytes(content.encode())
    return folder


def one_by_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> candide.sources.source.ArrowSource:
    """The files as they are opened if none is like the first."""
    with monkeypatch.context() as patch:
        patch.setattr(opening, "_open_like", lambda *given: None)
        return candide.read(folder, label="label")


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of files of each stream that is read."""
    found: list[int] = []
    read = CsvReader._read

    def counted(self: CsvReader, *given: object) -> object:
        found.append(1 + len(self._following))
        return read(self, *given)

    monkeypatch.setattr(CsvReader, "_read", counted)
    return found


ALIKE = [HEADER + f"{i},a,u\n{i + 10},b,v\n" for i in range(4)]


def test_files_that_are_alike_are_one_stream(tmp_path: Path, streams: list[int]) -> None:
    source = candide.read(written(tmp_path, *ALIKE, HEADER + "7,,u"), label="label")
    assert source.to_table()["number"].to_pylist() == [0, 10, 1, 11, 2, 12, 3, 13, 7]
    assert streams[-1] == 5
    assert [batch["number"].to_pylist() for batch in source.to_batches(skip=5)] == [[12, 3, 13, 7]]


@pytest.mark.parametrize(
    ("later", "n_streams"),
    [
        (HEADER + "1.5,a,u\n", 1),  # the type of all files becomes that of this one
        (HEADER + '1,"a ""b""",u\n', 1),
        (HEADER + "1,a,u\n\n2,b,v\n", 1),
        (HEADER.replace("\n", "\r\n") + "1,a,u\r\n", 1),
        ("label,name,number\nu,a,1\n", 2),
        (HEADER + '1,"a \\"b\\"",u\n', 2),
        (HEADER.replace(",", ";") + "1;a;u\n", 2),
        (HEADER + "1,ä,u\n", 1),
    ],
    ids=["float", "quotes", "blank line", "line ends", "order", "escapes", "delimiter", "letters"],
)
def test_rows_are_those_of_files_one_after_the_other(
    later: str, n_streams: int, tmp_path: Path, streams: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, *ALIKE, later)
    source, expected = candide.read(folder, label="label"), one_by_one(folder, monkeypatch)
    assert source.schema.equals(expected.schema, check_metadata=True)
    streams.clear()
    table = source.to_table()
    assert len(streams) == n_streams
    rows = [row for part in expected._parts for batch in part.batches(expected._progress, expected.names)
            for row in batch.to_pylist()]  # fmt: skip
    assert [dict(sorted(row.items())) for row in table.to_pylist()] == [dict(sorted(row.items())) for row in rows]


def test_a_column_that_is_empty_in_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, HEADER + ",a,u\n", HEADER + "3,b,v\n")
    source = candide.read(folder, label="label")
    assert source.schema.equals(one_by_one(folder, monkeypatch).schema, check_metadata=True)
    assert source.to_table()["number"].to_pylist() == [None, 3]


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    source = candide.read(written(tmp_path, *ALIKE, HEADER + "1,a,u\nmany,b,v\n"), label="label")
    with pytest.raises(SourceError, match=r"part-4\.csv, line 3: column 'number' contains 'many'"):
        source.to_table()


def test_a_file_that_is_damaged_later_is_named(tmp_path: Path) -> None:
    source = candide.read(written(tmp_path, *ALIKE), label="label")
    written(tmp_path, *ALIKE[:2], HEADER + "1,a,u\n2,b\n")
    with pytest.raises(SourceError, match=r"part-2\.csv, line 3: found 2 cells, expected 3"):
        source.to_table()


def test_rows_that_are_skipped_are_listed_by_file(tmp_path: Path, streams: list[int]) -> None:
    folder = written(tmp_path, *ALIKE, HEADER + "1,a,u\n2,b\n")
    source = candide.read(folder, label="label", on_bad_row="skip")
    assert source.to_table().num_rows == 9
    assert [(Path(bad.file).name, bad.line) for bad in source.bad_rows] == [("part-4.csv", 3)]
    assert set(streams[-5:]) == {1}


def test_a_model_of_many_files_is_that_of_one(tmp_path: Path) -> None:
    rows = [f"{i % 7},{'abc'[i % 3]},{'uv'[i % 2]}\n" for i in range(60)]
    (tmp_path / "parts").mkdir()
    parts = written(tmp_path / "parts", *(HEADER + "".join(rows[i : i + 4]) for i in range(0, 60, 4)))
    whole = tmp_path / "whole.csv"
    order = [Path(part.name) for part in candide.read(parts, label="label")._parts]
    whole.write_text(HEADER + "".join(path.read_text().removeprefix(HEADER) for path in order))
    sources = (candide.read(path, label="label", columns=["number"]) for path in (parts, whole))
    many, one = (candide.GaussianNB().fit(source) for source in sources)
    assert many.theta_.tolist() == one.theta_.tolist()
    assert many.class_count_.tolist() == [30.0, 30.0]
