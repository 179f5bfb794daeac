"""Several processes that change one model file: none of the changes is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.terminal import Ran, command, done, run

import candide
from candide import exceptions

ROWS = "text,label\n" + "".join(f"free prize {i},spam\nlunch at noon {i},ham\n" for i in range(10))
HOLD = """
import sys, time, candide
with candide.locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.candide"
    candide.TextNB("multinomial").fit(["free prize", "lunch at noon"], ["spam", "ham"]).save(path)
    return path


def holding(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock of a model file until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def writing(verb: str, model: Path, rows: Path) -> tuple[object, ...]:
    """The arguments of every command that writes a model, here to ``model``."""
    text = model.with_name("dumped.json")
    if verb == "load":
        done("dump", model, "-o", text)
    return {
        "train": ("train", rows, "--label", "label", "--text", "text", "--model", "multinomial", "-o", model),
        "update": ("update", model, rows),
        "forget": ("forget", model, rows),
        "merge": ("merge", model, model, "-o", model),
        "convert": ("convert", model, model),
        "dump": ("dump", model, "-o", model),
        "load": ("load", text, "-o", model),
    }[verb]


def test_two_updates_that_overlap_are_both_kept(model: Path, rows: Path) -> None:
    """The second begins while the first has read the model and not yet written it."""
    code = """
import sys
from candide.cli.app import main
from candide.storage import models
save = models.save_model
def slowly(*arguments, **more):
    print("read", flush=True)
    sys.stdin.readline()
    save(*arguments, **more)
models.save_model = slowly
main()
"""
    first = subprocess.Popen(
        [sys.executable, "-c", code, "update", str(model), str(rows), "-q"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert first.stdin is not None
    assert first.stdout is not None
    assert first.stdout.readline() == "read\n"
    second = subprocess.Popen(command("update", model, rows), stderr=subprocess.PIPE, text=True)
    assert second.stderr is not None
    told = second.stderr.readline()
    first.communicate("\n")
    told += second.communicate()[1]
    assert (first.returncode, second.returncode) == (0, 0)
    assert candide.load(model).class_count_.tolist() == [21.0, 21.0]
    assert "is being changed by another process; waiting for at most 300 s (--lock-timeout)" in told
    assert sorted(path.name for path in model.parent.iterdir()) == ["m.candide", "rows.csv"]


@pytest.mark.slow
def test_six_updates_at_once_are_all_kept(model: Path, rows: Path) -> None:
    every = [subprocess.Popen(command("update", model, rows, "-q")) for _ in range(6)]
    assert [process.wait() for process in every] == [0] * 6
    assert candide.load(model).class_count_.tolist() == [61.0, 61.0]


@pytest.mark.parametrize("verb", ["train", "update", "forget", "merge", "convert", "dump", "load"])
def test_every_command_that_writes_a_model_asks_for_the_lock(verb: str, model: Path, rows: Path) -> None:
    arguments = writing(verb, model, rows)
    before = model.read_bytes()
    with candide.locked(model):
        ran: Ran = run(*arguments, "--lock-timeout", "0.1")
        assert ran.code == 4, ran.err
        assert f"{model}: another process is changing this file" in ran.err
        assert "wait longer with --lock-timeout" in ran.err
        assert model.read_bytes() == before
    ran = run(*arguments, "--lock-timeout", "0.1")
    assert ran.code == 0 or verb == "forget", ran.err  # those rows were never learned
    assert not list(model.parent.glob(".*"))


def test_a_killed_process_blocks_nobody(model: Path, rows: Path) -> None:
    ended(holding(model))
    assert (model.parent / ".m.candide.lock").exists()
    done("update", model, rows, "--lock-timeout", 0, "-q")
    assert candide.load(model).class_count_.tolist() == [11.0, 11.0]
    assert not list(model.parent.glob(".*"))


def test_the_lock_is_that_of_the_file_behind_a_link(model: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.candide"
    link.symlink_to(model)
    with (
        candide.locked(link),
        pytest.raises(exceptions.LockTimeout, match=r"m\.candide: another process"),
        candide.locked(model, 0),
    ):
        pass


def test_the_lock_is_released_by_an_error_and_removed(model: Path) -> None:
    with pytest.raises(ZeroDivisionError), candide.locked(model):
        raise ZeroDivisionError
    with candide.locked(model, timeout=0):
        pass
    assert not list(model.parent.glob(".*"))


def test_waiting_ends_when_the_time_is_over(model: Path) -> None:
    waits: list[int] = []
    began = time.monotonic()
    with (
        candide.locked(model),
        pytest.raises(exceptions.LockTimeout),
        candide.locked(model, 0.2, lambda: waits.append(1)),
    ):
        pass
    assert 0.2 <= time.monotonic() - began < 2
    assert waits == [1]
