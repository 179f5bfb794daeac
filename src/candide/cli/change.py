"""``candide update``, ``forget``, ``merge``: models that go on living."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..exceptions import ParameterError
from . import options
from .command import command
from .reading import check_output, check_stdin
from .session import Session
from .writing import checked_place

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.source import Source

UPDATE_EXAMPLES = """
candide update messages.candide today.csv
candide update messages.candide today.csv --decay 0.99      # what was learned before counts a little less
candide update messages.candide today.csv -o newer.candide
"""
FORGET_EXAMPLES = """
candide forget messages.candide withdrawn.csv               # as if those rows had never been seen
"""
MERGE_EXAMPLES = """
candide merge monday.candide tuesday.candide -o week.candide
candide merge parts/*.candide -o whole.candide
"""


@command
def update(
    model: options.Model,
    sources: options.Sources = None,
    output: options.Output = None,
    decay: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Multiply the weight of what was learned before.")
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
    """Learn the rows of a source too. Categories and words that are new join, and so do classes (train --with-rows).

    The counts are those of training on all rows at once. What was chosen and weighed on rows left out is done again
    once a tenth has changed, if the file holds training rows (train --with-rows); else it stays.
    """
    target, session = _target(model, output, sources), shared.session
    opened = reading.opened(sources, shared.threads, text=text, label=label, weight=weight)
    with opened as source, writing.locked(target, session):
        _change(model, source, target, session, "learn", absent, decay)


@command
def forget(
    model: options.Model,
    sources: options.Sources = None,
    output: options.Output = None,
    label: options.Label = None,
    text: options.Text = None,
    weight: options.Weight = None,
    absent: options.Absent = None,
    *,
    reading: options.Reading,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Take rows that were learned out again, as if they had never been seen. All of them, or none.

    Where the file holds training rows (train --with-rows), what was chosen and weighed on rows left out is done again
    before the model is written: nothing in the file depends on the rows that were taken out.
    """
    target, session = _target(model, output, sources), shared.session
    opened = reading.opened(sources, shared.threads, text=text, label=label, weight=weight)
    with opened as source, writing.locked(target, session):
        _change(model, source, target, session, "forget", absent)


def _target(model: Path, output: Path | None, sources: list[str] | None) -> Path:
    """Where a model goes that was changed."""
    check_stdin(model, sources)
    check_output(model, output)
    return checked_place(output or model)


def _change(
    path: Path, source: Source, target: Path, session: Session, verb: Literal["learn", "forget"], absent: str | None,
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
    doing, change = ("learning", learn_rows) if verb == "learn" else ("forgetting", forget_rows)
    with monitored(source, doing, session) as monitor:
        # --absent is about this source alone.
        model = replace(change(model, source, monitor=monitor), spec=spec)
    if verb == "forget" and model.can_refit and model.staleness:
        with session.status("fitting weights on rows left out"):
            model = model.refit()
    say_bad_rows(source, session)
    passed = monitor.passed
    what = "learned" if verb == "learn" else "forgot"
    _save(model, target, session, f"{what} {passed.rows - passed.n_unlabeled:,} rows")


@command
def merge(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", show_default=False, readable=False, help="Model files.")
    ],
    output: options.Output = None,
    *,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Add models that were trained apart: the counts are those of training on all their rows at once."""
    from functools import reduce

    from ..model.model import Model
    from .reading import open_model

    if output is None:
        raise ParameterError("merge needs a place for the result: -o FILE")
    check_stdin(models)
    session, target = shared.session, checked_place(output)
    # The place may be one of the models.
    with writing.locked(target, session):
        merged = reduce(Model.merge, (open_model(path) for path in models))
        _save(merged, target, session, f"merged {len(models)} models")


def _save(model: Model, path: Path, session: Session, what: str) -> None:
    from ..storage.models import save_model

    kept = model.has_training_rows
    with session.status("weighing, on rows left out" if kept else "writing"):
        model = model.for_file()
        save_model(model, path, rows=kept)
    rows = f"{float(model.class_count.sum()):,.6g}"
    machine = {
        "model": str(path),
        "weight": model.class_count.sum(),
        "classes": dict(zip(model.classes.tolist(), model.class_count.tolist(), strict=True)),
        "training_rows": kept,
    }
    kept_text = "with" if kept else "without"
    session.report(
        machine,
        lambda: [f"{what}; wrote {path}: {rows} rows, {len(model.classes):,} classes, {kept_text} training rows"],
    )
