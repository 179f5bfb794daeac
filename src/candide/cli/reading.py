"""Sources and models, opened for a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import ParameterError
from .session import Session

if TYPE_CHECKING:
    from ..learners.base import BaseNB
    from ..sources import Source


def open_source(sources: list[str] | None, *, on_bad_row: str = "error", **options: Any) -> Source:
    """What the arguments of a command speak of."""
    if not sources and not options.get("sql"):
        raise ParameterError("there is no source; name a file, a folder, a mailbox or a database, or pass --sql")
    from ..sources import read

    return read(*(sources or []), on_bad_row=_collecting(on_bad_row), **options)


def _collecting(on_bad_row: str) -> str | Path:
    """ "error", "skip", or the file that is meant by "collect", "collect FILE" or FILE."""
    if on_bad_row in ("error", "skip"):
        return on_bad_row
    return Path(on_bad_row.removeprefix("collect").lstrip(" :=") or "bad_rows.jsonl")


def open_model(path: Path, session: Session) -> BaseNB:
    """The model in a file."""
    from ..learners.storing import load

    model = load(path)
    if session.threads is not None:
        model.set_params(n_threads=session.threads)
    return model


def say_bad_rows(source: Source, session: Session) -> None:
    """How many rows could not be read, and the first of them."""
    bad = source.bad_rows
    if bad:
        first = next(iter(bad))
        session.remark(
            f"{len(bad):,} rows could not be read and were left out; the first: {first.file}, line {first.line}: "
            f"{first.problem}"
        )
