"""Ctrl-C, SIGTERM and kill -9 at any moment: the old model or the new one, and a run that goes on where it was."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import candide
from candide.model.train import Training
from candide.specs.text import TextSpec
from candide.storage.models import note_of

from .terminal import command, done, run

N_ROWS = 600
# The command line, with batches so small that a short file has many; one that sends itself a signal after some
# checkpoints is stopped at the same row on every machine.
SMALL = """
import os, sys
from candide.cli import monitor
from candide.cli.app import main
from candide.specs.text import TextSpec
TextSpec.group_bytes = 1 << 12
after, sign = int(sys.argv.pop(1)), int(sys.argv.pop(1))
save, saved = monitor.CheckpointFile.save, []
def counted(*arguments):
    save(*arguments)
    saved.append(1)
    if len(saved) == after:
        os.kill(os.getpid(), sign)
monitor.CheckpointFile.save = counted
main()
"""


def small(*arguments: object, after: int = 0, sign: int = 0) -> list[str]:
    return [sys.executable, "-c", SMALL, str(after), str(int(sign)), *map(str, arguments)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, draw = tmp_path_factory.mktemp("texts") / "texts.csv", random.Random(0)
    words = {"order": ["parcel", "tray", "bulbs", "delivery", "late"], "spam": ["free", "prize", "click", "win", "now"]}
    lines = [
        f"{' '.join(draw.choices([*words[label], 'the', 'a', 'of', 'my', 'we'], k=12))} {i},{label}"
        for i in range(N_ROWS)
        for label in [draw.choice(list(words))]
    ]
    path.write_text("text,label\n" + "\n".join(lines) + "\n")
    return path


def dumped(path: Path) -> list[str]:
    """A model as text, without the date at which it was written."""
    return [line for line in done("dump", path).out.splitlines() if '"date"' not in line]


def stopped(arguments: list[str], sign: signal.Signals, when: float) -> subprocess.CompletedProcess[str]:
    """A command that gets a signal after some seconds, if it is not done by then."""
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(when)
    process.send_signal(sign)
    out, err = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.mark.parametrize(
    "sign",
    [pytest.param(signal.SIGINT, marks=pytest.mark.slow, id="Ctrl-C"), pytest.param(signal.SIGTERM, id="SIGTERM")],
)
def test_a_signal_stops_cleanly_and_training_goes_on(texts: Path, tmp_path: Path, sign: signal.Signals) -> None:
    model, whole, kept = tmp_path / "m.candide", tmp_path / "whole.candide", tmp_path / "m.candide.checkpoint"
    train = "train", texts, "-o", model, "--checkpoint", "--every", 0
    stopped = subprocess.run(small(*train, after=3, sign=sign), capture_output=True, text=True, check=False)
    assert stopped.returncode == (130 if sign == signal.SIGINT else 143), stopped.stderr
    assert f"are saved in {kept}" in stopped.stderr
    assert "--resume" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not model.exists()
    assert "continuing after" in done(*train, "--resume").err
    assert not kept.exists()
    done("train", texts, "-o", whole, "-q")
    assert dumped(model) == dumped(whole)


def _as(kind: str, texts: Path, folder: Path) -> str:
    """Return the rows of a CSV file in another form that training can resume from."""
    table = pd.read_csv(texts)
    path = folder / f"texts.{kind}"
    if kind == "folder":
        path.mkdir()
        for i in range(3):
            table[i * N_ROWS // 3 : (i + 1) * N_ROWS // 3].to_csv(path / f"part{i}.csv", index=False)
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            table.to_sql("texts", connection, index=False)
        return f"sqlite:{path}?table=texts"
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("rows", table)
            connection.execute("CREATE TABLE texts AS SELECT * FROM rows")
        return f"duckdb:{path}?table=texts"
    elif kind == "jsonl":
        table.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        table.to_parquet(path, row_group_size=100)
    else:
        table.to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet", "folder", "sqlite", "duckdb"])
def test_training_killed_again_and_again_gives_the_same_model(kind: str, texts: Path, tmp_path: Path) -> None:
    """Every source that can resume behaves alike."""
    source = _as(kind, texts, tmp_path)
    model, whole = tmp_path / "m.candide", tmp_path / "whole.candide"
    train = "train", source, "-o", model, "--checkpoint", "--every", 0, "--resume", "-q"
    for after in (2, 4, 1):
        killed = subprocess.run(small(*train, after=after, sign=signal.SIGKILL), check=False)
        assert killed.returncode == -signal.SIGKILL
        assert not model.exists()
    done(*train)
    done("train", source, "-o", whole, "-q")
    assert dumped(model) == dumped(whole)


def _fail(*arguments: object, **settings: object) -> None:
    raise RuntimeError("stopped")


def heed_signals() -> None:
    """Tests may run in the background, where shells have Ctrl-C ignored by all that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def wait_until_it_reads(pid: int) -> None:
    """Until a process asks its standard input for more; where no system tells, for a while."""
    call, deadline = Path(f"/proc/{pid}/syscall"), time.monotonic() + 60
    if not call.exists():
        time.sleep(5)
        return
    # The number of "read" is not the same on all processors; its first argument is the file.
    while call.read_text().split()[1:2] != ["0x0"] and time.monotonic() < deadline:
        time.sleep(0.05)


