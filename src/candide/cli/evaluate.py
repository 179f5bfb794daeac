"""``candide evaluate``: measure a model on rows with labels."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .command import command

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
    groups: options.Groups = None,
    least_accuracy: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Exit with code 1 if the accuracy is below this.")
    ] = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Evaluate a model on labeled rows: accuracy, log-loss, calibration, and precision, recall, F1 and AUC per class.

    Plain naive Bayes (the same columns without stacking and calibration) is evaluated on the same rows. AUC is the area
    under the ROC curve of a class against all others.
    """
    from ..model.predict import evaluate as evaluate_source
    from .monitor import FollowedSource
    from .progress import watched
    from .reading import check_stdin, open_model, say_bad_rows, with_absent
    from .records import UnseenNotes
    from .tables import count, of_evaluation

    session = shared.session
    check_stdin(model, sources)
    fitted = with_absent(open_model(model), absent)
    with reading.opened(sources, shared.threads, label=label, text=text, weight=weight, groups=groups) as source:
        with watched(source, "evaluating", session) as passed:
            report = evaluate_source(fitted, FollowedSource(source, passed, UnseenNotes(fitted, session)))
        say_bad_rows(source, session)
        trained, names = fitted.schema.roles, source.names
    by = groups or (trained.groups if trained else None)
    if by is not None and names is not None and by not in names:
        session.note(f"rows count as independent, because column {by!r}, the groups of training, is missing")
        by = None
    title = f"Evaluation ({count(report.n_rows, 'row')}{'' if by is None else f', groups: {by}'})"
    session.answer(report.as_dict(), *of_evaluation(report, title))
    if least_accuracy is not None and report.accuracy < least_accuracy:
        session.say(f"the accuracy is {report.accuracy:.4f}, below {least_accuracy} (--least-accuracy)")
        raise SystemExit(1)
