"""``candide train``: train a model on a source."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..remote import Place, RemotePath, as_path
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
candide train people.parquet --label income --columns 'age,job=categorical'
candide train houses.csv --type zip=category --type built=date
candide train visits.csv --label ill --groups patient
candide train measurements.csv --estimator GaussianNB --set variance=shared
candide train 'mail/*.csv.gz' --text body --label folder -o mail.candide
candide train spam.mbox ham.mbox --report spam.html
candide train --sql "SELECT body, queue FROM 'tickets.parquet'" --label queue
# Save checkpoints; after an interruption, add --resume
candide train big.parquet --checkpoint
# On a cluster
candide train 'dask:mail/*.parquet' --text body --label folder
candide train spark:shop.reviews --label stars -o stars.candide
"""


@command
def train(
    sources: options.Sources = None,
    label: options.Label = None,
    text: options.Text = None,
    columns: options.Columns = None,
    types: options.Types = None,
    output: options.ModelOutput = None,
    model: Annotated[
        str,
        typer.Option(metavar="FAMILY", help="The family for texts: auto, multinomial, bernoulli, complement or polya."),
    ] = "auto",
    estimator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="The estimator: NaiveBayes, TextNB, GaussianNB, BernoulliNB, CategoricalNB, ComplementNB, "
            "MultinomialNB or PoissonNB. By default TextNB for a single text column, else NaiveBayes.",
        ),
    ] = None,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            show_default=False,
            help="Also fit a regression: for texts, on words; for tables, on random grids, which capture "
            "interactions of many columns. By default, tables of 4,000 rows or more try it.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the estimator, such as alpha=0.5."),
    ] = None,
    with_rows: Annotated[
        bool,
        typer.Option(
            "--with-rows", help="Keep training rows in the model file, so that updates can refit the weights."
        ),
    ] = False,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Save checkpoints during training, in a file next to the model.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.0, metavar="SECONDS", help="Time between checkpoints.")] = 60.0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the last checkpoint.")] = False,
    page: Annotated[
        Place | None,
        typer.Option(
            "--report",
            metavar="PATH",
            show_default=False,
            parser=as_path,
            help="Also write an HTML report on the model, such as report.html.",
        ),
    ] = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    *,
    reading: options.Reading,
    writing: options.Writing,
    shared: options.Shared,
) -> None:
    """Train a model on a source and write it to a file.

    Unless you name them, the label column, a text column and the family of each column are detected from the data.
    A leave-one-out evaluation of the model and of plain naive Bayes is printed. If there is an error, nothing is
    written.
    """
    from ..exceptions import ParameterError
    from ..model.train import train as train_model
    from ..report import make_report
    from ..storage.models import save_model
    from .monitor import monitored
    from .options import families_of, names_of, settings_of, types_of
    from .reading import refuse_source, say_bad_rows
    from .writing import checked_path, is_stdout

    session = shared.session
    if output is not None and is_stdout(output) and session.as_json:
        raise ParameterError(
            "--json and the model would both be written to standard output; name a file with -o, or omit --json"
        )
    settings = ({"family": model} if model != "auto" else {}) | ({} if refine is None else {"refine": refine})
    settings |= settings_of(setting)
    roles: dict[str, Any] = {
        "label": label,
        "text": text,
        "columns": names_of(columns),
        "weight": weight,
        "groups": groups,
    }
    declared = types_of(types)
    with reading.opened(sources, shared.threads, schema=declared, **roles) as source:
        spec = make_spec(source, settings, families_of(columns), declared, estimator)
        path = checked_path(output or default_output(sources))
        refuse_source(path, sources)
        if page is not None:
            refuse_source(checked_path(page), [*(sources or []), str(path)])
        saved = _checkpoint(path, source, spec, every, sources, reading) if checkpoint or resume else None
        with monitored(source, "learning", session, saved, resume) as monitor:
            trained = train_model(spec, source, monitor=monitor)
        passed = monitor.passed
        # The file is replaced whatever is in it, so it is locked only while it is written.
        with writing.locked(path, session):
            kept = with_rows and trained.has_training_rows
            save_model(trained, path, rows=kept)
        if page is not None:
            make_report(trained, path=page, title=path.stem, notes=_notes(sources, passed))
    if label is None:
        session.note(f"using column {_label(trained)!r} as the label; to choose another, pass --label")
    if len(trained.classes) == 1:
        session.note(f"all rows belong to one class, {trained.classes[0]!s}; a classifier needs at least two")
    if saved is not None:
        saved.remove()
    say_bad_rows(source, session)
    from .training_report import as_lines, as_machine

    session.report(
        as_machine(trained, source, passed, path)
        | {"training_rows": kept}
        | ({} if page is None else {"report": str(page)}),
        lambda: as_lines(trained, passed, path, kept) + ([] if page is None else [f"wrote {page}"]),
    )


