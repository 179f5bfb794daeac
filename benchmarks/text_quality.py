"""Accuracy, log-loss, calibration and time on texts: ``python -m benchmarks.quality --data FOLDER`` of texts.

Results are added to the file given by ``--cache``, and a run takes from there what it holds; ``--save`` keeps the
tables in ``benchmarks/TEXT_QUALITY.md``.
"""

from __future__ import annotations

import csv
import platform
import warnings
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import candide

from .markdown import heading, line
from .text_sets import METHODS, TextSet, judge, text_sets

RESULTS = Path(__file__).with_name("TEXT_QUALITY.md")
FIELDS = ("accuracy", "log_loss", "calibration_error", "fit_seconds", "predict_seconds", "ranking_error")

Scores = dict[str, list[float]]  # of each method that was measured on a set


def measure(data: TextSet, method: str) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of regressions that have not ended
        found = judge(data, METHODS[method].make)
    return [round(getattr(found, field), 5) for field in FIELDS]


def read(path: Path | None, fresh: list[str]) -> dict[tuple[str, str], list[float]]:
    if path is None or not path.exists():
        return {}
    with path.open(newline="") as lines:
        rows = [row for row in csv.reader(lines) if row[1] not in fresh and len(row) == 2 + len(FIELDS)]
    return {(row[0], row[1]): [float(cell) for cell in row[2:]] for row in rows}


def collect(arguments: Any, methods: list[str]) -> Iterator[tuple[TextSet, Scores]]:
    path = None if arguments.cache is None else Path(arguments.cache)
    known, most_rows = read(path, arguments.fresh), dict(arguments.most_rows)
    for data in text_sets(arguments.data, arguments.only, arguments.folds):
        if data.name in arguments.without:
            continue
        taken = [method for method in methods if len(data.texts) <= most_rows.get(method, len(data.texts))]
        for method in taken:
            key = data.name, method
            if key not in known:
                known[key] = measure(data, method)
                print(*key, *known[key], sep=",", flush=True)
                if path is not None:
                    with path.open("a", newline="") as lines:
                        csv.writer(lines).writerow([*key, *known[key]])
        yield data, {method: known[data.name, method] for method in taken}


def lines_of(results: list[tuple[TextSet, Scores]], methods: list[str]) -> list[str]:
    return [*means(results, methods), *per_set(results, methods), *rankings(results, methods)]


def means(results: list[tuple[TextSet, Scores]], methods: list[str]) -> Iterator[str]:
    """Of the sets that no method was left out on."""
    whole = [scores for _, scores in results if len(scores) == len(methods)]
    yield from heading(f"means of {len(whole)} sets", ["accuracy", "log-loss", "ECE", "fit s", "predict s"])
    for method in methods if whole else ():
        a, loss, ece, fit, use = np.mean([scores[method][:5] for scores in whole], axis=0)
        yield line(METHODS[method].label, [f"{a:.4f}", f"{loss:.4f}", f"{ece:.4f}", f"{fit:.2f}", f"{use:.2f}"])


def per_set(results: list[tuple[TextSet, Scores]], methods: list[str]) -> Iterator[str]:
    labels = [METHODS[method].label for method in methods]
    yield from heading("set (texts, MB, classes): accuracy / log-loss / ECE / fit s", labels)
    for data, scores in results:
        best = min((score[1] for score in scores.values()), default=0.0)
        cells = [cell(scores[method], best) if method in scores else "" for method in methods]
        name = f"{data.name} ({len(data.texts):,}, {data.megabytes:.1f}, {len(data.classes)})"
        yield line(name, cells)


def cell(score: list[float], best: float) -> str:
    a, loss, ece, fit, *_ = score
    return f"{a:.4f} / {f'**{loss:.3f}**' if loss == best else f'{loss:.3f}'} / {ece:.3f} / {fit:.2f}"


def rankings(results: list[tuple[TextSet, Scores]], methods: list[str]) -> Iterator[str]:
    """What the world of spam filters reports."""
    yield from heading("two classes: 1 − AUC, in %", [METHODS[method].label for method in methods])
    for data, scores in results:
        if len(data.classes) == 2:
            cells = [f"{100 * scores[method][5]:.3f}" if method in scores else "" for method in methods]
            yield line(data.name, cells)


def main(arguments: Any) -> None:
    """The tables, printed and, if asked, kept."""
    asked = [name for name in METHODS if name in arguments.methods] or list(METHODS)
    methods = [name for name in asked if METHODS[name].is_there()]
    for name in asked:
        if name not in methods:
            print(f"{METHODS[name].label} is not installed and left out")
    results = list(collect(arguments, methods))
    lines = [
        "# Accuracy on text",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}. Train and test parts as published, otherwise {arguments.folds}-fold "
        "stratified cross-validation. Seconds of all fits, each the median of seven runs if it takes less than two "
        "seconds. Command: "
        "`python -m benchmarks.quality --data FOLDER --save`.",
        *lines_of(results, methods),
    ]
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")
