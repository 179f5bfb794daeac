"""The commands that the README and pages of the documentation show, as a reader runs them: one after the other.

``python tests/walkthrough.py`` runs them in a copy of this folder, with the interpreter's own environment first in the
path, each in a terminal and then in a pipe; ``--install`` with the ``pip install .`` that comes before. It needs the
standard library alone, so that it runs where nothing is installed yet.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorials/first_table.md", "docs/how-to/command_line.md")
_FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^```sh\n(?P<shell>[^`]*)```\n\n```text\n(?P<shown>.*?)^```", re.MULTILINE | re.DOTALL)
# What takes another environment, or is about developing candide.
_SKIPPED = ("pip install -e", "git clone", "python ")


def commands(page: str) -> list[str]:
    """Lines of the page's shell blocks that are about candide, without remarks."""
    return _commands("\n".join(_FENCE.findall((ROOT / page).read_text(encoding="utf-8"))))


def answers(page: str) -> dict[str, str]:
    """What the page shows after a shell block, by the block's last command."""
    pairs = _SHOWN.finditer((ROOT / page).read_text(encoding="utf-8"))
    return {_commands(pair["shell"])[-1]: pair["shown"] for pair in pairs}


def _commands(shell: str) -> list[str]:
    bare = (re.sub(r"\s{2,}#.*", "", line).strip() for line in re.sub(r"\\\n|(?<=\|)\n", " ", shell).splitlines())
    return [line for line in bare if "candide" in line and not line.startswith(_SKIPPED)]


def run(line: str, folder: Path, *, terminal: bool) -> str:
    """What a command shows; an error if it fails."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    shell = ["bash", "-euo", "pipefail", "-c", line]
    if not terminal:
        done = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        code, shown = done.returncode, done.stdout + done.stderr
    else:
        code, shown = _in_terminal(shell, folder, environment | {"TERM": "xterm-256color"})
    if code:
        raise SystemExit(f"{line!r} exits with {code}:\n{shown}")
    return shown


def _in_terminal(shell: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    master, slave = pty.openpty()
    process = subprocess.Popen(shell, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 1 << 16):
            shown += piece
    except OSError:  # the other side is closed
        pass
    os.close(master)
    return process.wait(), shown.decode(errors="replace")


def copied(folder: Path) -> Path:
    """This folder as a fresh clone has it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--install", action="store_true")
    install = parser.parse_args().install
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied(Path(temporary))
        for page in PAGES:
            for line in commands(page):
                wanted = line if install else line.replace("pip install . && ", "")
                print(f"$ {wanted}")
                run(wanted, folder, terminal=True)
                run(line.replace("pip install . && ", ""), folder, terminal=False)


if __name__ == "__main__":
    main()