def _checkpoint(
    path: Place, source: Source, spec: Spec, every: float, sources: list[str] | None, reading: options.Reading
) -> CheckpointFile:
    from ..exceptions import ParameterError
    from ..sources import ArrowSource
    from .monitor import CheckpointFile

    if not source.can_resume:
        raise ParameterError(
            "--checkpoint and --resume do not apply to dask: and spark: sources, because the cluster retries lost "
            "work; omit these options"
        )
    if isinstance(path, RemotePath):
        raise ParameterError(
            f"checkpoints are written next to the model, but {path} is not a local file; name a local file with -o"
        )
    assert isinstance(source, ArrowSource)
    return CheckpointFile(path, source, spec, every, {"sources": sources, **asdict(reading)})


def _label(model: Model) -> str:
    assert model.schema.roles is not None
    return model.schema.roles.label


def _notes(sources: list[str] | None, passed: Pass) -> dict[str, str]:
    """Return what the report says about the training."""
    learned = f"{passed.rows:,} rows in {passed.seconds:.1f} s"
    return {"source": ", ".join(sources or ["a query"]), "learned": learned}


def make_spec(
    source: Source,
    settings: dict[str, Any],
    families: dict[str, str],
    types: dict[str, str] | None = None,
    estimator: str | None = None,
) -> Spec:
    """Return the parameters of an estimator: the one that is named, or the one that suits the source."""
    from ..exceptions import ParameterError
    from ..specs import spec_class
    from ..specs.table import TableSpec
    from ..specs.text import TextSpec

    roles = source.roles
    assert roles is not None
    name = _checked_estimator(estimator) or ("NaiveBayes" if roles.text is None else "TextNB")
    if families and name != "NaiveBayes" and estimator:
        raise ParameterError(
            f"--columns sets a family for {', '.join(families)}, but {name} has one family for all columns; pass "
            "only the names of columns, or use NaiveBayes"
        )
    if name == "TextNB":
        return TextSpec().with_parameters(**settings)
    if "family" in settings:
        found = f"the estimator is {name}" if estimator else f"the source is a table ({', '.join(roles.columns)})"
        raise ParameterError(
            f"--model applies only to texts, but {found}; omit --model, or name the text column with --text"
        )
    here = (*roles.columns, roles.label)
    declared = {name: kind for name, kind in (types or {}).items() if name in here}
    if name == "NaiveBayes":
        return TableSpec(columns=families or "auto", schema=declared or None).with_parameters(**settings)
    if declared and not source.is_read_here:
        raise ParameterError(
            f"--type does not apply to {name} on dask: and spark: sources; omit --type, or use NaiveBayes"
        )
    # The evaluation that train prints.
    return spec_class(name)().with_parameters(**{"compute_loo": True} | settings)


def _checked_estimator(name: str | None) -> str | None:
    from ..data.column_selection import did_you_mean
    from ..exceptions import ParameterError
    from ..specs import SPECS

    if name is None or name in SPECS:
        return name
    hint = did_you_mean(name, SPECS, "pass one of these")
    raise ParameterError(f"--estimator is {name!r}; expected one of {', '.join(SPECS)}; {hint}")


def default_output(sources: list[str] | None) -> Path:
    """Return the path of the model: next to the first source and named after it, or in the current directory."""
    from ..sources.cluster_files import without_engine

    first = without_engine((sources or ["-"])[0])
    path = as_path(first)
    if isinstance(path, RemotePath) or not path.exists() or first == "-":
        return Path("model.candide")
    stem = path.name if path.is_dir() else path.name.split(".")[0] or path.name
    return path.parent / f"{stem}.candide"
