"""``candide report``: an HTML report on a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..remote import Place, size_of
from . import options
from .command import command

if TYPE_CHECKING:
    from ..report.model_report import ModelReport

EXAMPLES = """
candide report messages.candide
candide report messages.candide --data later.csv -o messages.html
candide report people.candide --data people.parquet --json | jq .data.accuracy
"""


@command
def report(
    model: options.Model,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            show_default=False,
            help="Labeled rows to evaluate the model on; may be given several times.",
        ),
    ] = None,
    output: options.Output = None,
    title: Annotated[
        str | None,
        typer.Option(show_default=False, help="The title of the page; by default the name of the model file."),
    ] = None,
    label: options.Label = None,
    text: options.Text = None,
    absent: options.Absent = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Write an HTML report on a model: description, estimated quality, features, warnings and examples.

    The report is a single self-contained HTML file, by default next to the model. The example rows are training rows if
    the model keeps them (train --with-rows), otherwise rows of --data.
    """
    from ..model.predict import labeled_batches
    from ..report import make_report
    from .monitor import FollowedSource
    from .progress import watched
    from .reading import check_output, check_stdin, open_model, refuse_source, say_bad_rows, with_absent
    from .records import UnseenNotes
    from .writing import checked_path

    session = shared.session
    check_stdin(model, data)
    check_output(model, output)
    path = checked_path(output or model.with_suffix(".html"))
    refuse_source(path, [str(model), *(data or [])])
    fitted = with_absent(open_model(model), absent)
    notes = {"file": str(model), **({"evaluation rows": ", ".join(data)} if data else {})}
    if data or reading.sql:
        with reading.opened(data, shared.threads, label=label, text=text, weight=weight, groups=groups) as source:
            with watched(source, "evaluating", session) as passed:
                rows = labeled_batches(fitted, FollowedSource(source, passed, UnseenNotes(fitted, session)))
                found = make_report(fitted, rows, path, title=title or model.stem, notes=notes)
            say_bad_rows(source, session)
    else:
        found = make_report(fitted, None, path, title=title or model.stem, notes=notes)
    session.report({"page": str(path), **found.as_dict()}, lambda: as_lines(found, path))


def as_lines(found: ModelReport, path: Place) -> list[Any]:
    """Return the warnings and the path, as lines."""
    lines = [f"wrote {path} ({size_of(path) / 1e3:,.0f} kB)"]
    if found.training is None and found.given is None:
        lines.append(
            "the report has no examples, because the model keeps no training rows; pass --data, or train with "
            "--with-rows"
        )
    return [*(f"warning ({warning.topic}): {_warning_text(warning)}" for warning in found.warnings), *lines]


def _warning_text(warning: Any) -> str:
    names = ", ".join(warning.names[:_NAMES]) + (", …" if len(warning.names) > _NAMES else "")
    return f"{warning.text}{': ' if names else ''}{names}"


_NAMES = 8
