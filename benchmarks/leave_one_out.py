"""What exact leave-one-out costs: ``python -m benchmarks.leave_one_out``.

Against ``predict_log_proba`` of the same model on the same rows (it may cost twice as much at ten classes, four times
at two, and four times for complements), against scikit-learn's refits, and as the rows grow. All sides run interleaved;
medians. ``--save`` keeps the tables in ``benchmarks/LEAVE_ONE_OUT.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_digits
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import candide

from . import data
from .estimators import seconds

RESULTS = Path(__file__).with_name("LEAVE_ONE_OUT.md")


class Case(NamedTuple):
    """A model, its rows, and how many times the cost of scoring it may take."""

    name: str
    model: Any
    X: Any
    y: Any
    most: float

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y))


def cases(scale: float, n_threads: int) -> Iterator[Case]:
    """All families and estimates, at ten classes and at two."""
    measured, y = data.measurements(scale / 10)
    coded, _ = data.codes(scale / 10)
    words, topic = data.words(scale / 4)
    kinds: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("GaussianNB", measured, y, {}),
        ("GaussianNB", measured, y, {"estimate": "map"}),
        ("GaussianNB", measured, y, {"estimate": "predictive"}),
        ("GaussianNB", measured, y, {"variance": "shared"}),
        ("BernoulliNB", measured, y, {}),
        ("CategoricalNB", coded, y, {}),
        ("PoissonNB", coded.astype(np.float64), y, {}),
        ("PoissonNB", coded.astype(np.float64), y, {"estimate": "predictive"}),
        ("MultinomialNB", coded.astype(np.float64), y, {}),
        ("MultinomialNB", words, topic % 10, {}),
        ("MultinomialNB", words, topic % 10, {"estimate": "predictive"}),
        ("BernoulliNB", words, topic % 10, {}),
        ("ComplementNB", words, topic % 10, {}),
    ]
    for name, X, labels, settings in kinds:
        for n_classes in (10, 2):
            model = getattr(candide, name)(n_threads=n_threads, **settings)
            most = 4.0 if name == "ComplementNB" or n_classes == 2 else 2.0
            how = ", ".join(map(str, settings.values()))
            shape = "sparse" if hasattr(X, "indptr") else "dense"
            yield Case(f"{name} {shape}{', ' if how else ''}{how}", model, X, labels % n_classes, most)


def medians(rounds: int, **runs: Callable[[], Any]) -> dict[str, float]:
    """Median seconds of each, interleaved."""
    for run in runs.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            taken[name].append(seconds(run, 1))
    return {name: statistics.median(times) for name, times in taken.items()}


def against_scoring(scale: float, rounds: int, n_threads: int) -> Iterator[str]:
    yield "| model | rows × columns | classes | predict_log_proba ms | leave_one_out ms | ratio | at most |"
    yield "|---|---|---|---|---|---|---|"
    for case in cases(scale, n_threads):
        case.model.fit(case.X, case.y)
        result = medians(
            rounds,
            score=lambda case=case: case.model.predict_log_proba(case.X),
            left_out=lambda case=case: case.model.leave_one_out(case.X, case.y),
        )
        ratio = result["left_out"] / result["score"]
        verdict = "" if ratio <= case.most else " (above)"
        size = f"{case.X.shape[0]:,} × {case.X.shape[1]:,}"
        yield (
            f"| {case.name} | {size} | {case.n_classes} | {result['score'] * 1e3:.1f} | {result['left_out'] * 1e3:.1f} "
            f"| {ratio:.2f}×{verdict} | {case.most:g}× |"
        )


def against_refits(scale: float, rounds: int, n_threads: int) -> Iterator[str]:
    X, y = load_digits(return_X_y=True)
    few = max(200, int(scale * len(y)))
    X, y = X[:few], y[:few]
    yield f"| model, digits ({len(y):,} × 64) | fit and leave_one_out ms | scikit-learn, n refits | 10 folds | ratios |"
    yield "|---|---|---|---|---|"
    for name in ("GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB"):
        mine, other = getattr(candide, name)(n_threads=n_threads).fit(X, y), getattr(theirs, name)()
        fast = medians(
            rounds,
            ours=lambda mine=mine: mine.fit(X, y).leave_one_out(X, y),
            folds=lambda other=other: cross_val_predict(other, X, y, cv=10, method="predict_log_proba"),
        )
        refits = seconds(
            lambda other=other: cross_val_predict(other, X, y, cv=LeaveOneOut(), method="predict_log_proba"), 1
        )
        yield (
            f"| {name} | {fast['ours'] * 1e3:.2f} | {refits * 1e3:,.0f} ms | {fast['folds'] * 1e3:.1f} ms "
            f"| {refits / fast['ours']:,.0f}×, {fast['folds'] / fast['ours']:.0f}× |"
        )


def as_rows_grow(scale: float, rounds: int, n_threads: int) -> Iterator[str]:
    yield "| GaussianNB, 40 columns, 10 classes | leave_one_out ms | µs per row |"
    yield "|---|---|---|"
    for n_rows in (int(scale * n) for n in (10_000, 20_000, 40_000, 80_000, 160_000, 320_000)):
        X, y = data.measurements(n_rows / data.DENSE_SHAPE[0])
        model = candide.GaussianNB(n_threads=n_threads).fit(X, y)
        taken = medians(rounds, ours=lambda model=model, X=X, y=y: model.leave_one_out(X, y))["ours"]
        yield f"| {n_rows:,} rows | {taken * 1e3:.1f} | {taken / n_rows * 1e6:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="of which the median is shown (7)")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the full sizes (1); ratios mean little below"
    )
    parser.add_argument("--threads", type=int, default=2, help="of candide (2)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = [
        "# Exact leave-one-out",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}, {arguments.threads} threads of {os.cpu_count()} cores, median of "
        f"{arguments.rounds} interleaved rounds. Command: `python -m benchmarks.leave_one_out --save`.",
    ]
    print("\n".join(lines))
    for title, part in (
        ("Compared with scoring the same rows", against_scoring(arguments.scale, arguments.rounds, arguments.threads)),
        ("Compared with refits", against_refits(arguments.scale, arguments.rounds, arguments.threads)),
        ("Growth with the number of rows", as_rows_grow(arguments.scale, arguments.rounds, arguments.threads)),
    ):
        lines += ["", f"## {title}", ""]
        print("\n".join(lines[-3:]))
        for line in part:
            print(line, flush=True)
            lines.append(line)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
