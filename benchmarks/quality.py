"""Accuracy, log-loss and time on tables or texts, against others: ``python -m benchmarks.quality --data FOLDER``.

Two stratified halves of each set, each predicting the other; no setting depends on the set. Khiops takes part where
it is installed. Results are added to the file given by ``--cache``, and a run takes from there what it holds.
Run with OMP_NUM_THREADS=1. ``--save`` keeps the tables in ``benchmarks/QUALITY.md``. For a folder of texts see
``text_quality.py``.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import warnings
from collections.abc import Iterator
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import sklearn
from scipy.stats import rankdata, wilcoxon

import candide

from . import text_quality, text_sets
from .halves import Table, hold_out, tables
from .markdown import heading, line
from .peers import METHODS
from .text_sets import is_folder_of_texts

ALL = list(dict.fromkeys([*METHODS, *text_sets.METHODS]))
RESULTS = Path(__file__).with_name("QUALITY.md")
OURS = "candide"
# Differences that no reader would see count as a tie.
TIE = 5e-4

NOTES = (
    "Seconds are for two fits and two predictions. Khiops runs as one process without Open MPI: with its default "
    "installation, each start of its programs waited for a second, which added about seven seconds per dataset.",
    "",
    "Boosting is scikit-learn's HistGradientBoosting. *Stopped early*: native categories, small steps, early stopping. "
    "*Tuned by cross-validation*: also L2 regularization, a third of the columns at each split, and the number of "
    "steps chosen by three-fold cross-validation. These settings were chosen among eighteen on other halves (seed 7) "
    "of glass, german_credit, segment and soybean, which are also in this table; this favors boosting.",
)


class Score(NamedTuple):
    """One line of the cache."""

    set: str
    method: str
    rows: int
    columns: int
    classes: int
    accuracy: float
    log_loss: float
    seconds: float
    seed: int


class Cache:
    """Scores by set, method, rows and seed, in a file of comma-separated lines, the last of equal keys being valid.

    ``kind`` is the type of the scores: a named tuple of texts, integers and floats.
    """

    def __init__(self, path: str | None, fresh: list[str], kind: Any = Score) -> None:
        self.path = None if path is None else Path(path)
        self.kind = kind
        self.scores = {self.key(score): score for score in self.read() if score.method not in fresh}

    def read(self) -> Iterator[Any]:
        if self.path is not None and self.path.exists():
            types = get_type_hints(self.kind)
            with self.path.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    yield self.kind(**{name: type_(row[name]) for name, type_ in types.items()})

    @staticmethod
    def key(score: Any) -> tuple[Any, ...]:
        return score.set, score.method, score.rows, score.seed

    def add(self, score: Any) -> None:
        self.scores[self.key(score)] = score
        if self.path is not None:
            new = not self.path.exists()
            with self.path.open("a", newline="") as lines:
                csv.writer(lines).writerows([self.kind._fields, score] if new else [score])


def measure(table: Table, method: str, seed: int) -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn's narrow bins and unfinished regressions
        held = hold_out(table, METHODS[method].make, seed)
    position = np.searchsorted(table.classes, table.labels)
    own = held.probability[np.arange(len(position)), position]
    return Score(
        table.name, method, *table.frame.shape, len(table.classes),
        accuracy=round(float(np.mean(held.probability.argmax(axis=1) == position)), 6),
        log_loss=round(float(-np.log(own).mean()), 6), seconds=round(held.seconds, 3), seed=seed,
    )  # fmt: skip


def best_in_bold(values: Any, digits: int) -> list[str]:
    texts = [f"{value:.{digits}f}" for value in values]
    return [f"**{text}**" if text == min(texts, key=float) else text for text in texts]


def per_set(scores: list[list[Score]]) -> Iterator[str]:
    """Log-loss, accuracy and seconds, a line a set."""
    for row in scores:
        name = f"{row[0].set} ({row[0].rows:,} × {row[0].columns}, {row[0].classes})"
        loss = best_in_bold([score.log_loss for score in row], 3)
        rest = [f"{score.accuracy:.3f} / {score.seconds:.2f}" for score in row]
        yield line(name, [f"{a} / {b}" for a, b in zip(loss, rest, strict=True)])


def averages(methods: list[str], scores: list[list[Score]]) -> Iterator[str]:
    """Means over sets, mean ranks, and candide against each: won, tied and lost sets, and Wilcoxon's test."""
    loss = np.array([[score.log_loss for score in row] for row in scores])
    accuracy = np.array([[score.accuracy for score in row] for row in scores])
    seconds = np.array([[score.seconds for score in row] for row in scores])
    rank_loss, rank_accuracy = (rankdata(values, axis=1).mean(axis=0) for values in (loss, -accuracy))
    for j, method in enumerate(methods):
        cells = [
            f"{loss[:, j].mean():.3f}", f"{accuracy[:, j].mean():.3f}", f"{seconds[:, j].mean():.2f}",
            f"{seconds[:, j].max():.2f}", f"{rank_loss[j]:.2f}", f"{rank_accuracy[j]:.2f}",
        ]  # fmt: skip
        ours = methods.index(OURS) if OURS in methods else j
        cells += [against(values[:, j] - values[:, ours]) if ours != j else "" for values in (loss, -accuracy)]
        yield line(METHODS[method].label, cells)


