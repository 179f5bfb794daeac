"""What a command says, to whom: answers on stdout, everything else that is for people on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..lazy_dataclass import dataclass
from ..printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@dataclass(frozen=True)
class Session:
    """The settings that every command takes."""

    quiet: bool = False
    as_json: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            os.environ["CANDIDE_NUM_THREADS"] = str(self.threads)

    @cached_property
    def people(self) -> Console:
        """Where remarks and reports go."""
        return _console(sys.stderr, quiet=self.quiet)

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees what moves on stderr."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, *lines: RenderableType) -> None:
        """For people, on stderr; nothing with ``--quiet``."""
        if not self.quiet:
            for line in lines:
                _show(self.people, line)

    def remark(self, text: str) -> None:
        """Something that people should know though nothing is wrong."""
        if not self.quiet:
            from rich.text import Text

            self.people.print(Text.assemble(("note: ", "yellow"), printable(text)), soft_wrap=True)

    @contextmanager
    def status(self, what: str) -> Iterator[None]:
        """While something takes long that cannot say how far it is."""
        if not self.is_watched:
            yield
            return
        with self.people.status(printable(what)):
            yield

    def answer(self, machine: Any, *lines: RenderableType) -> None:
        """What was asked for, on stdout: for machines as JSON, and then for people on stderr."""
        if self.as_json:
            print(as_json(machine))
            self.say(*lines)
            return
        console = _console(sys.stdout)
        for line in lines:
            _show(console, line)

    def report(self, machine: Any, lines: Callable[[], list[RenderableType]]) -> None:
        """What was done, for people on stderr and, if asked for, for machines on stdout."""
        if self.as_json:
            print(as_json(machine))
        if not self.quiet:
            self.say(*lines())


def _show(console: Console, line: RenderableType) -> None:
    one_line = isinstance(line, str)
    console.print(printable(line) if one_line else line, soft_wrap=one_line, highlight=False)


def _console(stream: Any, *, quiet: bool = False) -> Console:
    from rich.console import Console

    # On a terminal as wide as it is; in files and pipes lines are not to be cut.
    width = None if stream.isatty() else 200
    return Console(file=stream, quiet=quiet, width=width, markup=False, emoji=False)


def as_json(value: Any) -> str:
    """One line; numbers that JSON does not know are texts."""
    return printable_json(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):  # of NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None if value != value else str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
