"""Commands as people run them: in this process for speed, in one of their own, or in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import typer.testing
from typer.testing import CliRunner

from candide.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ROOT / "examples" / "messages.csv"
INBOX = ROOT / "examples" / "inbox.csv"


# The runner makes the parsers of all commands for each one that is run.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: object, stdin: str | bytes | None = None) -> Ran:
    """A command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def done(*arguments: object, stdin: str | bytes | None = None) -> Ran:
    """The same of one that must go well."""
    ran = run(*arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    return ran


def command(*arguments: object) -> list[str]:
    """For a process of its own."""
    return [sys.executable, "-m", "candide.cli", *map(str, arguments)]


def in_terminal(*arguments: object, cwd: Path) -> tuple[int, str]:
    """In a process whose streams are a terminal; what it showed, with all that moves."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command(*arguments), cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    while piece := _read(master):
        shown += piece
    os.close(master)
    return process.wait(), shown.decode(errors="replace")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 1 << 16)
    except OSError:  # the other side is closed
        return b""
