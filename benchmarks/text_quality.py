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

from .text_sets import METHODS, TextSet, judge, text_sets

RESULTS = Path(__file__).with_name("TEXT_QUALITY.md")
FIELDS = ("accuracy", "log_loss", "ece", "fit_seconds", "predict_seconds")

Results = dict[tuple[str, str], list[float]]


def measure(data: TextSet, method: str) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of regressions that have not ended
        found = judge(data, METHODS[method].make)
    parts = found.accuracy, found.log_loss, found.calibration_error, found.fit_seconds, found.predict_seconds
    return [round(part, 5) for part in parts]


def read(path: Path | None, fresh: list[str]) -> Results:
    if path is None or not path.exists():
        return {}
    with path.open(newline="") as lines:
        rows = [row for row in csv.reader(lines) if row[1] not in fresh]
    return {(row[0], row[1]): [float(cell) for cell in row[2:]] for row in rows}


def collect(arguments: Any, methods: list[str]) -> Iterator[tuple[TextSet, dict[str, list[float]]]]:
    path = None if arguments.cache is None else Path(arguments.cache)
    known = read(path, arguments.fresh)
    for data in text_sets(arguments.data, None, arguments.only):
        if data.name in arguments.without:
            continue
        for method in methods:
            key = data.name, method
            if key not in known:
                known[key] = measure(data, method)
                print(*key, *known[key], sep=",", flush=True)
                if path is not None:
                    with path.open("a", newline="") as lines:
                        csv.writer(lines).writerow([*key, *known[key]])
        yield data, {method: known[data.name, method] for method in methods}


def lines_of(results: list[tuple[TextSet, dict[str, list[float]]]], methods: list[str]) -> list[str]:
    labels = [METHODS[method].label for method in methods]
    values = np.array([[scores[method] for method in methods] for _, scores in results])  # (sets, methods, fields)
    lines = [
        "",
        f"| means of {len(results)} sets | accuracy | log-loss | ECE | fit s | predict s |",
        "|---|---|---|---|---|---|",
    ]
    for label, row in zip(labels, values.mean(axis=0), strict=True):
        lines.append(f"| {label} | {row[0]:.4f} | {row[1]:.4f} | {row[2]:.4f} | {row[3]:.2f} | {row[4]:.2f} |")
    lines += ["", f"| set (texts, MB, classes): accuracy / log-loss / ECE / fit s | {' | '.join(labels)} |"]
    lines.append(f"|---|{'---|' * len(labels)}")
    for (data, _), row in zip(results, values, strict=True):
        name = f"{data.name} ({len(data.texts):,}, {data.megabytes:.1f}, {len(data.classes)})"
        best = row[:, 1].min()
        cells = [
            f"{a:.4f} / {f'**{loss:.3f}**' if loss == best else f'{loss:.3f}'} / {ece:.3f} / {fit:.2f}"
            for a, loss, ece, fit, _ in row
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main(arguments: Any) -> None:
    """The tables, printed and, if asked, kept."""
    asked = [name for name in METHODS if name in arguments.methods] or list(METHODS)
    methods = [name for name in asked if METHODS[name].is_there()]
    for name in asked:
        if name not in methods:
            print(f"{METHODS[name].label} is not installed and left out")
    results = list(collect(arguments, methods))
    lines = [
        "# Quality on texts",
        "",
        f"{date.today()}, candide {candide.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"Python {platform.python_version()}. Parts as the sets have them, else two stratified halves that predict "
        "each other. Made by `python -m benchmarks.quality --data FOLDER --save`.",
        *lines_of(results, methods),
    ]
    print("\n".join(lines))
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")