def test_without_a_checkpoint_nothing_is_written(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("train", "-", "-o", tmp_path / "m.candide"), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_signals,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write("text,label\nhello there,a\n")
    process.stdin.flush()
    wait_until_it_reads(process.pid)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130
    assert "nothing was written" in told
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_other_settings_or_another_content_is_refused(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "texts.csv"
    source.write_bytes(texts.read_bytes())
    train = "train", source, "-o", tmp_path / "m.candide", "--checkpoint", "--every", 0
    with monkeypatch.context() as patched:
        patched.setattr(TextSpec, "group_bytes", 1 << 12)
        patched.setattr(Training, "finish", _fail)
        with pytest.raises(RuntimeError, match="stopped"):
            run(*train)
    other = run(*train, "--model", "multinomial", "--resume")
    assert other.code == 1
    assert "different settings" in other.err
    source.write_bytes(texts.read_bytes().replace(b"parcel", b"packet"))
    resumed = run(*train, "--resume")
    assert resumed.code == 1
    assert "different files" in resumed.err


@pytest.mark.slow
def test_killed_at_many_moments(texts: Path, tmp_path: Path) -> None:
    """kill -9 in train, update, merge and forget: every model file is as before or as after."""
    rows = texts.read_text().splitlines(keepends=True)
    part, model, other = tmp_path / "part.csv", tmp_path / "m.candide", tmp_path / "other.candide"
    part.write_text(rows[0] + "".join(rows[1:301]))
    done("train", part, "-o", other, "--with-rows", "-q")
    done("train", texts, "-o", model, "--with-rows", "-q")
    draw, content, before = random.Random(1), model.read_bytes(), candide.load(model).class_count_.sum()
    for number in range(12):
        model.write_bytes(content)
        changes = {
            "train": (small("train", part, "-o", model, "-q"), 300),
            "update": (small("update", model, part, "-q"), N_ROWS + 300),
            "merge": (small("merge", model, other, "-o", model, "-q"), N_ROWS + 300),
            "forget": (small("forget", model, part, "-q"), N_ROWS - 300),
        }
        arguments, after = changes[list(changes)[number % 4]]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.2, 2.5))
        process.kill()
        process.wait()
        assert candide.load(model).class_count_.sum() in (before, after)


def test_a_second_signal_within_a_step_keeps_the_checkpoint_before(texts: Path, tmp_path: Path) -> None:
    """What was done of the step nobody knows: a checkpoint of it might count rows twice."""
    code = f"""
import os, signal, sys
from candide.cli.app import main
from candide.specs.text import TextSpec
from candide.model.train import Training
TextSpec.group_bytes = 1 << 12
add, calls = Training._add, []
def twice(self, *arguments, **more):
    result = add(self, *arguments, **more)
    calls.append(1)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    return result
Training._add = twice
sys.argv = ["candide", "train", {str(texts)!r}, "-o", {str(tmp_path / "m.candide")!r}, "--checkpoint", "--every", "0"]
main()
"""
    stopped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert stopped.returncode == 130, stopped.stderr
    kept = tmp_path / "m.candide.checkpoint"
    assert candide.load(kept).class_count_.sum() == note_of(kept)["n_rows"]


def test_a_signal_while_weighing_keeps_what_was_learned(texts: Path, tmp_path: Path) -> None:
    code = f"""
import os, signal, sys
from candide.cli.app import main
from candide.model.train import Training
def weigh(self, *arguments, **more):
    os.kill(os.getpid(), signal.SIGTERM)
Training.finish = weigh
sys.argv = ["candide", "train", {str(texts)!r}, "-o", {str(tmp_path / "m.candide")!r}, "--checkpoint"]
main()
"""
    stopped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert stopped.returncode == 143, stopped.stderr
    assert note_of(tmp_path / "m.candide.checkpoint")["n_rows"] == N_ROWS
