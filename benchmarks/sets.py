"""Real data sets: scikit-learn's own, and Parquet files of tables and texts where there are any.

A folder given as an argument, else by the variable ``CANDIDE_DATA``, may hold ``tabular/*.parquet`` (columns of
numbers or texts, and ``label``) and ``text/*.parquet`` (``text`` and ``label``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

N_BINS = 10


class Split(NamedTuple):
    """Two thirds to learn from, one third held out, and the name of the model that suits."""

    name: str
    model: str
    settings: dict[str, Any]
    X: Any
    y: Any
    X_held_out: Any
    y_held_out: Any


def splits(folder: str | None, most_rows: int, seed: int = 0) -> Iterator[Split]:
    """All sets there are, largest ones thinned to ``most_rows``; ``seed`` says which third is held out."""
    bundled = {"digits": datasets.load_digits, "breast cancer": datasets.load_breast_cancer}
    bundled |= {"wine": datasets.load_wine, "iris": datasets.load_iris}
    for name, load in bundled.items():
        yield _measurements(name, *load(return_X_y=True), seed)
    root = folder or os.environ.get("CANDIDE_DATA")
    if root and not Path(root).is_dir():
        raise SystemExit(f"there is no folder {root}")
    if root:
        yield from _files(Path(root) / "tabular", most_rows, seed, _table)
        yield from _files(Path(root) / "text", most_rows, seed, _texts)


def _files(folder: Path, most_rows: int, seed: int, read: Callable[[str, Any, int], Split]) -> Iterator[Split]:
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        frame = frame.sample(min(len(frame), most_rows), random_state=seed)
        # A class needs a row in each of five folds of two thirds.
        frame = frame[frame.groupby("label")["label"].transform("size") >= 10]
        yield read(path.stem, frame, seed)


def _table(name: str, frame: Any, seed: int) -> Split:
    y, X = frame["label"].to_numpy(), frame.drop(columns="label")
    if all(dtype.kind == "f" for dtype in X.dtypes) and not X.isna().any(axis=None):
        return _measurements(name, X.to_numpy(), y, seed)
    codes = np.column_stack([_codes(X[column]) for column in X])
    settings = {"min_categories": (codes.max(axis=0) + 1).tolist()}
    return _split(name, "CategoricalNB", settings, codes, y, seed)


def _codes(column: Any) -> Any:
    """Codes that scikit-learn reads too: numbers in bins of equal weight, and 0 for missing values."""
    if column.dtype.kind == "f":
        column = pd.qcut(column, N_BINS, labels=False, duplicates="drop")
    return pd.factorize(column)[0] + 1


def _measurements(name: str, X: Any, y: Any, seed: int) -> Split:
    return _split(name, "GaussianNB", {}, X, y, seed)


def _texts(name: str, frame: Any, seed: int) -> Split:
    texts, held_out, y, y_held_out = _halves(frame["text"].to_numpy(), frame["label"].to_numpy(), seed)
    words = CountVectorizer(min_df=2)
    return Split(
        name, "MultinomialNB", {"alpha": 0.1}, words.fit_transform(texts), y, words.transform(held_out), y_held_out
    )


def _split(name: str, model: str, settings: dict[str, Any], X: Any, y: Any, seed: int) -> Split:
    X, X_held_out, y, y_held_out = _halves(X, y, seed)
    return Split(name, model, settings, X, y, X_held_out, y_held_out)


def _halves(X: Any, y: Any, seed: int) -> Any:
    return train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
