"""The columns of the table that a query scores, beside its answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...exceptions import ParameterError
from .dialects import Dialect
from .query import ROWS, Query

# A name as it is, or in the quotes of some dialect, which are doubled within.
_NAME = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+')
_TABLE = re.compile(rf"(?:{_NAME.pattern})(?:\.(?:{_NAME.pattern}))*")


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
        return ".".join(self.dialect.name_of(_unquoted(name)) for name in _NAME.findall(self.table))

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
