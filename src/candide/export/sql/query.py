"""A query as steps, each of which reads the one before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...exceptions import ParameterError
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


# A name as it is, or in the quotes of some dialect, which are doubled within.
_TABLE_NAME = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+')
_TABLE = re.compile(rf"(?:{_TABLE_NAME.pattern})(?:\.(?:{_TABLE_NAME.pattern}))*")


def _unquoted(name: str) -> str:
    quote = name[0]
    return name[1:-1].replace(quote * 2, quote) if quote in '"`' else name


@dataclass(frozen=True)
class Own:
    """Which of the table's own columns come along: all, none, or those named."""

    table: str
    keep: bool | Sequence[str]
    dialect: Dialect

    def __post_init__(self) -> None:
        if isinstance(self.keep, str):
            raise ParameterError(f"keep is {self.keep!r}; it must be True, False or a list of names, [{self.keep!r}]")
        if self.keep is True and not (self.dialect.has_records or self.dialect.has_row_numbers):
            raise ParameterError(
                f"keep=True, and {self.dialect.name} cannot carry all columns of a table along; name those to keep, "
                "keep=['id'], or pass keep=False"
            )

    @property
    def source(self) -> str:
        """The table as the query reads it: quoted names with dots between them, or a query in parentheses as it is."""
        if self.table.lstrip().startswith("("):
            return self.table
        if not _TABLE.fullmatch(self.table):
            raise ParameterError(
                f"table is {self.table!r}; it must be a name, names with dots between them, each in double quotes if "
                "it holds a dot or a quote, or a query in parentheses"
            )
        return ".".join(self.dialect.name_of(_unquoted(name)) for name in _TABLE_NAME.findall(self.table))

    def columns(self) -> dict[str, str]:
        """What the first step reads for later, under short names."""
        if isinstance(self.keep, bool):
            return {"own": self.dialect.record(ROWS)} if self.keep else {}
        return {f"own{i}": f"{ROWS}.{self.dialect.name_of(name)}" for i, name in enumerate(self.keep)}

    def finish(self, query: Query, answers: dict[str, str]) -> str:
        """The query with the table's own columns and then the answers, by their titles."""
        listed = [f"{expression} AS {self.dialect.name_of(title)}" for title, expression in answers.items()]
        if self.keep is True and not self.dialect.has_records:
            # What the table's columns are called must not matter.
            query.step("answers", {f"a{i}": expression for i, expression in enumerate(answers.values())})
            listed = [f"answers.a{i} AS {self.dialect.name_of(title)}" for i, title in enumerate(answers)]
            rows = f"answers JOIN {self.source} AS {ROWS} ON {self.dialect.record(ROWS)} = answers.own"
            return query.finish([f"{ROWS}.*", *listed], rows)
        if isinstance(self.keep, bool):
            return query.finish([self.dialect.spread("own"), *listed] if self.keep else listed)
        own = [f"own{i} AS {self.dialect.name_of(name)}" for i, name in enumerate(self.keep)]
        return query.finish([*own, *listed])
