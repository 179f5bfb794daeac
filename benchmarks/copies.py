"""Copies of training rows, and weights: what they do to the log-loss on new rows, and to the one that a model promises.

``python -m benchmarks.copies FOLDER [--other SOURCE]``: FOLDER has ``tabular`` and ``text``, with Parquet files of rows
and their ``label``. Half of the rows are learned, the others predicted; then with 10, 30 and 100 % of the learned rows
copied, with weights of 1 to 5, and with as many copies. SOURCE is the ``src`` of another version of candide: tables of
one to three categorical columns are fitted with it too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import candide

from .halves import LEAST, Table, tables

RESULTS = Path(__file__).with_name("COPIES.md")
TABLES = (
    "adult", "car", "german_credit", "kr_vs_kp", "page_blocks", "pima_diabetes", "segment",
    "spambase", "vehicle", "waveform",
)  # fmt: skip
TEXTS = "ag_news_subset", "sms_spam", "trec_qc"
FEW_COLUMNS = {
    "adult": (["education"], ["marital_status", "relationship"], ["education", "occupation", "sex"]),
    "car": (["safety"], ["safety", "persons"], ["buying", "maint", "safety"]),
    "mushroom": (["odor"], ["odor", "habitat"], ["spore_print_color", "habitat", "gill_color"]),
}
# What is done to the learned rows: copies of a share of them, or weights.
CASES: dict[str, Callable[[int, Any], tuple[Any, Any]]] = {
    "unchanged": lambda n, rng: (np.arange(n), None),
    "10 % copied": lambda n, rng: (_copied(n, 0.1, rng), None),
    "30 % copied": lambda n, rng: (_copied(n, 0.3, rng), None),
    "100 % copied": lambda n, rng: (_copied(n, 1.0, rng), None),
    "weights 1–5": lambda n, rng: (np.arange(n), rng.integers(1, 6, n)),
    "as many copies": lambda n, rng: (np.repeat(np.arange(n), rng.integers(1, 6, n)), None),
}


class Figures(NamedTuple):
    """Of one fit."""

    test: float
    promised: float
    apart: float  # promise less test figure, in standard errors of the difference


def _copied(n_rows: int, share: float, rng: Any) -> Any:
    return np.append(np.arange(n_rows), rng.permutation(n_rows)[: round(share * n_rows)])


def measure(make: Callable[[], Any], X: Any, y: Any, case: str, seed: int) -> Figures:
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
    rows, weight = CASES[case](len(y), np.random.default_rng(seed))
    model = make().fit(X.iloc[rows], y.iloc[rows], sample_weight=weight)
    own = model.predict_proba(X_new)[np.arange(len(y_new)), np.searchsorted(model.classes_, y_new.to_numpy())]
    losses, promised = -np.log(np.maximum(own, LEAST)), model.loo_
    error = np.hypot(losses.std() / np.sqrt(len(losses)), promised.log_loss_error)
    return Figures(float(losses.mean()), promised.log_loss, (promised.log_loss - float(losses.mean())) / error)


def sets(arguments: argparse.Namespace) -> Iterator[tuple[Table, Callable[[], Any]]]:
    folder = Path(arguments.folder)
    for name in TABLES:
        for table in tables(str(folder / "tabular"), arguments.rows, name):
            yield table, lambda: candide.NaiveBayes(compute_loo=True)
    for name in TEXTS:
        frame = pd.read_parquet(folder / "text" / f"{name}.parquet", columns=["text", "label"])
        frame = frame.drop_duplicates("text")
        frame = frame.sample(min(arguments.rows, len(frame)), random_state=0)
        table = Table(name, frame["text"].reset_index(drop=True), frame["label"].astype(str).reset_index(drop=True))
        yield table, lambda: candide.TextNB(compute_loo=True)


def lines_of(arguments: argparse.Namespace) -> Iterator[str]:
    """One line a set; then how many cases are within bounds."""
    names = list(CASES)
    others = " | ".join(f"{name}: change (estimated)" for name in names[1:])
    yield f"| test log-loss (estimated) | {names[0]} | {others} |"
    yield f"|---|{'---:|' * len(names)}"
    changes, apart = [], []
    for table, make in sets(arguments):
        cells = []
        for case in names:
            fits = [measure(make, table.frame, table.labels, case, seed) for seed in range(arguments.repeats)]
            apart += [fit.apart for fit in fits]
            cells.append(np.mean(fits, axis=0))
        changes += [cell[0] - cells[0][0] for cell in cells[1:]]
        first = f"{cells[0][0]:.4f} ({cells[0][1]:.4f})"
        others = " | ".join(f"{cell[0] - cells[0][0]:+.4f} ({cell[1]:.4f})" for cell in cells[1:])
        yield f"| {table.name}, {len(table.labels):,} rows | {first} | {others} |"
    yield ""
    yield (
        f"Changes of at most 0.01: {int((np.abs(changes) <= 0.01).sum())} of {len(changes)} (means over "
        f"{arguments.repeats} halves, from {min(changes):+.4f} to {max(changes):+.4f}). Estimates within two standard "
        f"errors of the test value: {int((np.abs(apart) <= 2).sum())} of {len(apart)} fits; too optimistic by more "
        f"than two standard errors: {int((np.array(apart) < -2).sum())}."
    )


def few_columns(folder: str, most_rows: int, repeats: int) -> dict[str, float]:
    """Log-loss on new rows of tables of one to three categorical columns."""
    out = {}
    for name, choices in FEW_COLUMNS.items():
        table = next(iter(tables(str(Path(folder) / "tabular"), most_rows, name)))
        for columns in choices:
            how = "unchanged"
            fits = [measure(_table, table.frame[columns], table.labels, how, seed) for seed in range(repeats)]
            out[f"{name}: {', '.join(columns)}"] = float(np.mean([fit.test for fit in fits]))
    return out


def _table() -> Any:
    return candide.NaiveBayes()


def compared(arguments: argparse.Namespace) -> Iterator[str]:
    """The same tables by two versions."""
    size = [arguments.folder, "--rows", str(arguments.rows), "--repeats", str(arguments.repeats)]
    asked = [sys.executable, "-m", "benchmarks.copies", *size, "--few-columns"]
    other = subprocess.run(
        asked, env=os.environ | {"PYTHONPATH": arguments.other}, check=True, capture_output=True, text=True
    )
    earlier, now = json.loads(other.stdout), few_columns(arguments.folder, arguments.rows, arguments.repeats)
    yield f"| test log-loss of few categorical columns | candide {earlier.pop('version')} | now |"
    yield "|---|---:|---:|"
    for name, loss in now.items():
        yield f"| {name} | {earlier[name]:.5f} | {loss:.5f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").replace("``", ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="of the folders tabular and text")
    parser.add_argument("--rows", type=int, default=3_000, help="most rows of a set (3000)")
    parser.add_argument("--repeats", type=int, default=3, help="halves that are drawn (3)")
    parser.add_argument("--other", help="the src of another version of candide")
    parser.add_argument("--few-columns", action="store_true", help="print figures of few columns alone, as JSON")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of classes with few rows
    if arguments.few_columns:
        found = few_columns(arguments.folder, arguments.rows, arguments.repeats)
        print(json.dumps({"version": candide.__version__, **found}))
        return
    lines = [
        "# Copies and weights",
        "",
        f"{date.today()}, candide {candide.__version__}, NumPy {np.__version__}, up to {arguments.rows:,} rows per "
        "dataset, "
        f"half of them for training, means of {arguments.repeats} halves. Command: `python -m benchmarks.copies FOLDER "
        f"--rows {arguments.rows} --repeats {arguments.repeats} --other SOURCE --save`. With weights of 1 to 5, "
        "the effective number of training rows is 9/11 of the actual one, which by itself raises the log-loss.",
        "",
    ]
    print("\n".join(lines))
    parts = [lines_of(arguments)] + ([iter([""]), compared(arguments)] if arguments.other else [])
    for part in parts:
        for text in part:
            print(text, flush=True)
            lines.append(text)
    if arguments.save:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
