"""examples/stream.py: prequential evaluation, drift detection, and checkpoints that survive a kill."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import candide

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "examples" / "stream.py"


@pytest.fixture(scope="module")
def stream() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stream_example", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def as_lines(messages: Any) -> list[str]:
    return [json.dumps({"text": text, "label": label}) + "\n" for text, label in messages]


def model_of(checkpoint: Path) -> Any:
    return candide.load(checkpoint.with_name(json.loads(checkpoint.read_text())["model"]))


def warned(printed: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) messages: DRIFT", printed)]


@pytest.mark.parametrize("seed", range(3))
def test_drift_is_warned_of_after_the_change_and_not_before(stream: ModuleType, seed: int, capsys: Any) -> None:
    stream.Run(stream.Checkpoint(None), 2000.0, 50, 500).through(stream.generated(1300, 800, seed))
    found = warned(capsys.readouterr().out)
    assert len(found) == 1
    assert 800 < found[0] < 900


def test_what_does_not_change_is_not_warned_of(stream: ModuleType, capsys: Any) -> None:
    stream.Run(stream.Checkpoint(None), 2000.0, 50, 500).through(stream.generated(2500, 2500))
    assert warned(capsys.readouterr().out) == []


@pytest.mark.slow
def test_killed_and_resumed_as_if_nothing_had_been(stream: ModuleType, tmp_path: Path, capsys: Any) -> None:
    """Killed while it waits in the middle of a line, after the warning and after its last checkpoint."""
    lines = as_lines(stream.generated(1000, 450))
    file, whole = tmp_path / "growing.jsonl", tmp_path / "whole.jsonl"
    whole.write_text("".join(lines))
    stream.main([str(whole), "--every", "200", "--checkpoint", str(tmp_path / "whole.json")])
    uninterrupted = capsys.readouterr().out.splitlines()

    file.write_text("".join(lines[:730]) + lines[730][:20])
    options = ["--every", "200", "--checkpoint", str(tmp_path / "growing.json")]
    command = [sys.executable, str(SCRIPT), str(file), "--follow", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        begun = []
        while not begun or "600 messages: acc" not in begun[-1]:
            begun.append(process.stdout.readline().rstrip("\n"))
            assert begun[-1], "it ended before it came to 600 messages"
        process.kill()
    assert json.loads((tmp_path / "growing.json").read_text())["progress"]["n_messages"] == 600  # what is said is saved
    file.write_text("".join(lines))
    stream.main([str(file), *options])
    resumed = capsys.readouterr().out.splitlines()
    assert begun == uninterrupted[: len(begun)]
    assert resumed == uninterrupted[-len(resumed) :]
    assert warned("\n".join(begun)) == warned("\n".join(uninterrupted)) != []
    one, other = model_of(tmp_path / "whole.json"), model_of(tmp_path / "growing.json")
    assert one.vocabulary_ == other.vocabulary_
    assert np.array_equal(one.token_count_, other.token_count_)


def test_killed_while_saving_leaves_the_checkpoint_before(
    stream: ModuleType, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    checkpoint = stream.Checkpoint(tmp_path / "state.json")
    run = stream.Run(checkpoint, 2000.0, 50, 100)
    run.through(stream.generated(100, 100))

    def killed(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt if self.suffix == ".part" else AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(stream.Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            checkpoint.save(run.model, stream.Progress(n_messages=101))
    model, progress = checkpoint.load()
    assert progress == run.progress
    assert np.array_equal(model.token_count_, run.model.token_count_)


def test_what_is_no_message_is_left_out(stream: ModuleType, tmp_path: Path, capsys: Any) -> None:
    good = as_lines([("see you", "ham"), ("win cash", "spam")])
    (tmp_path / "odd.jsonl").write_text("".join([good[0], "nonsense\n", '{"text": "no label"}\n', good[1]]))
    assert list(stream.read(str(tmp_path / "odd.jsonl"), follow=False)) == [("see you", "ham"), ("win cash", "spam")]
    assert [line[:6] for line in capsys.readouterr().out.splitlines()] == ["line 2", "line 3"]


def test_fading_mean_and_variance(stream: ModuleType) -> None:
    numbers = np.random.default_rng(0).normal(size=50)
    fading = stream.ExponentialMean(0.9)
    for number in numbers:
        fading.add(number)
    weight = 0.9 ** np.arange(49, -1, -1)
    mean = np.average(numbers, weights=weight)
    assert fading.mean == pytest.approx(mean)
    assert fading.variance == pytest.approx(np.average((numbers - mean) ** 2, weights=weight))


def test_a_rise_is_seen_as_soon_as_the_test_says(stream: ModuleType) -> None:
    rng, delays = np.random.default_rng(1), []
    for _ in range(20):
        test = stream.PageHinkley()
        assert not any(test.add(number) for number in rng.normal(size=2000))
        delays.append(next(i for i, number in enumerate(rng.normal(1.0, size=1000), 1) if test.add(number)))
    assert 45 < np.mean(delays) < 70
