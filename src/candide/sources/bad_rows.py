"""Rows that cannot be read: errors, skipped, or collected."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from ..exceptions import ParameterError, SourceError, naming

# As many are kept to be looked at; the others are counted.
_MAX_KEPT = 1_000
# More of a row than this is no help to find it.
_MAX_SHOWN = 200


class BadRow(NamedTuple):
    """A row that could not be read."""

    file: str
    #: Of the file, the first is 1. A row of several lines begins here.
    line: int
    problem: str
    row: str
    #: What to do about it, beside leaving it out.
    advice: str = "correct the line"


OnBadRow = str | os.PathLike[str] | Callable[[BadRow], object]


class BadRows:
    """The rows that a pass skipped: their number, and the first of them.

    ``on_bad_row`` is "error", "skip", a file that collects them as JSON Lines, or a function that is called with each.

    >>> bad = BadRows("skip")
    >>> bad.add(BadRow("mail.csv", 17, "3 cells where 2 are expected", "a,b,c"))
    >>> bad.n_rows, bad.rows[0].line
    (1, 17)
    """

    def __init__(self, on_bad_row: OnBadRow = "error") -> None:
        self.on_bad_row = _check_handler(on_bad_row)
        self.n_rows = 0
        self.rows: list[BadRow] = []
        self._file: TextIO | None = None

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[BadRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"BadRows(n_rows={self.n_rows}, rows={self.rows[:3]}{'…' if self.n_rows > 3 else ''})"

    @property
    def are_errors(self) -> bool:
        return self.on_bad_row == "error"

    def begin(self) -> None:
        """Start a pass: the file of bad rows is overwritten."""
        if isinstance(self.on_bad_row, Path):
            try:
                self._file = self.on_bad_row.open("w", encoding="utf-8")
            except OSError as error:
                raise SourceError(
                    f"bad rows cannot be written to {str(self.on_bad_row)!r} ({error.strerror}); name a file in a "
                    "folder where you may write"
                ) from None

    def end(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with naming(file.name):
                file.close()

    def add(self, bad: BadRow) -> None:
        if self.are_errors:
            raise SourceError(
                f"{bad.file}, line {bad.line}: {bad.problem} ({_shorten(bad.row)}); {bad.advice}, or leave such rows "
                "out with on_bad_row='skip'"
            )
        self.n_rows += 1
        if len(self.rows) < _MAX_KEPT:
            self.rows.append(bad._replace(row=bad.row[:_MAX_SHOWN]))
        if self._file is not None:
            with naming(self._file.name):
                self._file.write(json.dumps(bad._asdict(), ensure_ascii=False) + "\n")
        elif callable(self.on_bad_row):
            self.on_bad_row(bad)


def _shorten(row: str) -> str:
    return repr(row if len(row) <= _MAX_SHOWN else row[:_MAX_SHOWN] + "…")


def _check_handler(on_bad_row: OnBadRow) -> str | Path | Callable[[BadRow], object]:
    if callable(on_bad_row) or on_bad_row in ("error", "skip"):
        return on_bad_row
    if isinstance(on_bad_row, os.PathLike) or (isinstance(on_bad_row, str) and Path(on_bad_row).suffix):
        return Path(on_bad_row)
    raise ParameterError(
        f"on_bad_row is {on_bad_row!r}; allowed are 'error', 'skip', a file that collects such rows ('bad.jsonl'), or "
        "a function that takes one"
    )
