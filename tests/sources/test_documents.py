"""Folders of texts."""

from __future__ import annotations

from pathlib import Path

import pytest

import candide
from candide.exceptions import InputError, SourceError

from .files import write


def folder(root: Path) -> Path:
    write(root / "ham" / "2.txt", "see you at noon")
    write(root / "ham" / "1.txt", "lunch?\n")
    write(root / "ham" / ".DS_Store", b"\0\1\2")
    write(root / "spam" / "1", "naïve offer".encode("cp1252"))
    write(root / "spam" / "deep" / "2.txt", b"\xff\xfe" + "wide".encode("utf-16-le"))
    return root


def test_sub_folders_are_classes(tmp_path: Path) -> None:
    source = candide.read(folder(tmp_path / "mail"))
    table = source.to_table()
    assert table["text"].to_pylist() == ["lunch?\n", "see you at noon", "naïve offer", "wide"]
    assert table["label"].to_pylist() == ["ham", "ham", "spam", "spam"]
    assert table["file"][0].as_py().endswith("1.txt")
    assert source.roles[:3] == ("label", "text", ("text",))
    assert source.bytes_read == source.n_bytes


def test_names_of_classes_with_dots(tmp_path: Path) -> None:
    for name in ("comp.graphics", "comp.windows.x"):
        write(tmp_path / "news" / name / "1", f"about {name}")
    assert candide.read(tmp_path / "news").to_table()["label"].to_pylist() == ["comp.graphics", "comp.windows.x"]


def test_several_folders_are_classes(tmp_path: Path) -> None:
    root = folder(tmp_path / "mail")
    source = candide.read(root / "spam", root / "ham")
    assert source.to_table()["label"].to_pylist() == ["spam", "spam", "ham", "ham"]


def test_a_folder_without_sub_folders_has_texts_but_no_classes(tmp_path: Path) -> None:
    source = candide.read(folder(tmp_path / "mail") / "ham")
    assert source.names == ["text", "file"]
    with pytest.raises(InputError, match=r"the texts have no labels; .* one subfolder per class"):
        source.roles  # noqa: B018


def test_file_that_is_no_text(tmp_path: Path) -> None:
    root = folder(tmp_path / "mail")
    image = write(root / "ham" / "cat.png", bytes(range(256)) * 10)
    with pytest.raises(SourceError, match="binary data instead of text"):
        candide.read(root).to_table()
    source = candide.read(root, on_bad_row="skip")
    assert source.to_table().num_rows == 4
    assert [bad.file for bad in source.bad_rows] == [str(image)]


def test_links_that_lead_back_or_nowhere(tmp_path: Path) -> None:
    root = folder(tmp_path / "mail")
    (root / "ham" / "back").symlink_to(root)
    (root / "ham" / "nowhere").symlink_to(tmp_path / "nowhere")
    assert candide.read(root).to_table().num_rows == 4


def test_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "mail" / "ham").mkdir(parents=True)
    with pytest.raises(SourceError, match="contains no files; pass a folder with one subfolder of texts per class"):
        candide.read(tmp_path / "mail")


def test_folder_of_tables_is_one_table(tmp_path: Path) -> None:
    for year in (2021, 2020):
        write(tmp_path / "mail" / f"year={year}" / "part.csv", f"text,label\nhello {year},ham\n")
    assert candide.read(tmp_path / "mail").to_table()["text"].to_pylist() == ["hello 2020", "hello 2021"]


def test_lines(tmp_path: Path) -> None:
    source = candide.read(write(tmp_path / "a.txt", "hello you\r\n\r\nnaïve"))
    assert source.to_table()["text"].to_pylist() == ["hello you", "", "naïve"]
    assert source.bytes_read == source.n_bytes


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_lines_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("candide.sources.files._BLOCK_BYTES", size)
    lines = [f"ligne {i} — naïve" for i in range(50)] + ["", "end"]
    source = candide.read(write(tmp_path / "a.txt", "\r\n".join(lines)))
    assert source.to_table()["text"].to_pylist() == lines
