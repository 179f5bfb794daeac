"""Files that a killed process has left half-written are removed by the next one; those of living processes are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import candide
from candide.storage.atomic_write import atomic_writer, write_atomically

WRITE = """
import sys
from candide.storage.atomic_write import atomic_writer
with atomic_writer(sys.argv[1]) as file:
    file.write(b"of the other process")
    file.flush()
    print("began", flush=True)
    sys.stdin.readline()
"""


def began(path: Path) -> subprocess.Popen[str]:
    """A process that is writing a file, until it is told to end."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "began\n"
    return process


def parts(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_the_next_run_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    target = tmp_path / "m.candide"
    for path in (target, tmp_path / "m.candide.checkpoint"):
        process = began(path)
        process.kill()
        process.communicate()
    assert len(parts(tmp_path)) == 2
    candide.GaussianNB().fit([[1.0], [9.0]], ["low", "high"]).save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["m.candide"]


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    target = tmp_path / "m.candide"
    process = began(target)
    write_atomically(target, [b"of this process"])
    assert len(parts(tmp_path)) == 1
    process.communicate("\n")
    assert process.returncode == 0
    assert target.read_bytes() == b"of the other process"
    assert not parts(tmp_path)


def test_a_thread_does_not_remove_what_another_writes(tmp_path: Path) -> None:
    target = tmp_path / "m.candide"
    with atomic_writer(target) as first:
        first.write(b"first")
        write_atomically(target, [b"second"])
    assert target.read_bytes() == b"first"


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = [".m.candide.part", ".m.candide.0123.part", ".n.candide.0123456789abcdef.part", "m.candide.part"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".m.candide.0123456789abcdef.part").symlink_to(tmp_path / "m.candide.part")
    write_atomically(tmp_path / "m.candide", [b""])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*others, ".m.candide.0123456789abcdef.part", "m.candide"]
    )


@pytest.mark.parametrize("letter", ["x", "ä"])
def test_the_longest_names_that_files_can_have(tmp_path: Path, letter: str) -> None:
    size = len(letter.encode())
    path = tmp_path / (letter * ((255 - len(".candide")) // size) + ".candide")
    model = candide.GaussianNB().fit([[1.0], [9.0]], ["low", "high"])
    model.save(path)
    with candide.locked(path):
        model.save(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
