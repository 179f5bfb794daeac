"""Sources and models, opened for a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import ParameterError
from .session import Session

if TYPE_CHECKING:
    from ..learners.base import BaseNB
    from ..sources import Source
    from .afar import Afar


def open_source(sources: list[str] | None, *, on_bad_row: str = "error", **options: Any) -> Source:
    """What the arguments of a command speak of."""
    if not sources and not options.get("sql"):
        raise ParameterError("there is no source; name a file, a folder, a mailbox or a database, or pass --sql")
    from ..clusters.places import engine_of
    from ..sources import read

    engine = engine_of(sources)
    if engine is not None:
        raise ParameterError(
            f"{engine}: is for train; read the files here, without it, or ask the model in Python: "
            "candide.load(MODEL).predict(frame)"
        )
    bad = _collecting(on_bad_row)
    if isinstance(bad, Path):
        refuse_source(bad, sources)
    return read(*(sources or []), on_bad_row=bad, **options)


def refuse_source(path: Path, sources: list[str] | None) -> None:
    """Nobody means to write over what is read."""
    from ..clusters.places import place_of

    for source in map(place_of, sources or []):
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise ParameterError(f"{path} is a source, and would be written over; name another file")


def _collecting(on_bad_row: str) -> str | Path:
    """ "error", "skip", or the file that is meant by "collect" or "collect FILE"."""
    if on_bad_row in ("error", "skip"):
        return on_bad_row
    verb, _, file = on_bad_row.partition(" ")
    if verb == "collect":
        return Path(file.strip() or "bad_rows.jsonl")
    raise ParameterError(f"--on-bad-row is {on_bad_row!r}; it must be error, skip, or 'collect FILE'")


def open_model(path: Path) -> BaseNB:
    """The model in a file, be it one that ``dump`` wrote."""
    from ..learners.storing import load, load_lines

    with path.open("rb") as file:
        is_text = file.read(1) == b"{"
    if not is_text:
        return load(path)
    with path.open(encoding="utf-8") as lines:
        return load_lines(lines, str(path))


def say_bad_rows(source: Source | Afar, session: Session) -> None:
    """How many rows could not be read, and the first of them."""
    bad = source.bad_rows
    if bad:
        first = next(iter(bad))
        session.remark(
            f"{len(bad):,} rows could not be read and were left out; the first: {first.file}, line {first.line}: "
            f"{first.problem}"
        )
