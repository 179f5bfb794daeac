"""Standard input: ``-`` on every command, and ``predict`` behind a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli.terminal import command, done, run

import candide
from candide import NaiveBayes, TextNB

TEXTS = ["win a free prize", "see you at lunch", "free cash, win", "lunch is at noon"] * 5
LABELS = ["spam", "ham"] * 10
MAIL = "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in zip(TEXTS, LABELS, strict=True))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.candide"
    rows = tmp_path / "mail.csv"
    rows.write_text(MAIL)
    TextNB("multinomial").fit(candide.read(rows)).save(path, sample=True)
    return path


def test_classify_lines_of_stdin(model: Path) -> None:
    by_pipe = done("classify", model, stdin="win cash\nsee you\n").out
    assert by_pipe.startswith("spam\t")
    assert by_pipe.count("\n") == 2
    assert done("classify", model, "-", stdin="win cash\nsee you\n").out == by_pipe
    first, *rest = done("classify", model, "at noon", "-", stdin="win cash\nsee you\n").out.splitlines(keepends=True)
    assert first.startswith("ham")
    assert "".join(rest) == by_pipe


def test_classify_rows_of_stdin(tmp_path: Path) -> None:
    path = tmp_path / "people.candide"
    NaiveBayes(order=0).fit({"age": [20, 30, 60, 70] * 5}, ["low", "low", "high", "high"] * 5).save(path)
    assert done("classify", path, "-", stdin='{"age": 65}\n').out.startswith("high\t")


def test_explain_lines_of_stdin(model: Path) -> None:
    alone = done("explain", model, "win cash", "--json").out
    piped = done("explain", model, "-", "--json", stdin="win cash\nsee you\n").out
    assert piped.splitlines()[0] == alone.strip()
    assert json.loads(piped.splitlines()[1])["prediction"] == "ham"


def test_predict_behind_a_pipe(model: Path) -> None:
    expected = done("predict", model, "-", stdin=MAIL).out
    assert expected.count("\n") == 21
    assert done("predict", model, stdin=MAIL).out == expected


def test_predict_behind_a_pipe_of_the_shell(model: Path) -> None:
    ran = subprocess.run(command("predict", model), input=MAIL.encode(), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.decode() == done("predict", model, "-", stdin=MAIL).out


def test_predict_without_a_source(model: Path) -> None:
    ran = run("predict", model, stdin="")
    assert ran.code == 3
    assert "standard input is empty" in ran.err


@pytest.mark.parametrize("name", ["train", "compare", "update", "evaluate", "forget"])
def test_rows_of_stdin(name: str, model: Path, tmp_path: Path) -> None:
    where = ["-o", tmp_path / "out.candide"] if name in ("train", "update", "forget") else []
    rows = "".join(MAIL.splitlines(keepends=True)[:5]) if name == "forget" else MAIL
    done(name, *([] if name in ("train", "compare") else [model]), "-", *where, stdin=rows)


@pytest.mark.parametrize("name", ["show", "dump"])
def test_a_model_of_stdin(name: str, model: Path) -> None:
    assert done(name, "-", stdin=model.read_bytes()).out == done(name, model).out


def test_a_model_of_stdin_in_other_commands(model: Path, tmp_path: Path) -> None:
    content = model.read_bytes()
    assert done("classify", "-", "win cash", stdin=content).out == done("classify", model, "win cash").out
    text = done("dump", model).out
    assert done("classify", "-", "win cash", stdin=text).out == done("classify", model, "win cash").out
    done("convert", "-", tmp_path / "same.json", stdin=content)
    assert (tmp_path / "same.json").read_text() == text
    done("merge", "-", model, "-o", tmp_path / "twice.candide", stdin=content)
    assert candide.load(tmp_path / "twice.candide").class_count_.tolist() == [20, 20]
    done("report", "-", "-o", tmp_path / "page.html", stdin=content)


def test_standard_input_is_read_once(model: Path, tmp_path: Path) -> None:
    for arguments in (["classify", "-", "-"], ["classify", "-"], ["predict", "-"], ["train", "-", "-"],
                      ["merge", "-", "-", "-o", tmp_path / "m.candide"], ["evaluate", "-", "-"]):  # fmt: skip
        ran = run(*arguments, stdin=b"x")
        assert ran.code == 1, arguments
        assert "it can be read only once" in ran.err
    assert "pass -o FILE" in run("update", "-", model, stdin=b"x").err


def test_an_error_names_standard_input() -> None:
    told = run("show", "-", stdin="age,job,pay\n1,a,x\n").err
    assert told.startswith("candide: standard input cannot be loaded: it is not a model file")
    assert sys.platform == "win32" or "/tmp" not in told


def test_a_model_as_text_of_stdin(model: Path, tmp_path: Path) -> None:
    text = done("dump", model).out
    done("load", "-", "-o", tmp_path / "same.candide", stdin=text)
    assert done("dump", tmp_path / "same.candide").out == text


def test_rows_of_stdin_for_a_report(model: Path, tmp_path: Path) -> None:
    rows = tmp_path / "mail.csv"
    by_file = done("report", model, "--data", rows, "--json", "-o", tmp_path / "a.html").out
    piped = done("report", model, "--data", "-", "--json", "-o", tmp_path / "b.html", stdin=MAIL).out
    found, expected = json.loads(piped), json.loads(by_file)
    apart = {"page": "", "made": ""}  # where each was written, and when
    assert found | apart == expected | apart


def test_dump_to_stdout(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert done("dump", model, "-o", "-").out == done("dump", model).out
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("name", ["train", "update", "forget", "merge", "load", "report"])
def test_models_and_pages_are_not_written_to_stdout(
    name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.json").write_text(done("dump", model).out)
    given = {"train": ["mail.csv"], "merge": [model, model], "load": ["model.json"], "report": [model]}
    ran = run(name, *given.get(name, [model, "mail.csv"]), "-o", "-")
    assert ran.code == 1
    assert "the output is -, but only predict and dump can write to standard output; pass a file" in ran.err
    assert not (tmp_path / "-").exists()
