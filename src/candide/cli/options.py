"""Options that several commands share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .groups import Group
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
        from ..storage.locking import locked

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
