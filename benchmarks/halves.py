"""Tables for classifiers, and the protocol of the benchmarks on them: two halves, each predicting the other.

A table is a Parquet file with a column ``label``. Without a folder, scikit-learn's own sets take their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold

BUNDLED = {"breast_cancer": datasets.load_breast_cancer, "iris": datasets.load_iris, "wine": datasets.load_wine}
# A class needs a row in each half, and two where folds are made of a half.
FEWEST_ROWS = 4
# What a probability of 0 counts as, for all methods alike.
LEAST = 1e-12


class Table(NamedTuple):
    """Columns of numbers and of texts (None where missing), and the labels as texts."""

    name: str
    frame: Any
    labels: Any

    @property
    def classes(self) -> Any:
        return np.unique(self.labels)


class Held(NamedTuple):
    """Probabilities of every row by the half it is not in, and the seconds of both fits and of both predictions."""

    probability: Any
    fit_seconds: float
    predict_seconds: float

    @property
    def seconds(self) -> float:
        return self.fit_seconds + self.predict_seconds


def tables(folder: str | None, most_rows: int, only: str = "") -> Iterator[Table]:
    """Every set of the folder whose name contains ``only``, the large ones thinned."""
    sets = _bundled() if folder is None else _files(folder)
    found = [(name, read) for name, read in sets if only in name]
    if not found:
        raise SystemExit(f"there is no set with {only!r} in its name in {folder or 'scikit-learn'}")
    for name, read in found:
        yield _table(name, read(), most_rows)


def _files(folder: str) -> list[tuple[str, Callable[[], Any]]]:
    paths = sorted(Path(folder).glob("*.parquet"))
    return [(path.stem, lambda path=path: pd.read_parquet(path)) for path in paths]


def _bundled() -> list[tuple[str, Callable[[], Any]]]:
    return [
        (name, lambda load=load: load(as_frame=True).frame.rename(columns={"target": "label"}))
        for name, load in BUNDLED.items()
    ]


def _table(name: str, frame: Any, most_rows: int) -> Table:
    if len(frame) > most_rows:
        frame = frame.sample(most_rows, random_state=0)
    labels = frame["label"].astype(str)
    kept = labels.map(labels.value_counts()) >= FEWEST_ROWS
    frame = frame.drop(columns="label")[kept].reset_index(drop=True)
    columns = {column: _numbers_or_texts(frame[column]) for column in frame}
    return Table(name, pd.DataFrame(columns), labels[kept].reset_index(drop=True))


def _numbers_or_texts(column: Any) -> Any:
    if is_number(column):
        return column
    column = column.astype(object).where(column.notna(), None)
    return column.map(lambda value: None if value is None else str(value))


def is_number(column: Any) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def halves(table: Table, seed: int) -> Any:
    """Pairs of row positions: to learn from, and to predict."""
    return StratifiedKFold(2, shuffle=True, random_state=seed).split(table.frame, table.labels)


def hold_out(table: Table, make: Callable[[Any], Any], seed: int) -> Held:
    """Let each half predict the other; ``make`` gets the frame and returns a classifier that is not fitted yet."""
    probability = np.zeros((len(table.labels), len(table.classes)))
    begin, predicting = time.perf_counter(), 0.0
    for known, held in halves(table, seed):
        model = make(table.frame).fit(table.frame.iloc[known], table.labels.iloc[known])
        fitted = time.perf_counter()
        position = np.searchsorted(table.classes, np.asarray(model.classes_).astype(str))
        probability[np.ix_(held, position)] = model.predict_proba(table.frame.iloc[held])
        predicting += time.perf_counter() - fitted
    whole = time.perf_counter() - begin
    probability = np.clip(probability, LEAST, None)
    return Held(probability / probability.sum(axis=1, keepdims=True), whole - predicting, predicting)
