"""Output of a command: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..lazy import dataclass
from ..printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Width of tables in files and pipes.
_WIDTH = 100


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
    def stderr(self) -> Console:
        """The console for notes and reports."""
        return _console(sys.stderr, quiet=self.quiet)

    @property
    def is_watched(self) -> bool:
        """Whether standard error is a terminal."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, *lines: RenderableType) -> None:
        """Print to standard error unless ``--quiet`` is given."""
        if not self.quiet:
            for line in lines:
                _show(self.stderr, line)

    def note(self, text: str) -> None:
        """Print a note that is not an error."""
        if not self.quiet:
            from rich.text import Text

            self.stderr.print(Text.assemble(("note: ", "yellow"), printable(text)), soft_wrap=True)

    @contextmanager
    def status(self, what: str) -> Iterator[None]:
        """Show that a step without progress figures is under way."""
        if not self.is_watched:
            yield
            return
        with self.stderr.status(printable(what)):
            yield

    def answer(self, machine: Any, *lines: RenderableType) -> None:
        """Print a result to standard output; with ``--json`` as JSON, and the lines to standard error."""
        if self.as_json:
            print(as_json(machine))
            self.say(*lines)
            return
        console = _console(sys.stdout)
        for line in lines:
            _show(console, line)

    def report(self, machine: Any, lines: Callable[[], list[RenderableType]]) -> None:
        """Print what was done to standard error and, with ``--json``, to standard output."""
        if self.as_json:
            print(as_json(machine))
        if not self.quiet:
            self.say(*lines())


def _show(console: Console, line: RenderableType) -> None:
    if isinstance(line, str):
        # Messages are wrapped by the terminal, so that paths in them can be copied.
        console.print(printable(line), soft_wrap=True, highlight=False)
    elif console.is_terminal:
        console.print(line, highlight=False)
    else:
        with console.capture() as shown:
            console.print(line, highlight=False)
        # Tables of rich pad lines with spaces.
        console.out("\n".join(map(str.rstrip, shown.get().split("\n"))), end="", highlight=False)


def _console(stream: Any, *, quiet: bool = False) -> Console:
    from rich.console import Console

    width = None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else _WIDTH
    return Console(file=stream, quiet=quiet, width=width, markup=False, emoji=False)


def as_json(value: Any) -> str:
    """Return one line of JSON; infinite numbers are strings."""
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
