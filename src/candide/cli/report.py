"""``candide report``: a page about a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command
from .session import Session

if TYPE_CHECKING:
    from ..model.model import Model
    from ..report.findings import Findings
    from ..sources import Source

EXAMPLES = """
candide report messages.candide
candide report messages.candide --data later.csv -o messages.html
candide report people.candide --data people.parquet --label income --json | jq .data.accuracy
"""


@command
def report(
    model: options.Model,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE", show_default=False, help="Rows with labels to measure too; may be given several times."
        ),
    ] = None,
    output: options.Output = None,
    title: Annotated[
        str | None, typer.Option(show_default=False, help="Of the page; else the name of the file.")
    ] = None,
    label: options.Label = None,
    text: options.Text = None,
    absent: options.Absent = None,
    weight: options.Weight = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Write a page about a model: what it is, how good it honestly is, what it looks at, what to be wary of.

    One HTML file, by default beside the model, that needs no other file and no network. Training rows are looked at if
    the model keeps some (train --updatable); else --data gives the examples.
    """
    from ..report import make_report
    from ..training import labeled_batches
    from .reading import check_output, check_stdin, open_model, refuse_source, with_absent
    from .writing import checked_place

    session = shared.session
    check_stdin(model, data)
    check_output(model, output)
    path = checked_place(output or model.with_suffix(".html"))
    refuse_source(path, [str(model), *(data or [])])
    fitted = with_absent(open_model(model), absent)
    roles = {"text": text, "label": label, "weight": weight}
    notes = {"file": str(model), **({"rows given": ", ".join(data)} if data else {})}
    source = reading.source(data, weight=weight) if data or reading.sql else None
    with nullcontext() if source is None else _rows(fitted, source, session, roles) as rows:
        batches = None if rows is None else labeled_batches(fitted, rows, None, None)
        found = make_report(fitted, batches, path, title=title or model.stem, notes=notes)
    session.report({"page": str(path), **found.as_dict()}, lambda: for_people(found, path))


@contextmanager
def _rows(model: Model, source: Source, session: Session, roles: dict[str, Any]) -> Iterator[Any]:
    """Rows with labels, chunk by chunk, while people see how far they are."""
    from ..training.roles import roles_for
    from .evaluate import followed
    from .progress import watched
    from .reading import say_bad_rows, say_unlabeled
    from .records import UnseenNotes

    with watched(source, "judging", session) as passed:
        found = roles_for(model, source, labelled=True, **roles)
        yield followed(source, found, passed, UnseenNotes(model, session))
    say_bad_rows(source, session)
    say_unlabeled(passed, session)


def for_people(found: Findings, path: Path) -> list[Any]:
    """What was found, in a few lines."""
    lines = [f"wrote {path} ({path.stat().st_size / 1e3:,.0f} kB)"]
    if found.trained is None and found.given is None:
        lines.append("the model keeps no training rows; for rows worth a look: train --updatable, or --data rows.csv")
    return [*(f"{concern.topic}: {_said(concern)}" for concern in found.concerns), *lines]


def _said(concern: Any) -> str:
    names = ", ".join(concern.names[:_NAMES]) + (", …" if len(concern.names) > _NAMES else "")
    return f"{concern.text}{': ' if names else ''}{names}"


_NAMES = 8
