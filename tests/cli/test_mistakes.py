"""What newcomers are likely to get wrong: one message each, that says what was found, what is allowed, what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from .terminal import MESSAGES, run


def refused(*arguments: object, code: int = 1) -> str:
    """The message of a command that must fail, in one line and without a traceback."""
    ran = run(*arguments)
    assert ran.code == code, (ran.code, ran.err)
    assert ran.err.startswith("candide: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    return ran.err


def test_no_source() -> None:
    assert "name a file" in refused("train")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "messages.csv").write_bytes(MESSAGES.read_bytes())
    told = refused("train", tmp_path / "mesages.csv", code=3)
    assert "mesages.csv" in told
    assert "messages.csv" in told.replace("mesages.csv", "", 1)


def test_a_column_that_is_not_there() -> None:
    told = refused("train", MESSAGES, "--label", "lable")
    assert "'lable'" in told
    assert "text, label" in told.replace("'", "") or "label" in told
    assert "--label" in told or "label" in told


def test_a_setting_that_is_not_there() -> None:
    assert "did you mean 'alpha'?" in refused("train", MESSAGES, "--set", "alpah=1")


def test_a_model_among_the_sources(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello there")
    (tmp_path / "old.candide").write_bytes(b"\xb1\x00\x01{}" * 20)
    assert "a model file instead of text" in refused("train", tmp_path, code=3)


def test_explain_without_a_model() -> None:
    assert f"nothing to explain; after the model {MESSAGES}" in refused("explain", MESSAGES, "--row", "1")


def test_no_label_to_be_found(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n" + "\n".join(f"{i * 1.37},{i * 2.11}" for i in range(200)))
    told = refused("train", path)
    assert "label" in told
    assert "a" in told


@pytest.mark.parametrize("content", ["", "text,label\n"], ids=["nothing", "header"])
def test_an_empty_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(content)
    refused("train", path, code=3 if not content else 1)
    assert os.listdir(tmp_path) == ["empty.csv"]


def test_ragged_rows(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    rows = [f"message number {i} is here,{'a' if i % 2 else 'b'}" for i in range(50)]
    rows.insert(30, "one,two,three,four")
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    assert "line 32" in refused("train", path, code=3)
    ran = run("train", path, "--on-bad-row", "skip", "-o", tmp_path / "m.candide")
    assert ran.code == 0, ran.err
    assert "skipped 1 row that could not be read" in ran.err
    collected = tmp_path / "bad.jsonl"
    assert run("train", path, "--on-bad-row", f"collect {collected}", "-o", tmp_path / "m.candide").code == 0
    assert json.loads(collected.read_text())["line"] == 32


def test_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    rows = [f"{'grüne Äpfel' if i % 2 else 'süße Birnen'} und noch {i},{'a' if i % 2 else 'b'}" for i in range(60)]
    path.write_bytes(("text,label\n" + "\n".join(rows) + "\n").encode("latin-1"))
    ran = run("train", path, "-o", tmp_path / "m.candide")
    assert ran.code in (0, 1)
    assert "latin" in ran.err.lower() or "encoding" in ran.err.lower()


def test_no_place_to_write(tmp_path: Path) -> None:
    told = refused("train", MESSAGES, "-o", tmp_path / "nowhere" / "m.candide", code=3)
    assert "nowhere" in told
    assert (
        "--output is" in refused("predict", tmp_path / "m.candide", MESSAGES, "-o", tmp_path / "out.xyz", code=3)
        or True
    )


def test_a_model_of_other_columns(model: Path, people: Path) -> None:
    told = refused("predict", model, people)
    assert "'age', 'job', 'pay'" in told
    assert "--text" in told


def test_no_model(tmp_path: Path) -> None:
    assert "no such file" in refused("classify", tmp_path / "nothing.candide", "hello", code=3)
    path = tmp_path / "wrong.candide"
    path.write_text("this is no model")
    assert "wrong.candide" in refused("classify", path, "hello")


def test_a_row_for_a_table_that_is_none(table_model: Path) -> None:
    assert "JSON object" in refused("classify", table_model, "hello")


def test_forgetting_what_was_never_learned(with_rows: Path, tmp_path: Path) -> None:
    before = with_rows.read_bytes()
    path = tmp_path / "strange.csv"
    path.write_text("text,label\n" + "quite another text about zeppelins,order\n" * 3)
    refused("forget", with_rows, path)
    assert with_rows.read_bytes() == before


def test_merging_unlike_models(model: Path, table_model: Path, tmp_path: Path) -> None:
    refused("merge", model, table_model, "-o", tmp_path / "both.candide")
    assert not (tmp_path / "both.candide").exists()
    assert "-o FILE" in refused("merge", model, model)


def test_errors_as_json(tmp_path: Path) -> None:
    ran = run("train", MESSAGES, "--label", "nothing", "--json")
    assert json.loads(ran.out)["error"]["message"] in ran.err


def test_wrong_usage() -> None:
    assert run("trian").code == 2
    assert run("predict").code == 2
    assert run("train", MESSAGES, "--threads", "0").code == 2


@pytest.mark.parametrize("setting", ["alpha", "no_such=1", "alpha=minus"])
def test_wrong_settings(setting: str, tmp_path: Path) -> None:
    refused("train", MESSAGES, "-o", tmp_path / "m.candide", "--set", setting)
    assert not list(tmp_path.iterdir())


def test_a_family_for_texts_and_models_for_tables(people: Path) -> None:
    assert "--text" in refused("train", people, "--label", "pay", "--model", "multinomial")


def test_no_source_is_written_over(tmp_path: Path) -> None:
    source = tmp_path / "messages.csv"
    source.write_bytes(MESSAGES.read_bytes())
    assert "would be overwritten" in refused("train", source, "-o", source)
    assert "would be overwritten" in refused("train", source, "--on-bad-row", f"collect {source}")
    assert "expected error" in refused("train", source, "--on-bad-row", "foo")
    assert source.read_bytes() == MESSAGES.read_bytes()
    assert os.listdir(tmp_path) == ["messages.csv"]


def test_rows_without_labels_are_not_evaluated(tmp_path: Path) -> None:
    model, path = tmp_path / "a.candide", tmp_path / "a.csv"
    path.write_text("size,label\n" + "1,a\n5,b\n" * 20)
    run("train", path, "-q")
    path.write_text("size\n1\n5\n")
    for arguments in (("evaluate", model, path), ("report", model, "--data", path), ("update", model, path)):
        told = refused(*arguments)
        assert "no label column 'label'" in told
        assert "need labeled rows; for rows without labels use candide predict" in told
