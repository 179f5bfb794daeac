"""Ctrl-C, SIGTERM and kill -9 at any moment: the old model or the new one, and a run that goes on where it was."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import candide

from .terminal import done

N_ROWS = 4_000
# The command line, with batches so small that a short file has many.
SMALL = (
    "import sys, candide.sources.part as part; part.BATCH_BYTES = 1 << 14; part.LEAST_ROWS = 1;"
    "from candide.cli.app import main; sys.argv[0] = 'candide'; main()"
)


def small(*arguments: object) -> list[str]:
    return [sys.executable, "-c", SMALL, *map(str, arguments)]


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


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_stops_cleanly_and_training_goes_on(texts: Path, tmp_path: Path, sign: signal.Signals) -> None:
    model, whole = tmp_path / "m.candide", tmp_path / "whole.candide"
    train = small("train", texts, "-o", model, "--checkpoint", "--every", 0)
    for when in (1.0, 1.6, 2.2, 0.7):
        ran = stopped(train, sign, when)
        if (tmp_path / "m.candide.checkpoint").exists():
            break
    else:
        pytest.skip("this machine is too fast or too slow to be stopped half-way")
    assert ran.returncode == (130 if sign == signal.SIGINT else 143)
    assert "--resume" in ran.stderr
    assert not model.exists()
    resumed = subprocess.run([*train, "--resume"], capture_output=True, text=True, check=True)
    assert "going on after" in resumed.stderr
    assert not (tmp_path / "m.candide.checkpoint").exists()
    subprocess.run(small("train", texts, "-o", whole, "-q"), check=True)
    assert dumped(model) == dumped(whole)


def test_a_checkpoint_of_other_settings_is_refused(texts: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.candide"
    ran = stopped(small("train", texts, "-o", model, "--checkpoint", "--every", 0), signal.SIGKILL, 1.5)
    if not (tmp_path / "m.candide.checkpoint").exists():
        pytest.skip(f"there was no checkpoint yet: {ran.stderr}")
    other = small("train", texts, "-o", model, "--model", "multinomial", "--resume")
    told = subprocess.run(other, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "other settings" in told.stderr


def killed_at_many_moments(texts: Path, folder: Path, n_moments: int) -> None:
    """kill -9 in train, update, merge and forget: every model file is as before or as after."""
    rows = texts.read_text().splitlines(keepends=True)
    part, model, other = folder / "part.csv", folder / "m.candide", folder / "other.candide"
    part.write_text(rows[0] + "".join(rows[1:1001]))
    done("train", part, "-o", other, "--updatable", "-q")
    draw = random.Random(1)
    for number in range(n_moments):
        done("train", texts, "-o", model, "--updatable", "-q")
        before = candide.load(model).class_count_.sum()
        changes = {
            "train": (small("train", part, "-o", model, "-q"), 1000),
            "update": (small("update", model, part, "-q"), N_ROWS + 1000),
            "merge": (small("merge", model, other, "-o", model, "-q"), N_ROWS + 1000),
            "forget": (small("forget", model, part, "-q"), N_ROWS - 1000),
        }
        arguments, after = changes[list(changes)[number % 4]]
        stopped(arguments, signal.SIGKILL, draw.uniform(0.2, 2.5))
        assert candide.load(model).class_count_.sum() in (before, after)


def test_killed_at_some_moments(texts: Path, tmp_path: Path) -> None:
    killed_at_many_moments(texts, tmp_path, 4)


@pytest.mark.slow
def test_killed_at_many_moments(texts: Path, tmp_path: Path) -> None:
    killed_at_many_moments(texts, tmp_path, 12)


def test_training_killed_again_and_again_gives_the_same_model(texts: Path, tmp_path: Path) -> None:
    model, whole = tmp_path / "m.candide", tmp_path / "whole.candide"
    train = small("train", texts, "-o", model, "--checkpoint", "--every", 0, "--resume", "-q")
    for when in (1.2, 1.0, 1.4):
        stopped(train, signal.SIGKILL, when)
    subprocess.run(train, check=True)
    subprocess.run(small("train", texts, "-o", whole, "-q"), check=True)
    assert dumped(model) == dumped(whole)
