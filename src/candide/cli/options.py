"""Options that several commands have."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import ParameterError
from ..remote import Place, RemotePath, as_path
from .command import Group
from .session import Session

if TYPE_CHECKING:
    from ..model.source import Source

_common = partial(typer.Option, rich_help_panel="For all commands")
_reading = partial(typer.Option, rich_help_panel="Reading")

Quiet = Annotated[bool, _common("--quiet", "-q", help="Print only results and errors.")]
Json = Annotated[bool, _common("--json", help="Print the result as JSON to standard output.")]
Threads = Annotated[int | None, _common(min=1, metavar="N", help="Number of threads; by default one per core.")]
_LOCAL = (
    "Files, globs, folders, mailboxes, databases (sqlite:FILE, duckdb:FILE, postgres:…), addresses such as s3://…, or "
    "- for standard input"
)
_SOURCES = f"{_LOCAL}; also spark:TABLE, spark:FILES and dask:FILES."
Sources = Annotated[list[str] | None, typer.Argument(metavar="SOURCE...", show_default=False, help=_SOURCES)]
LocalSources = Annotated[list[str] | None, typer.Argument(metavar="SOURCE...", show_default=False, help=f"{_LOCAL}.")]
PredictSources = Annotated[
    list[str] | None,
    typer.Argument(metavar="SOURCE...", show_default=False, help=f"{_LOCAL}; also spark:TABLE and spark:FILES."),
]
_MODEL_FILE = "A model file, an address such as s3://…, or - for standard input."
Model = Annotated[Place, typer.Argument(metavar="MODEL", show_default=False, parser=as_path, help=_MODEL_FILE)]
Models = Annotated[
    list[Place], typer.Argument(metavar="MODEL...", show_default=False, parser=as_path, help="Model files.")
]
_WRITE = "The file to write; an existing one is replaced."
_output = partial(typer.Option, "--output", "-o", metavar="PATH", parser=as_path)
Output = Annotated[Place | None, _output(help=_WRITE)]
PredictOutput = Annotated[
    Place | None,
    _output(
        parser=lambda path: RemotePath(path) if path.startswith("spark:") else as_path(path),
        help=f"{_WRITE} Of a spark: source also spark:TABLE or spark:FOLDER, which must not exist.",
    ),
]
_MODEL = "By default, the name of the source with the extension .candide, or model.candide."
ModelOutput = Annotated[Place | None, _output(help=f"{_WRITE} {_MODEL}")]
ChangedOutput = Annotated[Place | None, _output(help=f"{_WRITE} By default MODEL itself.")]
Label = Annotated[str | None, _reading(help="The label column; detected by default.")]
Text = Annotated[str | None, _reading(help="The text column; detected by default.")]
_COLUMNS = "The columns to train on, optionally with their families: 'age,job=categorical'."
Columns = Annotated[str | None, _reading(help=_COLUMNS)]
_TYPES = (
    "The type of a column or of the label: number, category, boolean, date, text or str (a category or a text); "
    "date:%m/%d/%Y for dates in another format than ISO. By default it is detected from the first rows. May be given "
    "several times."
)
Types = Annotated[list[str] | None, _reading("--type", metavar="NAME=TYPE", show_default=False, help=_TYPES)]
Weight = Annotated[str | None, _reading(help="The column with the weight of each row.")]
_GROUPS = "The column of groups, which is not a feature: rows of one customer, thread or patient are left out together."
Groups = Annotated[str | None, _reading(help=_GROUPS)]
_SQL = (
    'A query to use as the source, or to run on a database given as the source, such as "SELECT text, label FROM '
    "'mail/*.parquet'\"."
)
Sql = Annotated[str | None, _reading(help=_SQL)]
Format = Annotated[str | None, _reading(help="The format of the source, if it cannot be detected from its name.")]
Encoding = Annotated[str | None, _reading(help="The text encoding if it is not UTF-8, such as cp1252.")]
_TIMEOUT = "How long to wait for another process that is changing the same model file."
LockTimeout = Annotated[float, typer.Option(min=0.0, metavar="SECONDS", help=_TIMEOUT, rich_help_panel="Writing")]
_BAD_ROW = "What to do with rows that cannot be read: error, skip, or 'collect FILE' to write them to a file."
OnBadRow = Annotated[str, _reading(metavar="ACTION", help=_BAD_ROW)]
_ABSENT = (
    "What to do if the source lacks columns of the model: raise an error, or treat their cells as missing. By default, "
    "as set in training."
)
Absent = Annotated[str | None, _reading(metavar="error|missing", help=_ABSENT)]
_MISSING = (
    "A text that marks a missing cell in CSV files, such as ?. May be given several times. By default, as in training."
)
Missing = Annotated[list[str] | None, _reading("--missing", metavar="VALUE", show_default=False, help=_MISSING)]
_EXTENSIONS = "Let DuckDB download and load extensions that --sql needs."
Extensions = Annotated[bool, _reading("--extensions", help=_EXTENSIONS)]


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

    def locked(self, path: Place, session: Session) -> AbstractContextManager[None]:
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
    missing: Missing = None
    on_bad_row: OnBadRow = "error"
    extensions: Extensions = False

    def opened(
        self, sources: list[str] | None, n_threads: int | None = None, *, labeled: bool = True, **roles: Any
    ) -> AbstractContextManager[Source]:
        """Return a context in which the source that a user named is open; ``labeled``: whether it has labels."""
        from .reading import open_source

        return open_source(sources, n_threads, roles, asdict(self), labeled)


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
    """Return the declared types by column; None if there are none."""
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
