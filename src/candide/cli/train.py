"""``candide train``: a model from a source."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .command import command

if TYPE_CHECKING:
    from ..model.model import Model
    from ..model.source import Source
    from ..specs import Spec
    from .monitor import CheckpointFile
    from .progress import Pass

EXAMPLES = """
candide train messages.csv
candide train people.parquet --label income --columns 'age,job=categorical,hours'
candide train houses.csv --type zip=category --type built=date
candide train 'mail/*.csv.gz' --text body --label folder -o mail.candide --with-rows
candide train spam.mbox ham.mbox --report spam.html
candide train --sql "SELECT body, queue FROM 'tickets.parquet' WHERE year = 2025" --label queue
candide train big.parquet --checkpoint        # and, if it was stopped: --checkpoint --resume
candide train 'dask:mail/*.parquet' --text body --label folder
candide train spark:shop.reviews --label stars -o stars.candide   # a table, or files: spark:s3a://shop/reviews.parquet
"""
_MODELS = "auto|multinomial|bernoulli|complement|polya"


@command
def train(
    sources: options.Sources = None,
    label: options.Label = None,
    text: options.Text = None,
    columns: options.Columns = None,
    types: options.Types = None,
    output: options.Output = None,
    model: Annotated[str, typer.Option(metavar=_MODELS, help="How texts are modelled.")] = "auto",
    refine: Annotated[bool, typer.Option("--refine", help="Go on with a logistic regression (texts).")] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of TextNB or NaiveBayes: alpha=0.5."),
    ] = None,
    with_rows: Annotated[
        bool, typer.Option("--with-rows", help="Keep training rows in the file, so that later updates can weigh anew.")
    ] = False,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Save what was learned so far now and then, beside the model.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.0, help="Seconds between two checkpoints.")] = 60.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", show_default=False, readable=False, help="Write a page about the model too: report.html, say."
        ),
    ] = None,
    weight: options.Weight = None,
    *,
    reading: options.Reading,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Learn from a source and write a model.

    Finds out which column holds the labels, which the texts, and how each column is best modelled, and says so; says
    how good the model honestly is, on rows left out. Nothing is written unless all went well.
    """
    from ..exceptions import ParameterError
    from ..model.train import train as train_model
    from ..report import make_report
    from ..storage.models import save_model
    from .monitor import monitored
    from .options import families_of, names_of, settings_of, types_of
    from .reading import refuse_source, say_bad_rows
    from .writing import checked_place, is_stdout

    session = shared.session
    if output is not None and is_stdout(output) and session.as_json:
        raise ParameterError("--json would write its answer into the model on standard output; name a file, or omit it")
    wishes = ({"family": model} if model != "auto" else {}) | ({"refine": True} if refine else {})
    wishes |= settings_of(setting)
    roles = {"label": label, "text": text, "columns": names_of(columns), "weight": weight}
    declared = types_of(types)
    with reading.opened(sources, shared.threads, schema=declared, **roles) as source:
        spec = make_spec(source, wishes, families_of(columns), declared)
        path = checked_place(output or beside(sources))
        refuse_source(path, sources)
        if page is not None:
            refuse_source(checked_place(page), [*(sources or []), str(path)])
        saved = _checkpoint(path, source, spec, every, sources, reading) if checkpoint or resume else None
        with monitored(source, "learning", session, saved, resume) as monitor:
            trained = train_model(spec, source, monitor=monitor)
        passed = monitor.passed
        # The file is replaced whatever is in it, so it is locked only while it is written.
        with writing.locked(path, session):
            save_model(trained, path, rows=with_rows)
        if page is not None:
            make_report(trained, path=page, title=path.stem, notes=_notes(sources, passed))
    if label is None:
        session.remark(f"the label was taken to be {_label(trained)!r}; name another column with --label")
    if len(trained.classes) == 1:
        session.remark(f"all rows are of one class, {trained.classes[0]!s}: there is nothing to tell apart")
    if saved is not None:
        saved.remove()
    say_bad_rows(source, session)
    from .training_report import as_machine, for_people

    session.report(
        as_machine(trained, source, passed, path) | ({} if page is None else {"report": str(page)}),
        lambda: for_people(trained, passed, path, with_rows) + ([] if page is None else [f"wrote {page}"]),
    )


def _checkpoint(
    path: Path, source: Source, spec: Spec, every: float, sources: list[str] | None, reading: options.Reading
) -> CheckpointFile:
    from ..exceptions import ParameterError
    from ..sources import ArrowSource
    from .monitor import CheckpointFile

    if not source.can_resume:
        raise ParameterError(
            "--checkpoint and --resume are for sources that are read here; what a cluster loses, it does again by "
            "itself; leave them out"
        )
    assert isinstance(source, ArrowSource)
    return CheckpointFile(path, source, spec, every, {"sources": sources, **asdict(reading)})


def _label(model: Model) -> str:
    assert model.schema.roles is not None
    return model.schema.roles.label


def _notes(sources: list[str] | None, passed: Pass) -> dict[str, str]:
    """What a report says of the training."""
    learned = f"{passed.rows:,} rows in {passed.seconds:.1f} s"
    return {"source": ", ".join(sources or ["a query"]), "learned": learned}


def make_spec(
    source: Source, wishes: dict[str, Any], families: dict[str, str], types: dict[str, str] | None = None
) -> Spec:
    """Return the parameters of the model that suits the source."""
    from ..exceptions import ParameterError
    from ..specs.table import TableSpec
    from ..specs.text import TextSpec

    roles = source.roles
    assert roles is not None
    if roles.text is not None:
        return TextSpec().with_parameters(**wishes)
    if wishes.keys() & {"family", "refine"}:
        raise ParameterError(
            f"the source is a table ({', '.join(roles.columns)}), and --model and --refine are for texts; leave "
            "them out, or name the column of texts with --text"
        )
    here = (*roles.columns, roles.label)
    declared = {name: kind for name, kind in (types or {}).items() if name in here}
    return TableSpec(columns=families or "auto", schema=declared or None).with_parameters(**wishes)


def beside(sources: list[str] | None) -> Path:
    """Where the model goes: beside the first source, under its name; here, where that is no file."""
    from ..sources.cluster_files import without_engine

    first = without_engine((sources or ["-"])[0])
    path = Path(first)
    if not path.exists() or first == "-":
        return Path("model.candide")
    stem = path.name if path.is_dir() else path.name.split(".")[0] or path.name
    return path.parent / f"{stem}.candide"
