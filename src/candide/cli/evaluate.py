"""``candide evaluate``: how good a model is on rows with labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..sources import Roles, Source
    from .progress import Pass
    from .records import UnseenNotes

EXAMPLES = """
candide evaluate messages.candide later.csv
candide evaluate messages.candide later.csv --json | jq .log_loss
"""


@command
def evaluate(
    model: options.Model,
    sources: options.Sources = None,
    label: options.Label = None,
    text: options.Text = None,
    absent: options.Absent = None,
    weight: options.Weight = None,
    least_accuracy: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Exit with 1 if the accuracy is lower, for scripts.")
    ] = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Compare what a model says with the labels of a source: accuracy, log-loss, calibration, confusion."""
    from .. import training
    from ..training.roles import roles_for
    from .pictures import of_report
    from .progress import watched
    from .reading import check_stdin, open_model, say_bad_rows, say_unlabeled, with_absent
    from .records import UnseenNotes

    session = shared.session
    check_stdin(model, sources)
    fitted = with_absent(open_model(model), absent)
    source = reading.source(sources, weight=weight)
    roles = roles_for(fitted, source, text, label=label, weight=weight, labelled=True)
    with watched(source, "judging", session) as passed:
        report = training.evaluate(fitted, followed(source, roles, passed, UnseenNotes(fitted, session)))
    say_bad_rows(source, session)
    say_unlabeled(passed, session)
    session.answer(report.as_dict(), *of_report(report, f"{report.n_rows:,} rows"))
    if least_accuracy is not None and report.accuracy < least_accuracy:
        session.say(f"the accuracy is below {least_accuracy}")
        raise SystemExit(1)


def followed(source: Source, roles: Roles, passed: Pass, unseen: UnseenNotes) -> Iterator[tuple[Any, ...]]:
    """Batch by batch, rows with labels."""
    from ..data.arrow_batches import labelled_cells, needed

    for batch in source.batches(columns=needed(roles)):
        rows = labelled_cells(batch, roles)
        if rows.n_rows:
            unseen.note(rows.X)
            yield rows.X, rows.y, rows.weight
        passed.is_unlabeled += batch.num_rows - rows.n_rows
        passed.advance(batch.num_rows)