def against(lead: Any) -> str:
    """Sets won, tied and lost, and the probability of so one-sided a result between equals."""
    won, lost = int((lead > TIE).sum()), int((lead < -TIE).sum())
    p = wilcoxon(lead).pvalue if np.any(lead) else 1.0
    return f"{won}–{len(lead) - won - lost}–{lost}, p = {p:.2g}"


def introduction(arguments: argparse.Namespace) -> list[str]:
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return [
        "# Accuracy on tables",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, Khiops "
        f"{khiops_version()}, NumPy {np.__version__}, Python {platform.python_version()}, OMP_NUM_THREADS={threads}. "
        f"Two-fold stratified cross-validation; at most {arguments.rows:,} rows per dataset, seed "
        f"{arguments.seed}. Command: `python -m benchmarks.quality --data FOLDER --rows {arguments.rows} --seed "
        f"{arguments.seed} --save`.",
        "",
        *NOTES,
    ]


def khiops_version() -> str:
    try:
        return version("khiops")
    except PackageNotFoundError:
        return "not installed"


def collect(arguments: argparse.Namespace, methods: list[str]) -> Iterator[list[Score]]:
    """Scores of all methods on one set after the other."""
    cache = Cache(arguments.cache, arguments.fresh)
    for table in tables(arguments.data, arguments.rows, arguments.only):
        for method in methods:
            key = (table.name, method, len(table.frame), arguments.seed)
            if key not in cache.scores:
                cache.add(measure(table, method, arguments.seed))
                print(*cache.scores[key], sep=",", flush=True)
        yield [cache.scores[table.name, method, len(table.frame), arguments.seed] for method in methods]


def limit(text: str) -> tuple[str, int]:
    """A method and the most rows that it is given."""
    method, _, rows = text.partition("=")
    if method not in ALL or not rows.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not METHOD=N, with METHOD one of {', '.join(ALL)}")
    return method, int(rows)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of Parquet files with a column 'label'; else scikit-learn's own sets")
    parser.add_argument("--rows", type=int, default=4_000, help="most rows of a set (4000)")
    parser.add_argument("--seed", type=int, default=1, help="of the halves (1)")
    parser.add_argument("--methods", nargs="+", default=ALL, choices=ALL, metavar="METHOD",
                        help=f"of {', '.join(METHODS)} (all that are installed)")  # fmt: skip
    parser.add_argument("--only", default="", help="sets whose name contains this")
    parser.add_argument("--without", nargs="+", default=[], metavar="SET", help="sets of texts to leave out")
    parser.add_argument("--folds", type=int, default=2, help="of sets of texts without parts of their own (2)")
    parser.add_argument("--most-rows", nargs="+", type=limit, default=[], metavar="METHOD=N",
                        help="leave a method out on sets of more texts, as in logistic=100000")  # fmt: skip
    parser.add_argument("--cache", help="file of results to take up and to continue")
    parser.add_argument("--fresh", nargs="+", default=[], metavar="METHOD", help="methods to measure again")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if is_folder_of_texts(arguments.data):
        text_quality.main(arguments)
        return
    methods = [name for name in arguments.methods if name in METHODS and METHODS[name].prepare()]
    for name in METHODS:
        if name in arguments.methods and name not in methods:
            print(f"{METHODS[name].label} is not installed and left out")
    scores = list(collect(arguments, methods))
    labels = [METHODS[name].label for name in methods]
    columns = ["log-loss", "accuracy", "s", "longest s", "rank by log-loss", "rank by accuracy",
               "log-loss: candide won–tied–lost", "accuracy: won–tied–lost"]  # fmt: skip
    lines = introduction(arguments)
    lines += heading(f"means of {len(scores)} sets", columns) + list(averages(methods, scores))
    lines += heading("set (rows × columns, classes): log-loss / accuracy / s", labels) + list(per_set(scores))
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
