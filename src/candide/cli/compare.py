"""``candide compare``: train candidate models and compare them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import CandideError, InputError
from . import options
from .command import command
from .session import Session

if TYPE_CHECKING:
    from ..model.evaluation import Evaluation
    from ..model.source import Source
    from ..specs import Spec

EXAMPLES = """
candide compare messages.csv
candide compare people.csv --label income --json
"""


@command
def compare(
    sources: options.Sources = None,
    label: options.Label = None,
    text: options.Text = None,
    columns: options.Columns = None,
    types: options.Types = None,
    refine: Annotated[bool, typer.Option("--refine", help="Also compare the refined model (texts only).")] = False,
    weight: options.Weight = None,
    groups: options.Groups = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Train candidate models on a source and compare their leave-one-out metrics. No file is written."""
    from .options import names_of, types_of
    from .reading import say_bad_rows

    session = shared.session
    roles: dict[str, Any] = {
        "label": label,
        "text": text,
        "columns": names_of(columns),
        "weight": weight,
        "groups": groups,
    }
    declared = types_of(types)
    with reading.opened(sources, shared.threads, schema=declared, **roles) as source:
        assert source.roles is not None
        found = _compared(source, candidates(source.roles.text is not None, refine, declared), session)
        say_bad_rows(source, session)
    best_first = dict(sorted(found.items(), key=lambda item: item[1]["log_loss"]))
    session.answer(best_first, _as_table(best_first))


def candidates(of_texts: bool, refine: bool, types: dict[str, str] | None = None) -> dict[str, Spec]:
    """Return specs by the constructor calls that make them; ``types`` are the declared types of columns."""
    from ..specs.table import TableSpec
    from ..specs.text import TextSpec

    if not of_texts:
        return {
            "NaiveBayes()": TableSpec(schema=types),
            "NaiveBayes(order=0)": TableSpec(schema=types, order=0),
            "NaiveBayes(stacking=None)": TableSpec(schema=types, stacking=None),
            "NaiveBayes({'numbers': 'gaussian'}, stacking=None)": TableSpec(
                columns={"numbers": "gaussian"}, schema=types, stacking=None
            ),
        }
    plain: dict[str, Any] = {"alpha": "loo", "calibrate": "temperature"}
    found: dict[str, Spec] = {"TextNB()": TextSpec()}
    if refine:
        found["TextNB(refine=True)"] = TextSpec(refine=True)
    for name in ("multinomial", "complement", "bernoulli"):
        found[f"TextNB({name!r})"] = TextSpec(family=name, **plain)
    return found | {"TextNB('multinomial', ngrams=2)": TextSpec(family="multinomial", ngrams=2, **plain)}


def _compared(source: Source, specs: dict[str, Spec], session: Session) -> dict[str, dict[str, float]]:
    """Return the figures of the models that can be trained on a source; an error if none can."""
    from ..model.train import train
    from .monitor import monitored

    found: dict[str, dict[str, float]] = {}
    for name, spec in specs.items():
        began = time.perf_counter()
        try:
            with monitored(source, f"training {name}", session) as monitor:
                monitor.tells_unlabeled = not found
                report = train(spec, source, monitor=monitor).loo
        except CandideError as error:
            session.note(f"{name}: {error}")
        else:
            found[name] = {**_figures(report), "seconds": time.perf_counter() - began}
    if not found:
        raise InputError("none of the models could be trained on this source; see the errors above")
    return found


def _figures(report: Evaluation) -> dict[str, float]:
    names = ("log_loss", "log_loss_error", "accuracy", "accuracy_error", "brier", "ece")
    return {name: getattr(report, name) for name in names}


def _as_table(figures: dict[str, dict[str, float]]) -> Any:
    from .tables import Column, TerminalTable

    heads = ("log-loss", "accuracy", "Brier", "ECE", "seconds")
    optional = ("Brier", "ECE", "seconds")
    columns = [Column(head, True, optional=head in optional) for head in heads]
    table = TerminalTable("Leave-one-out results, best log-loss first", [Column("model"), *columns])
    for name, one in figures.items():
        table.add_row(
            name,
            f"{one['log_loss']:.4f} ± {one['log_loss_error']:.4f}",
            f"{one['accuracy']:.4f} ± {one['accuracy_error']:.4f}",
            f"{one['brier']:.4f}",
            f"{one['ece']:.4f}",
            f"{one['seconds']:.2f}",
        )
    table.note = "NaiveBayes(stacking=None) is plain naive Bayes, calibrated; ECE: expected calibration error"
    return table
