"""Ctrl-C and SIGTERM while a command is still being imported: one line, and the exit code of any other moment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from candide import TextNB

# A process that sends itself a signal when a module is about to be imported.
PROBE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored, as in the background of a shell
module, number = sys.argv.pop(1), int(sys.argv.pop(1))
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Finder())
from candide.cli.__main__ import main
main()
"""


def stopped(module: str, sign: signal.Signals, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROBE, module, str(int(sign)), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.candide"
    TextNB("multinomial").fit(["win cash", "see you"], ["spam", "ham"]).save(path)
    return path


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("module", ["typer", "candide.cli.command", "numpy", "candide.storage.models"])
def test_a_signal_while_modules_are_imported(module: str, sign: signal.Signals, model: Path) -> None:
    """Python's own handler ended the process with a traceback, and by the signal (-2)."""
    ended = stopped(module, sign, "classify", model, "win", "--abstain", "0.5")
    assert ended.returncode == (130 if sign == signal.SIGINT else 143), ended.stderr
    assert ended.stderr == "candide: stopped; nothing was written\n"
    assert ended.stdout == ""


@pytest.mark.parametrize("module", ["numpy", "candide.storage.background_reader", "candide.specs.text"])
def test_a_question_without_options(module: str, model: Path) -> None:
    ended = stopped(module, signal.SIGINT, "classify", model, "win")
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "candide: stopped; nothing was written\n"


def test_for_machines(model: Path) -> None:
    ended = stopped("typer", signal.SIGINT, "classify", model, "win", "--json")
    assert ended.returncode == 130
    assert json.loads(ended.stdout) == {"error": {"kind": "Interrupted", "message": "stopped; nothing was written"}}


def test_the_answer_is_the_same_with_and_without_options(model: Path) -> None:
    """Without options typer is not asked; the answer is that of the other way."""
    found = [
        subprocess.run(
            [sys.executable, "-m", "candide.cli", "classify", str(model), *more],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in (["win", "see"], ["win", "see", "--quiet"], ["--", "win", "see"])
    ]
    assert found[0].startswith("spam\t")
    assert len(set(found)) == 1
