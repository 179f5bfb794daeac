"""Our time, scikit-learn's, the ratio, and how far from the speed of memory: ``python -m benchmarks.estimators``.

Both sides run interleaved in every round; the table shows medians. ``--save`` keeps it in ``benchmarks/RESULTS.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import sklearn
import sklearn.naive_bayes as theirs
from sklearn.datasets import load_iris

import candide

from . import data

RESULTS = Path(__file__).with_name("RESULTS.md")


class Case(NamedTuple):
    """One line of the table. ``floor`` is the ratio that must be reached, ``read`` sums the same memory."""

    name: str
    floor: float
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    read: Callable[[], Any]
    repeat: int = 1


def pair(name: str, n_threads: int) -> tuple[Any, Any]:
    """The same model, ours and theirs."""
    return getattr(candide, name)(n_threads=n_threads), getattr(theirs, name)()


def fit_and_use(
    label: str, name: str, X: Any, y: Any, use: str, floors: tuple[float, float], n_threads: int
) -> Iterator[Case]:
    """Two cases of one model: fit, and one method of prediction."""
    mine, other = pair(name, n_threads)
    stored = X.data if hasattr(X, "indptr") else X

    def read() -> Any:
        total = np.asarray(stored).sum()
        return total + X.indices.sum() if hasattr(X, "indptr") else total

    yield Case(f"{name} {label} fit", floors[0], lambda: mine.fit(X, y), lambda: other.fit(X, y), read)
    yield Case(f"{name} {label} {use}", floors[1], lambda: getattr(mine, use)(X), lambda: getattr(other, use)(X), read)


def large(scale: float, n_threads: int) -> Iterator[Case]:
    """A million dense rows, and four hundred thousand sparse ones."""
    X, y = data.measurements(scale)
    yield from fit_and_use("dense", "GaussianNB", X, y, "predict_proba", (15, 12), n_threads)
    yield from fit_and_use("dense", "BernoulliNB", X, y, "predict", (25, 5), n_threads)
    del X
    X, y = data.codes(scale)
    yield from fit_and_use("dense", "CategoricalNB", X, y, "predict", (25, 10), n_threads)
    del X
    X, y = data.words(scale)
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB"):
        yield from fit_and_use("sparse", name, X, y, "predict", (4, 2.5), n_threads)


def other(scale: float, n_threads: int) -> Iterator[Case]:
    """Data as people have them: frames, vectorized texts, whole numbers. The floor is not to be slower."""
    X, y = data.measurements(scale / 5)
    names = [f"column {j}" for j in range(X.shape[1])]
    for label, frame in (("pandas", pd.DataFrame(X, columns=names)), ("polars", pl.DataFrame(X, schema=names))):
        yield from fit_and_use(label, "GaussianNB", frame, y, "predict", (1, 1), n_threads)
    wide = pd.DataFrame(X.reshape(-1, 2000)[:1000])
    yield from fit_and_use("wide pandas", "GaussianNB", wide, y[: len(wide)], "predict", (1, 1), n_threads)
    yield from fit_and_use(
        "texts as labels", "GaussianNB", X, np.char.add("class ", y.astype(str)), "predict", (1, 1), n_threads
    )
    yield from fit_and_use("dense", "MultinomialNB", np.abs(X), y, "predict", (1, 1), n_threads)
    yield from fit_and_use("float32", "GaussianNB", X.astype(np.float32), y, "predict", (1, 1), n_threads)
    yield from fit_and_use("Fortran", "GaussianNB", np.asfortranarray(X), y, "predict", (1, 1), n_threads)
    del X, wide, frame
    X, y = data.words(scale / 5)
    yield from fit_and_use("unsorted int64", "MultinomialNB", data.unsorted(X), y, "predict", (1, 1), n_threads)
    yield from fit_and_use("unsorted int64", "BernoulliNB", data.unsorted(X), y, "predict", (1, 1), n_threads)
    yield from fit_and_use("two classes, sparse", "MultinomialNB", X, y % 2, "predict", (1, 1), n_threads)


def small(n_threads: int) -> Iterator[Case]:
    """Iris: what every call costs."""
    X, y = load_iris(return_X_y=True)
    for name in ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"):
        rows = X.astype(int) if name == "CategoricalNB" else X
        mine, other = pair(name, n_threads)
        mine.fit(rows, y), other.fit(rows, y)
        for what, part in (("1 row", rows[:1]), ("150 rows", rows)):
            yield Case(
                f"{name} iris predict {what}", 1,
                lambda m=mine, p=part: m.predict(p), lambda o=other, p=part: o.predict(p), rows.sum, 50,
            )  # fmt: skip
        yield Case(
            f"{name} iris fit", 1,
            lambda m=mine, r=rows: m.fit(r, y), lambda o=other, r=rows: o.fit(r, y), rows.sum, 50,
        )  # fmt: skip


def seconds(run: Callable[[], Any], repeat: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - begin) / repeat


def measure(case: Case, rounds: int) -> dict[str, float]:
    """Median seconds of the three, interleaved."""
    runs = {"ours": case.ours, "theirs": case.theirs, "read": case.read}
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run, case.repeat))
    return {name: statistics.median(taken) for name, taken in times.items()}


def line(case: Case, result: dict[str, float]) -> str:
    ratio = result["theirs"] / result["ours"]
    verdict = "" if ratio >= case.floor else " (below)"
    return (
        f"| {case.name} | {result['ours'] * 1e3:.3f} | {result['theirs'] * 1e3:.3f} | {ratio:.1f}×{verdict} "
        f"| {case.floor:g}× | {result['read'] / result['ours']:.0%} |"
    )


def heading(arguments: argparse.Namespace) -> list[str]:
    return [
        "# Estimators against scikit-learn",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}, {arguments.threads} threads of {os.cpu_count()} cores, "
        f"median of {arguments.rounds} interleaved rounds. Command: `python -m benchmarks.estimators --save`.",
        "",
        f"Dense: {int(data.DENSE_SHAPE[0] * arguments.scale):,} × {data.DENSE_SHAPE[1]}, {data.DENSE_CLASSES} classes, "
        f"float64 (CategoricalNB: int64). Sparse: {int(data.SPARSE_SHAPE[0] * arguments.scale):,} × "
        f"{data.SPARSE_SHAPE[1]:,}, about 71 stored cells per row, {data.SPARSE_CLASSES} classes. The last column is "
        "the time one thread needs to sum the same memory, as a share of the time of candide. The last block has a "
        "fifth of the rows.",
        "",
        "| case | candide ms | scikit-learn ms | ratio | floor | share of memory speed |",
        "|---|---|---|---|---|---|",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of rows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="run cases whose name contains this")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = heading(arguments)
    print("\n".join(lines))
    groups = (
        small(arguments.threads),
        large(arguments.scale, arguments.threads),
        other(arguments.scale, arguments.threads),
    )
    for cases in groups:
        for case in cases:
            if arguments.only not in case.name:
                if case.name.endswith(" fit"):
                    case.ours(), case.theirs()  # the next case predicts
                continue
            lines.append(line(case, measure(case, arguments.rounds)))
            print(lines[-1], flush=True)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
