"""NaiveBayes on a large frame of mixed columns: time, how it grows, memory: ``python -m benchmarks.tables``.

Against scikit-learn's quantile bins and CategoricalNB, and against Khiops where it is installed, on an eighth of the
rows. Memory is the kernel's high-water mark (Linux). ``--save`` keeps the tables in ``benchmarks/TABLES.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn

import candide

from . import data, peers
from .memory import MB, peak_of

RESULTS = Path(__file__).with_name("TABLES.md")
N_ROWS, N_PREDICTED = 1_000_000, 100_000
N_WARM = 2_000


class Times(NamedTuple):
    """Median seconds."""

    fit: float
    predict: float


def measure(make: Callable[[], Any], X: Any, y: Any, n_predicted: int, rounds: int) -> Times:
    """Fit on all rows, and ``predict_proba`` of the first ones."""
    make().fit(X[:N_WARM], y[:N_WARM]).predict_proba(X[:N_WARM])  # loads libraries and pages
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        model = make().fit(X, y)
        fitted = time.perf_counter()
        model.predict_proba(X[:n_predicted])
        taken.append((fitted - begin, time.perf_counter() - fitted))
    return Times(*map(statistics.median, zip(*taken, strict=True)))


def ours(n_threads: int) -> Callable[[], Any]:
    return lambda: candide.NaiveBayes(n_threads=n_threads)


def as_numbers(X: Any) -> Any:
    """The frame with booleans as 0 and 1, which the imputers of scikit-learn want."""
    return X.astype({name: np.uint8 for name in X if pd.api.types.is_bool_dtype(X[name])})


def against_others(arguments: argparse.Namespace) -> Iterator[str]:
    yield "| | rows | fit s | µs per row | predict_proba s | rows predicted | µs per row |"
    yield "|---|---|---|---|---|---|---|"
    n_rows, few = int(N_ROWS * arguments.scale), int(N_ROWS * arguments.scale / 8)
    X, y = data.mixed(n_rows)
    n_predicted = int(N_PREDICTED * arguments.scale)
    numbers = as_numbers(X)
    makers = {name: lambda name=name: peers.METHODS[name].make(numbers) for name in ("sklearn_bins", "khiops")}
    contenders = [("candide", ours(arguments.threads), X, n_rows)]
    contenders += [("scikit-learn, bins", makers["sklearn_bins"], numbers, n_rows)]
    if peers.METHODS["khiops"].prepare():
        contenders += [("candide", ours(arguments.threads), X, few), ("Khiops", makers["khiops"], numbers, few)]
    for label, make, frame, size in contenders:
        predicted = min(n_predicted, size)
        times = measure(make, frame[:size], y[:size], predicted, arguments.rounds)
        yield (
            f"| {label} | {size:,} | {times.fit:.2f} | {times.fit / size * 1e6:.2f} | {times.predict:.2f} "
            f"| {predicted:,} | {times.predict / predicted * 1e6:.2f} |"
        )


def as_rows_grow(arguments: argparse.Namespace) -> Iterator[str]:
    yield "| candide | fit s | µs per row |"
    yield "|---|---|---|"
    for n_rows in (int(N_ROWS * arguments.scale / share) for share in (8, 4, 2, 1)):
        X, y = data.mixed(n_rows)
        times = measure(ours(arguments.threads), X, y, N_WARM, arguments.rounds)
        yield f"| {n_rows:,} rows | {times.fit:.2f} | {times.fit / n_rows * 1e6:.2f} |"


def in_memory(arguments: argparse.Namespace) -> Iterator[str]:
    yield "| candide | frame MB | additional MB at the peak | (frame + additional) / frame |"
    yield "|---|---|---|---|"
    X, y = data.mixed(int(N_ROWS * arguments.scale))
    frame = X.memory_usage(deep=True).sum()
    model = ours(arguments.threads)().fit(X[:N_WARM], y[:N_WARM])
    model.predict_proba(X[:N_WARM])
    part = X[: int(N_PREDICTED * arguments.scale)]
    for name, run in (("fit", lambda: model.fit(X, y)), (f"predict_proba of {len(part):,}", predict(model, part))):
        extra, _ = peak_of(run)
        yield f"| {name} | {frame / MB:.0f} | {extra / MB:.0f} | {1 + extra / frame:.2f}× |"


def predict(model: Any, X: Any) -> Callable[[], Any]:
    return lambda: model.predict_proba(X)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of rows (1)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median is shown (3)")
    parser.add_argument("--threads", type=int, default=2, help="of candide (2)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of scikit-learn's narrow bins
    lines = [
        "# A large table with mixed columns",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, pandas {pd.__version__}, "
        f"Python {platform.python_version()}, {arguments.threads} threads of {os.cpu_count()} cores, median of "
        f"{arguments.rounds}. Command: `python -m benchmarks.tables --save`.",
        "",
        "40 columns: 20 of numbers (normal, log-normal, whole; 5 % missing), 10 of texts with 3 to 50 levels, "
        "5 booleans, 5 counts; two classes. NaiveBayes() with default settings; the other models read booleans as "
        "numbers.",
    ]
    print("\n".join(lines))
    parts = (("Comparison", against_others), ("Growth with the number of rows", as_rows_grow), ("Memory", in_memory))
    for title, part in parts:
        lines += ["", f"## {title}", ""]
        print("\n".join(lines[-3:]))
        for line in part(arguments):
            print(line, flush=True)
            lines.append(line)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
