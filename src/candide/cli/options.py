"""Options that several commands share."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import ParameterError
from .command import Group
from .session import Session

if TYPE_CHECKING:
    from ..model.source import Source

_COMMON = "For all commands"
_READING = "Reading"

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=_COMMON)]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON on stdout.", rich_help_panel=_COMMON)]
Threads = Annotated[int | None, typer.Option(min=1, help="How many threads; all by default.", rich_help_panel=_COMMON)]

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE...",
        show_default=False,
        help="Files, globs, folders, mailboxes, databases (sqlite:FILE, duckdb:FILE, postgres:…) or - for stdin; to "
        "train, also spark:TABLE, spark:FILES and dask:FILES.",
    ),
]
# readable=False: whether a file can be read is found out when it is opened, with our message and exit code.
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", show_default=False, readable=False, help="A model file, or - for stdin."),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", show_default=False, readable=False, help="Where to write.")
]

Label = Annotated[
    str | None,
    typer.Option(
        show_default=False, help="The column that holds the labels; found if left out.", rich_help_panel=_READING
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        show_default=False, help="The column that holds the texts; found if left out.", rich_help_panel=_READING
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        show_default=False,
        help="The columns of a table to learn from, each with a model if you like: 'age,job=categorical'.",
        rich_help_panel=_READING,
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="NAME=TYPE",
        show_default=False,
        help="The type of a column or of the label, where the first rows are not to decide: number, category, boolean, "
        "date, text or str (a text, be it a category or prose). May be given several times.",
        rich_help_panel=_READING,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(show_default=False, help="The column that says how much a row counts.", rich_help_panel=_READING),
]
Sql = Annotated[
    str | None,
    typer.Option(
        show_default=False,
        help="A query in place of the source, or to a database that is one: "
        "\"SELECT text, label FROM 'mail/*.parquet'\".",
        rich_help_panel=_READING,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        show_default=False, help="What the source is, where its name does not tell.", rich_help_panel=_READING
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(show_default=False, help="Of texts, where it is not UTF-8: cp1252, say.", rich_help_panel=_READING),
]
LockTimeout = Annotated[
    float,
    typer.Option(
        min=0.0,
        metavar="SECONDS",
        help="How long to wait for another process that is changing the same model file; 0 for not at all.",
        rich_help_panel="Writing",
    ),
]
OnBadRow = Annotated[
    str,
    typer.Option(
        metavar="error|skip|collect FILE",
        help="What to do with rows that cannot be read: stop, leave them out, or collect them in a file (in quotes: "
        "'collect bad.jsonl').",
        rich_help_panel=_READING,
    ),
]


Absent = Annotated[
    str | None,
    typer.Option(
        metavar="error|missing",
        show_default=False,
        help="Whether the source may lack columns that the model was trained with; else as the model was trained.",
        rich_help_panel=_READING,
    ),
]


Extensions = Annotated[
    bool,
    typer.Option(
        "--extensions",
        help="Let DuckDB install extensions that --sql needs, from the network, and load them.",
        rich_help_panel=_READING,
    ),
]


@dataclass(frozen=True)
class Shared(Group):
    """What every command takes."""

    threads: Threads = None
    quiet: Quiet = False
    json: Json = False

    @property
    def session(self) -> Session:
        """Who is told what."""
        return Session(self.quiet, self.json, self.threads)


@dataclass(frozen=True)
class Writing(Group):
    """How a model file is written."""

    lock_timeout: LockTimeout = 300.0

    def locked(self, path: Path, session: Session) -> AbstractContextManager[None]:
        """Keep other processes from changing a model file while it is read, changed and written again."""
        from ..storage.atomic_write import locked

        limit = f"for at most {self.lock_timeout:g} s (--lock-timeout)"
        return locked(
            path,
            self.lock_timeout,
            lambda: session.remark(f"{path} is being changed by another process; waiting {limit}"),
        )


@dataclass(frozen=True)
class Reading(Group):
    """How a source is read."""

    sql: Sql = None
    format: Format = None
    encoding: Encoding = None
    on_bad_row: OnBadRow = "error"
    extensions: Extensions = False

    def opened(
        self, sources: list[str] | None, n_threads: int | None = None, **roles: Any
    ) -> AbstractContextManager[Source]:
        """Return a context in which the source that a user named is open."""
        from .reading import open_source

        return open_source(sources, n_threads, roles, asdict(self))


def names_of(columns: str | None) -> list[str] | None:
    """The columns that are named; None for all."""
    return None if columns is None else [name for name, _ in _pairs(columns)]


def families_of(columns: str | None) -> dict[str, str]:
    """Models that are asked for, by column."""
    return {} if columns is None else {name: family for name, family in _pairs(columns) if family}


def _pairs(columns: str) -> list[tuple[str, str]]:
    parts = [part.strip() for part in columns.split(",")]
    if not all(parts):
        raise ParameterError(f"--columns is {columns!r}; it must be names with commas between: 'age,job=categorical'")
    # A name may hold a '=' itself, a family may not.
    return [(name or family, family if name else "") for name, _, family in (part.rpartition("=") for part in parts)]


def types_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Declared types, by column; None if there are none."""
    from ..data.column_types import check_declared

    # A name may hold a '=' itself, a type may not.
    split = [pair.rpartition("=") for pair in pairs or []]
    odd = [pair for pair, (name, _, _) in zip(pairs or [], split, strict=True) if not name]
    if odd:
        raise ParameterError(f"--type is {odd[0]!r}; it must be NAME=TYPE, such as zip=category")
    return check_declared({name: kind for name, _, kind in split}) or None


def settings_of(pairs: list[str] | None) -> dict[str, Any]:
    """Parameters of a learner; values are JSON, or texts."""
    return dict(_setting(pair) for pair in pairs or [])


def _setting(pair: str) -> tuple[str, Any]:
    name, sign, value = pair.partition("=")
    if not sign or not name.isidentifier():
        raise ParameterError(f"--set is {pair!r}; it must be NAME=VALUE, such as alpha=0.5 or ngrams=[1,2]")
    try:
        return name, json.loads(value, parse_constant=str)
    except ValueError:
        named: dict[str, Any] = {"True": True, "False": False, "None": None}
        return name, named.get(value, value)
