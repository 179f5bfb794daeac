"""Errors of the disk name the file and say what to do; signals end a command without a traceback or a partial file."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest
from cli.terminal import Ran, command, done, run

import candide
from candide.cli import reading
from candide.cli.interrupt import Terminated, terminable
from candide.sources import source as source_module

ROWS = "text,label\n" + "".join(f"free prize {i},spam\nlunch at noon {i},ham\n" for i in range(10))
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "ragged.csv").write_text(ROWS + "a,b,c\n" * 3)
    model = candide.TextNB("multinomial").fit(["free prize", "lunch at noon"], ["spam", "ham"])
    model.save(tmp_path / "m.candide")
    (tmp_path / "m.json").write_text(model.to_json())
    return tmp_path


def writing(folder: Path, stem: Path) -> dict[str, tuple[object, ...]]:
    """Every command that writes a file, to ``stem`` with an ending."""
    model, rows, file = folder / "m.candide", folder / "rows.csv", f"{stem}.candide"
    train = "train", rows, "--text", "text", "--label", "label", "--model", "multinomial"
    return {
        "train": (*train, "-o", file),
        "train --report": (*train, "-o", folder / "new.candide", "--report", f"{stem}.html"),
        "update": ("update", model, rows, "-o", file),
        "forget": ("forget", model, rows, "-o", file),
        "merge": ("merge", model, model, "-o", file),
        "convert": ("convert", model, file),
        "dump": ("dump", model, "-o", f"{stem}.json"),
        "load": ("load", folder / "m.json", "-o", file),
        "report": ("report", model, "-o", f"{stem}.html"),
        "predict csv": ("predict", model, rows, "--text", "text", "-o", f"{stem}.csv"),
        "predict parquet": ("predict", model, rows, "--text", "text", "-o", f"{stem}.parquet"),
        "predict arrow": ("predict", model, rows, "--text", "text", "-o", f"{stem}.arrow"),
        "predict jsonl": ("predict", model, rows, "--text", "text", "-o", f"{stem}.jsonl"),
    }  # fmt: skip


COMMANDS = sorted(writing(Path(), Path()))


def refused(ran: Ran, path: object, found: str, advice: str) -> None:
    assert ran.code == 3, ran.err
    last = ran.err.splitlines()[-1]
    assert last.startswith(f"candide: {path}: {found}"), ran.err
    assert advice in last
    assert "Traceback" not in ran.err


def test_the_list_of_commands_is_whole(folder: Path) -> None:
    named = {name.split()[0] for name in COMMANDS}
    help_text = done("--help").out
    others = {"compare", "classify", "evaluate", "explain", "show"}  # these write nothing
    assert {word for line in help_text.splitlines() for word in line.replace("│", " ").split()[:1]} >= named | others


@needs_full
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "forget"])  # it has nothing to forget
def test_a_full_disk(folder: Path, name: str) -> None:
    arguments = writing(folder, folder / "full")[name]
    path = Path(str(arguments[-1]))
    path.symlink_to("/dev/full")
    refused(run(*arguments), path, "the disk is full", "free some space")


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_while_a_copy_is_written(folder: Path) -> None:
    (folder / "rows.csv").write_text(ROWS, encoding="utf-16")  # which is copied as UTF-8
    arguments = writing(folder, folder / "out")["train"]
    with largest_file(100):
        ran = run(*arguments)
    assert ran.code == 3
    assert "cannot write a temporary copy to" in ran.err
    assert "TMPDIR" in ran.err


@pytest.mark.parametrize("name", ["train", "merge", "dump", "predict csv", "predict parquet", "predict arrow"])
def test_a_disk_that_fills_up_while_a_file_is_written(folder: Path, name: str) -> None:
    arguments = writing(folder, folder / "out")[name]
    before = sorted(path.name for path in folder.iterdir())
    with largest_file(100):
        ran = run(*arguments)
    refused(ran, arguments[-1], "the file would exceed the maximum file size", "another disk")
    assert sorted(path.name for path in folder.iterdir()) == before


@needs_full
def test_a_full_disk_for_rows_that_cannot_be_read(folder: Path) -> None:
    bad = folder / "bad.jsonl"
    bad.symlink_to("/dev/full")
    collect = "--on-bad-row", f"collect {bad}"
    ran = run(
        "train", folder / "ragged.csv", "--text", "text", "--label", "label", "-o", folder / "x.candide", *collect
    )
    refused(ran, bad, "the disk is full", "free some space")


@needs_full
@pytest.mark.parametrize("arguments", [("classify", "MODEL", "free"), ("predict", "MODEL", "ROWS", "--text", "text")])
def test_a_full_disk_behind_stdout(folder: Path, arguments: tuple[str, ...]) -> None:
    named = {"MODEL": folder / "m.candide", "ROWS": folder / "rows.csv"}
    with open("/dev/full", "wb") as full:
        made = command(*(named.get(one, one) for one in arguments))
        ran = subprocess.run(made, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 3
    assert ran.stderr.startswith("candide: standard output: no space left on device; the output is incomplete")
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_places_where_no_file_can_be(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(stem: Path) -> tuple[Ran, Path]:
        arguments = writing(folder, stem)[name]
        return run(*arguments), Path(str(arguments[-1]))

    ran, path = tried(folder / "nothing" / "out")
    refused(ran, path.parent, "no such file or folder", "check the name")
    ran, path = tried(folder / "rows.csv" / "out")
    refused(ran, path.parent, "part of this path is a file", "check the name")
    ran, path = tried(folder / ("x" * 300))
    refused(ran, path, "the name is too long", "a shorter one")
    for ending in ("candide", "json", "html", "csv", "parquet", "arrow", "jsonl"):
        (folder / f"folder.{ending}").mkdir()
    ran, path = tried(folder / "folder")
    refused(ran, path, "is a folder", "expected a file")
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    ran, path = tried(folder / "out")
    refused(ran, path.parent, "permission denied", "choose another path")
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    ran, path = tried(folder / "out")
    refused(ran, path.parent, "the file system is read-only", "choose another path")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("nothing.candide", "no such file"),
        (".", "is a folder"),
        ("rows.csv/m.candide", "part of this path"),
        ("x" * 300, "the name is too long"),
    ],
)
@pytest.mark.parametrize("verb", ["show", "classify", "dump", "evaluate"])
def test_models_that_cannot_be_read(folder: Path, verb: str, name: str, found: str) -> None:
    more = {"classify": ["free"], "evaluate": [folder / "rows.csv"]}.get(verb, [])
    ran = run(verb, folder / name, *more)
    refused(ran, folder / name, found, ";")


def test_a_model_without_permission_is_no_wrong_usage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)

    def forbidden(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(reading, "open", forbidden, raising=False)
    refused(run("show", folder / "m.candide"), folder / "m.candide", "permission denied", "change the permissions")


def test_a_source_is_not_written_over(folder: Path) -> None:
    ran = run("predict", folder / "m.candide", folder / "rows.csv", "--text", "text", "-o", folder / "rows.csv")
    assert ran.code == 1
    assert "would be overwritten" in ran.err
    assert (folder / "rows.csv").read_text() == ROWS


def test_saving_from_python_names_the_file(folder: Path) -> None:
    model = candide.load(folder / "m.candide")
    with pytest.raises(FileNotFoundError) as caught:
        model.save(folder / "nothing" / "m.candide")
    assert caught.value.filename == str(folder / "nothing" / "m.candide")


STOP = """
import os, signal, sys
from candide.cli import writing
from candide.cli.app import main
write = writing._Arrow.write
def stopped(self, table):
    write(self, table)
    os.kill(os.getpid(), signal.SIG)
