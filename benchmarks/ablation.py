"""What each part of NaiveBayes is worth: ``python -m benchmarks.ablation --data FOLDER``.

From Gaussian columns to the default, one switch a line, by the halves of ``benchmarks.quality``: error, log-loss,
calibration error and time of fits, and Wilcoxon's test of the log-losses against the line it builds on. ``--save``
keeps the table in ``benchmarks/ABLATION.md``.

The weights of columns are fitted on scores of rows left out in closed form. To show what that is worth, the same
convex problem is also solved here from outside, one model a column: on scores left out in closed form, on scores of
the rows that the models learned from, and on scores of five folds with refits.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.stats import wilcoxon

import candide
from candide.model.evaluation import Evaluation

from . import peers
from .halves import Table, hold_out, tables
from .weights import SCORES, Weighted

RESULTS = Path(__file__).with_name("ABLATION.md")
PLAIN = {"stacking": None, "calibrate": None, "order": 0}


class Step(NamedTuple):
    """A line of the table, and the line it is compared with."""

    name: str
    label: str
    before: str | None
    make: Callable[[Any], Any]


def one_family(family: str) -> Callable[[Any], Any]:
    """All columns of numbers by one family, texts as categories."""

    def make(frame: Any) -> Any:
        numbers, texts = peers.numbers_and_texts(frame)
        columns = dict.fromkeys(numbers, family) | dict.fromkeys(texts, "categorical")
        return candide.NaiveBayes(columns, **PLAIN)

    return make


def settings(**given: Any) -> Callable[[Any], Any]:
    return lambda frame: candide.NaiveBayes(**given)


def weights(scores: str) -> Callable[[Any], Any]:
    return lambda frame: Weighted(settings(**PLAIN, compute_loo=False), SCORES[scores])


STEPS = (
    Step("T0", "scikit-learn's GaussianNB, texts one-hot", None, peers.gaussian),
    Step("T1", "Student-t columns, texts as categories", "T0", one_family("student")),
    Step("T2", "ten bins of equal frequency", "T1", one_family("bins")),
    Step("T3", "kernel densities", "T2", one_family("kernel")),
    Step("T4", "family of each column by leave-one-out", "T3", settings(**PLAIN)),
    Step("T5", "+ temperature by leave-one-out", "T4", settings(**PLAIN | {"calibrate": "temperature"})),
    Step("T6", "+ weights of columns by leave-one-out", "T5", settings(order=0)),
    Step("T6*", "the same weights found from outside, scores left out", "T6", weights("left out")),
    Step("T6′", "… scores of the rows learned from", "T6*", weights("seen")),
    Step("T6″", "… scores of five folds, with refits", "T6*", weights("folds")),
    Step("T7", "T6 + one-dependence and covariances", "T6", settings(order=1)),
    Step("T8", "+ two-dependence and waves: the default", "T7", settings()),
)


class Result(NamedTuple):
    error: float
    log_loss: float
    ece: float
    seconds: float


def measure(table: Table, step: Step, seed: int) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, about classes with few rows in a fold
        held = hold_out(table, step.make, seed)
    position = np.searchsorted(table.classes, table.labels)
    report = Evaluation.of(np.log(held.probability), position, np.ones(len(position)), table.classes)
    return Result(1 - report.accuracy, report.log_loss, report.ece, held.fit_seconds / 2)


def line(step: Step, results: dict[str, Any]) -> str:
    error, log_loss, ece, seconds = results[step.name].mean(axis=0)
    return (
        f"| {step.name} | {step.label} | {error:.4f} | {log_loss:.4f} | {ece:.4f} | {seconds * 1e3:.0f} "
        f"| {compared(step, results)} |"
    )


def compared(step: Step, results: dict[str, Any]) -> str:
    """Sets on which the log-loss fell and rose, and the test of it."""
    if step.before not in results:
        return ""
    gain = (results[step.before] - results[step.name])[:, Result._fields.index("log_loss")]
    p = wilcoxon(gain).pvalue if np.any(gain) else 1.0
    return f"{step.before}: {(gain > 0).sum()} better, {(gain < 0).sum()} worse, p = {p:.2g}"


def table_of_steps(arguments: argparse.Namespace) -> Iterator[str]:
    sets = list(tables(arguments.data, arguments.rows, arguments.only))
    yield f"| | means of {len(sets)} sets | error | log-loss | ECE | fit ms | log-loss against |"
    yield "|---|---|---|---|---|---|---|"
    results: dict[str, Any] = {}
    for step in STEPS:
        if arguments.steps is None or step.name in arguments.steps:
            results[step.name] = np.array([measure(table, step, arguments.seed) for table in sets])
            yield line(step, results)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of Parquet files with a column 'label'; else scikit-learn's own sets")
    parser.add_argument("--rows", type=int, default=4_000, help="most rows of a set (4000)")
    parser.add_argument("--seed", type=int, default=1, help="of the halves (1)")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    parser.add_argument("--steps", nargs="+", choices=[step.name for step in STEPS], help="lines to make (all)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = [
        "# Ablation: the contribution of each part",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, OMP_NUM_THREADS="
        f"{os.environ.get('OMP_NUM_THREADS', 'all')}. Two-fold stratified cross-validation; at most "
        f"{arguments.rows:,} rows per dataset, seed {arguments.seed}. Command: `python -m benchmarks.ablation --data "
        "FOLDER "
        f"--rows {arguments.rows} --seed {arguments.seed} --save`.",
        "",
    ]
    print("\n".join(lines))
    for text in table_of_steps(arguments):
        print(text, flush=True)
        lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
