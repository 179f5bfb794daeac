"""Options that several commands have."""

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

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.", rich_help_panel=_COMMON)]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON to standard output.", rich_help_panel=_COMMON)
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of threads; by default one per core.", rich_help_panel=_COMMON),
]

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE...",
        show_default=False,
        help="Files, globs, folders, mailboxes, databases (sqlite:FILE, duckdb:FILE, postgres:…) or - for standard "
        "input; except for predict, also spark:TABLE, spark:FILES and dask:FILES.",
    ),
]
# readable=False: whether a file can be read is found out when it is opened, with our message and exit code.
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", show_default=False, readable=False, help="A model file, or - for standard input."),
]
_WRITE = "The file to write; an existing one is replaced."
Output = Annotated[Path | None, typer.Option("--output", "-o", show_default=False, readable=False, help=_WRITE)]
ModelOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        show_default=False,
        readable=False,
        help=f"{_WRITE} By default, the name of the source with the extension .candide, or model.candide.",
    ),
]
ChangedOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", show_default=False, readable=False, help=f"{_WRITE} By default MODEL itself."),
]

Label = Annotated[
    str | None,
    typer.Option(show_default=False, help="The label column; detected by default.", rich_help_panel=_READING),
]
Text = Annotated[
    str | None,
    typer.Option(show_default=False, help="The text column; detected by default.", rich_help_panel=_READING),
]
Columns = Annotated[
    str | None,
    typer.Option(
        show_default=False,
        help="The columns to train on, optionally with their families: 'age,job=categorical'.",
        rich_help_panel=_READING,
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="NAME=TYPE",
        show_default=False,
        help=(
            "The type of a column or of the label: number, category, boolean, date, text or str (a category or a "
            "text). By default it is detected from the first rows. May be given several times."
        ),
        rich_help_panel=_READING,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(show_default=False, help="The column with the weight of each row.", rich_help_panel=_READING),
]
Sql = Annotated[
    str | None,
    typer.Option(
        show_default=False,
        help=(
            'A query to use as the source, or to run on a database given as the source, such as "SELECT text, label '
            "FROM 'mail/*.parquet'\"."
        ),
        rich_help_panel=_READING,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        show_default=False,
        help="The format of the source, if it cannot be detected from its name.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        show_default=False, help="The text encoding if it is not UTF-8, such as cp1252.", rich_help_panel=_READING
    ),
]
LockTimeout = Annotated[
    float,
    typer.Option(
        min=0.0,
        metavar="SECONDS",
        help="How long to wait for another process that is changing the same model file.",
        rich_help_panel="Writing",
    ),
]
OnBadRow = Annotated[
    str,
    typer.Option(
        metavar="ACTION",
        help="What to do with rows that cannot be read: error, skip, or 'collect FILE' to write them to a file.",
        rich_help_panel=_READING,
    ),
]


Absent = Annotated[
    str | None,
    typer.Option(
        metavar="error|missing",
        show_default=False,
        help="Whether columns of the model may be absent from the source; by default as set in training.",
        rich_help_panel=_READING,
    ),
]


Extensions = Annotated[
    bool,
    typer.Option(
        "--extensions",
        help="Let DuckDB download and load extensions that --sql needs.",
        rich_help_panel=_READING,
    ),
]


@dataclass(frozen=True)
class Shared(Group):
    """Options of every command."""

    threads: Threads = None
    quiet: Quiet = False
    json: Json = False

    @property
    def session(self) -> Session:
        """Return the output of the command."""
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
            lambda: session.note(f"{path} is being changed by another process; waiting {limit}"),
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
    """Return the columns that are named; None for all."""
    return None if columns is None else [name for name, _ in _pairs(columns)]


def families_of(columns: str | None) -> dict[str, str]:
    """Return the families that are named, by column."""
    return {} if columns is None else {name: family for name, family in _pairs(columns) if family}


def _pairs(columns: str) -> list[tuple[str, str]]:
    parts = [part.strip() for part in columns.split(",")]
    if not all(parts):
        raise ParameterError(
            f"--columns is {columns!r}; expected names separated by commas, such as 'age,job=categorical'"
        )
    # A name may hold a '=' itself, a family may not.
    return [(name or family, family if name else "") for name, _, family in (part.rpartition("=") for part in parts)]


def types_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Declared types, by column; None if there are none."""
    from ..data.column_types import check_declared

    # A name may hold a '=' itself, a type may not.
    split = [pair.rpartition("=") for pair in pairs or []]
    odd = [pair for pair, (name, _, _) in zip(pairs or [], split, strict=True) if not name]
    if odd:
        raise ParameterError(f"--type is {odd[0]!r}; expected NAME=TYPE, such as zip=category")
    return check_declared({name: kind for name, _, kind in split}) or None


def settings_of(pairs: list[str] | None) -> dict[str, Any]:
    """Return parameters of an estimator; values are JSON or text."""
    return dict(_setting(pair) for pair in pairs or [])


def _setting(pair: str) -> tuple[str, Any]:
    name, sign, value = pair.partition("=")
    if not sign or not name.isidentifier():
        raise ParameterError(f"--set is {pair!r}; expected NAME=VALUE, such as alpha=0.5 or ngrams=[1,2]")
    try:
        return name, json.loads(value, parse_constant=str)
    except ValueError:
        named: dict[str, Any] = {"True": True, "False": False, "None": None}
        return name, named.get(value, value)
