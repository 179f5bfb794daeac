"""``candide compare``: several models side by side."""

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
    refine: Annotated[bool, typer.Option("--refine", help="Texts: the refined model too.")] = False,
    weight: options.Weight = None,
    *,
    reading: options.Reading,
    shared: options.Shared,
) -> None:
    """Train candidate models on a source in one pass, and compare them on rows left out. Writes nothing."""
    from .reading import say_bad_rows
    from .wishes import names_of

    session = shared.session
    source = reading.source(sources, label=label, text=text, columns=names_of(columns), weight=weight)
    field = Field(candidates(source.roles.text is not None, refine), session)
    field.learn(source)
    say_bad_rows(source, session)
    reports = field.reports()
    best_first = sorted(reports, key=lambda name: reports[name].log_loss)
    machine = {name: {**_figures(reports[name]), "seconds": field.seconds[name]} for name in best_first}
    session.answer(machine, _as_picture(machine))


def candidates(of_texts: bool, refine: bool) -> dict[str, Spec]:
    """Models by what people call them."""
    from ..specs.table import TableSpec
    from ..specs.text import TextSpec

    if not of_texts:
        return {
            "NaiveBayes()": TableSpec(),
            "NaiveBayes(order=0), columns weighed, no pairs": TableSpec(order=0),
            "NaiveBayes(stacking=None), plain naive Bayes": TableSpec(stacking=None),
            "NaiveBayes({'numbers': 'gaussian'}, stacking=None)": TableSpec(
                columns={"numbers": "gaussian"}, stacking=None
            ),
        }
    plain: dict[str, Any] = {"alpha": "loo", "calibrate": "temperature"}
    found: dict[str, Spec] = {"TextNB()": TextSpec()}
    if refine:
        found["TextNB(refine=True)"] = TextSpec(refine=True)
    for name in ("multinomial", "complement", "bernoulli"):
        found[f"TextNB({name!r})"] = TextSpec(family=name, **plain)
    return found | {"TextNB('multinomial', ngrams=2)": TextSpec(family="multinomial", ngrams=2, **plain)}


class Field:
    """Models that learn the same rows."""

    def __init__(self, specs: dict[str, Spec], session: Session) -> None:
        from ..training import StreamTrainer

        self.trainers = {name: StreamTrainer(spec) for name, spec in specs.items()}
        self.session = session
        self.seconds = dict.fromkeys(specs, 0.0)

    def learn(self, source: Any) -> None:
        """One pass for all of them."""
        from ..data.arrow_batches import labelled_cells, needed
        from .progress import watched
        from .reading import say_unlabeled

        with watched(source, "learning", self.session) as passed:
            for batch in source.batches(columns=needed(source.roles)):
                rows = labelled_cells(batch, source.roles)
                for name, trainer in self.trainers.items() if rows.n_rows else ():
                    began = time.perf_counter()
                    trainer.learn(rows.X, rows.y, rows.weight)
                    self.seconds[name] += time.perf_counter() - began
                passed.is_unlabeled += batch.num_rows - rows.n_rows
                passed.advance(batch.num_rows)
        say_unlabeled(passed, self.session)
        for trainer in self.trainers.values():
            if trainer.model is not None:
                trainer.flush()

    def reports(self) -> dict[str, Evaluation]:
        """Of those that could learn; an error where none could."""
        found: dict[str, Evaluation] = {}
        for name, trainer in self.trainers.items():
            began = time.perf_counter()
            with self.session.status(f"weighing {name}"):
                try:
                    found[name] = trainer.finish().loo
                except CandideError as error:
                    self.session.remark(f"{name}: {error}")
            self.seconds[name] += time.perf_counter() - began
        if not found:
            raise InputError("none of the models could learn from this source; see what they said above")
        return found


def _figures(report: Evaluation) -> dict[str, float]:
    names = ("log_loss", "log_loss_error", "accuracy", "accuracy_error", "brier", "ece")
    return {name: getattr(report, name) for name in names}


def _as_picture(figures: dict[str, dict[str, float]]) -> Any:
    from .pictures import picture

    right = ("log-loss", "accuracy", "Brier", "calibration error", "seconds")
    table = picture("models on rows left out, the best first", "model", *right, right=right)
    for name, one in figures.items():
        table.add_row(
            name,
            f"{one['log_loss']:.4f} ± {one['log_loss_error']:.4f}",
            f"{one['accuracy']:.4f} ± {one['accuracy_error']:.4f}",
            f"{one['brier']:.4f}",
            f"{one['ece']:.4f}",
            f"{one['seconds']:.2f}",
        )
    return table
