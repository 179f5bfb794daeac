"""Log-loss and calibration error on held-out rows, raw and calibrated, and the time to get there.

``python -m benchmarks.calibration [folder of data]``: candide calibrates on scores of training rows left out;
scikit-learn's ``CalibratedClassifierCV`` fits five models. Times are of ``fit`` and ``predict_proba``, medians of 3.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
import sklearn.naive_bayes as theirs
from sklearn.calibration import CalibratedClassifierCV

import candide
from candide.model.evaluation import Evaluation
from candide.stacking.calibration import METHODS

from .sets import Split, splits

ROUNDS = 3
RESULTS = Path(__file__).with_name("CALIBRATION.md")
# scikit-learn's isotonic curves give probabilities of 0; as in its own log_loss, they count as the least it knows.
LEAST = np.log(np.finfo(np.float64).eps)


class Result(NamedTuple):
    log_loss: float
    ece: float
    seconds: float


def contenders(split: Split) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and makers of models that are not fitted yet."""
    ours, other = getattr(candide, split.model), getattr(theirs, split.model)
    for method in (None, *METHODS):
        yield f"candide {method or 'raw'}", lambda m=method: ours(**split.settings, calibrate=m)
    yield "sklearn raw", lambda: other(**split.settings)
    for method in ("sigmoid", "isotonic"):
        yield f"sklearn {method}", lambda m=method: CalibratedClassifierCV(other(**split.settings), method=m, cv=5)


def measure(make: Callable[[], Any], split: Split) -> Result:
    times, probability = [], None
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        model = make().fit(split.X, split.y)
        probability = model.predict_proba(split.X_held_out)
        times.append(time.perf_counter() - begin)
    with np.errstate(divide="ignore"):
        log_probability = np.maximum(np.log(probability), LEAST)
    positions = np.searchsorted(model.classes_, split.y_held_out)
    report = Evaluation.of(log_probability, positions, np.ones(len(positions)), model.classes_)
    return Result(report.log_loss, report.ece, statistics.median(times))


def line(name: str, cells: list[Result]) -> str:
    shown = " | ".join(f"{cell.log_loss:.3f} / {cell.ece:.3f} / {cell.seconds * 1e3:.0f}" for cell in cells)
    return f"| {name} | {shown} |"


def means(rows: list[list[Result]]) -> list[Result]:
    """The average of each column."""
    return [Result(*np.mean(column, axis=0).tolist()) for column in zip(*rows, strict=True)]


def table(arguments: argparse.Namespace) -> Iterator[str]:
    """One line a set, then the averages."""
    rows: dict[str, list[list[Result]]] = {}
    for split in splits(arguments.folder, arguments.rows, arguments.seed):
        if arguments.only not in split.name:
            continue
        names, makers = zip(*contenders(split), strict=True)
        if not rows:
            yield f"| log-loss / ECE / ms | {' | '.join(names)} |"
            yield f"|---|{'---|' * len(names)}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with few rows, in scikit-learn's folds
            cells = [measure(make, split) for make in makers]
        rows.setdefault(split.model, []).append(cells)
        yield line(f"{split.name}, {split.model}", cells)
    if not rows:
        raise SystemExit(f"no set has {arguments.only!r} in its name")
    for model, results in rows.items():
        yield line(f"**mean of {len(results)}, {model}**", means(results))
    yield line("**mean of all**", means([cells for results in rows.values() for cells in results]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="of Parquet files, see benchmarks/sets.py; else CANDIDE_DATA")
    parser.add_argument("--rows", type=int, default=20_000, help="most rows of a set (20000)")
    parser.add_argument("--seed", type=int, default=0, help="which third is held out (0)")
    parser.add_argument("--only", default="", help="sets whose name contains this")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    lines = [
        "# Calibration on held-out rows",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, up to {arguments.rows:,} "
        f"rows per dataset, seed {arguments.seed}, times (of fit and predict_proba) medians of {ROUNDS}. Command: "
        "`python -m "
        f"benchmarks.calibration --rows {arguments.rows} --seed {arguments.seed} --save`.",
        "",
    ]
    print("\n".join(lines))
    for text in table(arguments):
        print(text, flush=True)
        lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
