"""``candide report``: a page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..report.model_report import ModelReport

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
    """Write an HTML report on a model: description, estimated quality, features, warnings and examples.

    One HTML file, by default beside the model, that needs no other file and no network. Training rows are looked at if
    the model keeps some (train --with-rows); else --data gives the examples.
    """
    from ..model.predict import labeled_batches
    from ..report import make_report
    from .monitor import FollowedSource
    from .progress import watched
    from .reading import check_output, check_stdin, open_model, refuse_source, say_bad_rows, with_absent
    from .records import UnseenNotes
    from .writing import checked_place

    session = shared.session
    check_stdin(model, data)
    check_output(model, output)
    path = checked_place(output or model.with_suffix(".html"))
    refuse_source(path, [str(model), *(data or [])])
    fitted = with_absent(open_model(model), absent)
    notes = {"file": str(model), **({"rows given": ", ".join(data)} if data else {})}
    if data or reading.sql:
        with reading.opened(data, shared.threads, label=label, text=text, weight=weight) as source:
            with watched(source, "evaluating", session) as passed:
                rows = labeled_batches(fitted, FollowedSource(source, passed, UnseenNotes(fitted, session)))
                found = make_report(fitted, rows, path, title=title or model.stem, notes=notes)
            say_bad_rows(source, session)
    else:
        found = make_report(fitted, None, path, title=title or model.stem, notes=notes)
    session.report({"page": str(path), **found.as_dict()}, lambda: for_people(found, path))


def for_people(found: ModelReport, path: Path) -> list[Any]:
    """What was found, in a few lines."""
    lines = [f"wrote {path} ({path.stat().st_size / 1e3:,.0f} kB)"]
    if found.training is None and found.given is None:
        lines.append("the model keeps no training rows; for rows worth a look: train --with-rows, or --data rows.csv")
    return [*(f"{warning.topic}: {_said(warning)}" for warning in found.warnings), *lines]


def _said(warning: Any) -> str:
    names = ", ".join(warning.names[:_NAMES]) + (", …" if len(warning.names) > _NAMES else "")
    return f"{warning.text}{': ' if names else ''}{names}"


_NAMES = 8
