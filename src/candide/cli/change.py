"""``candide update``, ``forget``, ``merge``: change trained models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..exceptions import ParameterError
from ..remote import Place
from . import options
from .command import command
from .reading import check_output, check_stdin
from .session import Session
from .writing import checked_path

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.source import Source

UPDATE_EXAMPLES = """
candide update messages.candide today.csv
# Reduce the weight of earlier rows to 99%
candide update messages.candide today.csv --decay 0.99
candide update messages.candide today.csv -o newer.candide
"""
FORGET_EXAMPLES = """
candide forget messages.candide withdrawn.csv
candide forget people.candide --sql "FROM 'people.parquet' WHERE name = 'Ann'"
# Of a CSV file: all_varchar keeps cells as written, such as yes and no
candide forget a.candide --sql "FROM read_csv('a.csv', all_varchar=1) WHERE …"
"""
MERGE_EXAMPLES = """
candide merge monday.candide tuesday.candide -o week.candide
candide merge parts/*.candide -o whole.candide
"""


@command
def update(
    model: options.Model,
    sources: options.Sources = None,
    output: options.ChangedOutput = None,
    decay: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Multiply the weight of all earlier rows by this factor.")
    ] = None,
    label: options.Label = None,
    text: options.Text = None,
    weight: options.Weight = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Update a model with more rows, which may have new categories and words.

    The counts equal those of training on all rows at once. Stacking weights and calibration are fitted again once a
    tenth of the rows is new, if the file contains training rows (train --with-rows); otherwise they are kept, and no
    classes can be added to a stacked model.
    """
    target, session = _target(model, output, sources), shared.session
    opened = reading.opened(sources, shared.threads, text=text, label=label, weight=weight)
    with opened as source, writing.locked(target, session):
        _change(model, source, target, session, "learn", absent, decay)


@command
def forget(
    model: options.Model,
    sources: options.Sources = None,
    output: options.ChangedOutput = None,
    label: options.Label = None,
    text: options.Text = None,
    weight: options.Weight = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Remove training rows from a model, as if it had never been trained on them.

    Either all rows of the source are removed or none. If the file contains training rows (train --with-rows), stacking
    weights and calibration are fitted again before the model is written, so that nothing in the file depends on the
    removed rows.
    """
    target, session = _target(model, output, sources), shared.session
    opened = reading.opened(sources, shared.threads, text=text, label=label, weight=weight)
    with opened as source, writing.locked(target, session):
        _change(model, source, target, session, "forget", absent)


def _target(model: Place, output: Place | None, sources: list[str] | None) -> Place:
    """Return the path of the changed model."""
    check_stdin(model, sources)
    check_output(model, output)
    return checked_path(output or model)


def _change(
    path: Place, source: Source, target: Place, session: Session, verb: Literal["learn", "forget"], absent: str | None,
    decay: float | None = None,
) -> None:  # fmt: skip
    from ..model.train import forget as forget_rows
    from ..model.train import learn as learn_rows
    from .monitor import monitored
    from .reading import open_model, say_bad_rows, with_absent

    model = open_model(path)
    spec = model.spec
    model = with_absent(model, absent)
    if decay is not None:
        model = model.discount(decay)
    doing, change = ("training", learn_rows) if verb == "learn" else ("forgetting", forget_rows)
    with monitored(source, doing, session) as monitor:
        # --absent applies only to this source.
        model = replace(change(model, source, monitor=monitor), spec=spec)
    if verb == "forget" and model.can_refit and model.staleness:
        with session.status("fitting weights on held-out rows"):
            model = model.refit()
    elif verb == "forget" and not model.has_training_rows:
        weights = "weights fitted on them are unchanged, and " if model.staleness else ""
        session.note(
            f"the rows were removed from the counts, but {weights}it was not checked that each of them is a training "
            "row, because the file holds no training rows; train with --with-rows"
        )
    say_bad_rows(source, session)
    passed = monitor.passed
    what = "learned" if verb == "learn" else "forgot"
    _save(model, target, session, f"{what} {passed.rows - passed.n_unlabeled:,} rows")


@command
def merge(
    models: options.Models,
    output: options.Output = None,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Merge models that were trained separately. The counts equal those of one model trained on all rows."""
    from functools import reduce

    from ..model.model import Model
    from .reading import open_model

    if output is None:
        raise ParameterError("merge needs an output file; pass -o FILE")
    check_stdin(models)
    session, target = shared.session, checked_path(output)
    # The output may be one of the models.
    with writing.locked(target, session):
        merged = reduce(Model.merge, (open_model(path) for path in models))
        _save(merged, target, session, f"merged {len(models)} models")


def _save(model: Model, path: Place, session: Session, what: str) -> None:
    from ..storage.models import save_model
    from .training_report import rows_text

    kept = model.has_training_rows
    with session.status("fitting weights on held-out rows" if kept else "writing"):
        model = model.for_file()
        save_model(model, path, rows=kept)
    rows = f"{float(model.class_count.sum()):,.6g}"
    machine = {
        "model": str(path),
        "weight": model.class_count.sum(),
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "training_rows": kept,
    }
    session.report(
        machine,
        lambda: [f"{what}; wrote {path}: {rows} rows, {len(model.classes):,} classes, {rows_text(kept)}"],
    )
