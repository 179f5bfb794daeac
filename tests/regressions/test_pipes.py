"""``/dev/stdout`` that is a pipe, and rows for models without names of columns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from cli.terminal import INBOX, MESSAGES, command, done, run

import candide

STDOUT = Path("/dev/stdout")
needs_dev = pytest.mark.skipif(not STDOUT.exists(), reason="a system without /dev/stdout")


def piped(*arguments: object) -> bytes:
    ended = subprocess.run(command(*arguments), capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout


@needs_dev
def test_a_model_into_a_pipe(tmp_path: Path) -> None:
    """It said that there was no such file: a pipe has no name behind the links."""
    path = tmp_path / "piped.candide"
    path.write_bytes(piped("train", MESSAGES, "-o", STDOUT, "--quiet", "--model", "multinomial"))
    assert len(candide.load(path).classes_) == 5


def test_a_model_and_an_answer_in_one_stream_are_refused() -> None:
    refused = run("train", MESSAGES, "-o", "/dev/stdout", "--json")
    assert refused.code != 0
    assert "--json and the model would both be written" in refused.err + refused.out


@needs_dev
def test_answers_and_texts_into_a_pipe(tmp_path: Path) -> None:
    """An ending was asked for."""
    path = tmp_path / "mail.candide"
    candide.TextNB("multinomial").fit(["win cash", "see you"], ["spam", "ham"]).save(path)
    assert piped("predict", path, INBOX, "-o", STDOUT).decode() == done("predict", path, INBOX).out
    assert piped("dump", path, "-o", STDOUT).decode() == done("dump", path).out


@pytest.fixture
def nameless(tmp_path: Path) -> Path:
    path, rows = tmp_path / "rows.candide", np.array([[1.0, 5.0], [2.0, 6.0], [8.0, 1.0], [9.0, 2.0]])
    candide.GaussianNB().fit(rows, ["low", "low", "high", "high"]).save(path)
    return path


def test_rows_without_names(nameless: Path) -> None:
    """The message was "Expected 2D array, got scalar array instead"."""
    refused = run("classify", nameless, '{"x": 1}')
    assert refused.code == 1
    assert "trained without them; pass a list of 2 cells, such as [1, 2]" in refused.err
    assert "has 1 cells; this model needs a list of 2 cells" in run("classify", nameless, "[1]").err
    answered = done("classify", nameless, "[1, 5]", "{}", "[9, 2]").out.splitlines()
    assert [line.split("\t")[0] for line in answered] == ["low", "high", "high"]
    assert "x0 = 1" in done("explain", nameless, "[1, 5]").out
    assert "trained without them" in run("explain", nameless, '{"x": 1}').err
