"""A query as steps, each of which reads the one before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...kernels.layouts import Array
from .dialects import Dialect

# How steps call the table: not as a column of it may be called, which some databases would take for it.
ROWS = "scored_rows"
_NAME = re.compile(r"\b[a-z_]\w*")


@dataclass
class _Step:
    """Columns by name, and what they are made from."""

    columns: dict[str, str]
    source: str  # with all that comes after FROM

    def only(self, needed: set[str]) -> _Step:
        """With some of the columns, or the first."""
        kept = {name: how for name, how in self.columns.items() if name in needed}
        return _Step(kept or dict([next(iter(self.columns.items()))]), self.source)

    def names(self) -> set[str]:
        """All that it asks for."""
        return set(_NAME.findall(" ".join([*self.columns.values(), self.source])))

    def written(self) -> str:
        columns = (name if how == name else f"{how} AS {name}" for name, how in self.columns.items())
        return "SELECT\n    " + ",\n    ".join(columns) + f"\n  FROM {self.source}"


class Query:
    """Steps so far. Each has the columns of the one before and new ones; in the end, those that somebody asks for."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.last = ""
        self._steps: dict[str, _Step | str] = {}
        self._chain: list[str] = []

    def start(self, table: str, columns: Mapping[str, str]) -> None:
        """The first step, which reads the table."""
        self.cte("inputs", columns, f"{table} AS {ROWS}")
        self._go_on("inputs")

    def step(self, name: str, columns: Mapping[str, str], joins: Sequence[str] = ()) -> None:
        """One more step: new columns, or old ones with new values."""
        before, name = self._steps[self.last], self._unused(name)
        assert isinstance(before, _Step)
        kept = {column: f"{self.last}.{column}" if joins else column for column in before.columns}
        self.cte(name, {**kept, **columns}, " ".join([self.last, *joins]))
        self._go_on(name)

    def cte(self, name: str, columns: Mapping[str, str], source: str) -> None:
        """Add a common table expression that is not a step."""
        self._steps[name] = _Step(dict(columns), source)

    def labels(self, name: str, pairs: Iterable[tuple[str, int]]) -> None:
        """A table of labels and codes that the query brings along."""
        rows = ", ".join(f"({label}, {code})" for label, code in pairs)
        self._steps[name] = self.dialect.values(rows, ["label", "code"])

    def table(self, name: str, keys: Mapping[str, Array], numbers: Mapping[str, Array]) -> None:
        """A table of numbers that the query brings along."""
        self._steps[name] = self.dialect.table(keys, numbers)

    def finish(self, columns: Sequence[str], source: str | None = None) -> str:
        """The whole text."""
        answers = _Step({str(i): how for i, how in enumerate(columns)}, source or self.last)
        steps = self._needed(answers.names())
        parts = [f"{name} AS{self.dialect.fence} (\n  {text}\n)" for name, text in steps.items()]
        listed = ",\n  ".join(columns)
        return f"WITH {', '.join(parts)}\nSELECT\n  {listed}\nFROM {answers.source}\n"

    def _needed(self, needed: set[str]) -> dict[str, str]:
        """The steps with the columns that later ones ask for."""
        texts = {}
        for name, step in reversed(self._steps.items()):
            if isinstance(step, _Step):
                step = step.only(needed)
                made = set(step.columns) if name in self._chain else set()
                needed = (needed - made) | step.names()
                texts[name] = step.written()
            else:
                texts[name] = step
        return dict(reversed(texts.items()))

    def _go_on(self, name: str) -> None:
        self.last = name
        self._chain.append(name)

    def _unused(self, name: str) -> str:
        names = (name, *(f"{name}_{i}" for i in range(2, len(self._steps) + 3)))
        return next(each for each in names if each not in self._steps)