writing._Arrow.write = stopped
main()
"""


@pytest.mark.parametrize(
    "ending", ["csv", *(pytest.param(one, marks=pytest.mark.slow) for one in ("arrow", "parquet"))]
)
@pytest.mark.parametrize("sign", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_while_answers_are_written(folder: Path, ending: str, sign: signal.Signals) -> None:
    code = STOP.replace("signal.SIG)", f"signal.{sign.name})")
    if sign is signal.SIGINT:
        code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + code
    named = [str(folder / name) for name in ("m.candide", "rows.csv", f"out.{ending}")]
    arguments = ["predict", *named[:2], "--text", "text", "-o", named[2]]
    before = sorted(path.name for path in folder.iterdir())
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}[sign]
    # With NumPy before 2.4, DuckDB tells at the end what it leaks.
    said, _, leaks = ran.stderr.partition("nanobind: ")
    assert said == "candide: stopped; nothing was written\n"
    assert "_core" not in leaks
    assert sorted(path.name for path in folder.iterdir()) == before


def test_two_signals_at_once_do_not_stop_what_clears_away() -> None:
    cleared: list[int] = []

    def stopped() -> None:
        with terminable():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                cleared.append(1)

    with pytest.raises(Terminated):
        stopped()
    assert cleared == [1]


def test_a_signal_while_the_next_rows_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come after an item was taken and before the thread that makes them was told so."""

    class Interrupted(Queue[Any]):
        n_taken = 0

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            self.n_taken += 1
            if self.n_taken != 2:
                return super().get(block, timeout)
            with self.not_empty:
                while not self._qsize():
                    self.not_empty.wait()
                self._get()  # and nobody is told
            raise KeyboardInterrupt

    def go_through() -> None:
        with pytest.raises(KeyboardInterrupt):
            list(source_module.prefetch(iter(range(100))))
        ended.set()

    monkeypatch.setattr(source_module, "Queue", Interrupted)
    ended = threading.Event()
    threading.Thread(target=go_through, daemon=True).start()
    assert ended.wait(3)
