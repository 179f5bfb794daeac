"""Progress of a pass over a source: a bar on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from .session import Session

if TYPE_CHECKING:
    from ..model.source import Source

# Seconds between two lines where there is no terminal.
_BETWEEN_LINES = 10.0


class Pass(ABC):
    """Rows and bytes of a pass over a source, and the seconds it takes."""

    def __init__(self, source: Source, what: str) -> None:
        self.source = source
        self.what = what
        self.rows = 0
        self.n_unlabeled = 0
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def megabytes(self) -> float:
        return (self.source.bytes_read or 0) / 1e6

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.show()

    def update(self, n_rows: int, n_unlabeled: int = 0) -> None:
        """Set the number of rows that are done, and of those without a label."""
        self.rows, self.n_unlabeled = n_rows, n_unlabeled
        self.show()

    @abstractmethod
    def show(self) -> None:
        """Show the progress, if it is time."""


class _Silent(Pass):
    def show(self) -> None:
        pass


class _Lines(Pass):
    def __init__(self, source: Source, what: str, session: Session) -> None:
        super().__init__(source, what)
        self.session = session
        self.last = self.began

    def show(self) -> None:
        now = time.perf_counter()
        if now - self.last >= _BETWEEN_LINES:
            self.last = now
            self.session.say(f"{self.what}: {self._text()}")

    def _text(self) -> str:
        total, read = self.source.n_bytes, self.megabytes * 1e6
        done = f", {read / total:.0%}" if total and read < total else ""
        return f"{rows_and_size(self.rows, self.megabytes, self.seconds)}{done}"


class _Bar(Pass):
    def __init__(self, source: Source, what: str, session: Session) -> None:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.progress import TransferSpeedColumn as Speed

        super().__init__(source, what)
        rows, left = TextColumn("{task.fields[rows]:,} rows"), TimeRemainingColumn(compact=True)
        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), rows, DownloadColumn(), Speed(), left]
        self.bar = Progress(*columns, console=session.stderr, transient=True)
        self.task = self.bar.add_task(what, total=source.n_bytes, rows=0)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def show(self) -> None:
        self.bar.update(self.task, completed=self.source.bytes_read or 0, rows=self.rows)


def watched(source: Source, what: str, session: Session) -> Pass:
    """Return a pass over the source whose progress is shown."""
    if session.quiet:
        return _Silent(source, what)
    return _Bar(source, what, session) if session.is_watched else _Lines(source, what, session)


def rows_and_size(rows: int, megabytes: float, seconds: float) -> str:
    """Return how much was read, and the speed if enough was read to measure it.

    >>> rows_and_size(1, 0.0475, 0.2), rows_and_size(2_000_000, 300.0, 12.0)
    ('1 row, 0.05 MB', '2,000,000 rows, 300 MB, 25 MB/s')
    """
    text = f"{rows:,} row{'' if rows == 1 else 's'}"
    if megabytes:
        text += f", {max(megabytes, 0.01):,.{0 if megabytes >= 10 else 1 if megabytes >= 0.1 else 2}f} MB"
    return f"{text}, {megabytes / seconds:,.0f} MB/s" if seconds >= 1.0 and megabytes >= seconds else text
