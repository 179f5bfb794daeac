"""Data for the benchmarks: made here, the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

DENSE_SHAPE, DENSE_CLASSES = (1_000_000, 40), 10
SPARSE_SHAPE, SPARSE_CLASSES, SPARSE_CELLS = (400_000, 50_000), 20, 80


def labels(n_rows: int, n_classes: int) -> Any:
    """Labels 0 to n_classes - 1 in random order."""
    return np.random.default_rng(1).integers(0, n_classes, n_rows)


def measurements(scale: float = 1.0) -> tuple[Any, Any]:
    """Normal columns whose means depend on the class."""
    n_rows, n_columns = int(DENSE_SHAPE[0] * scale), DENSE_SHAPE[1]
    rng = np.random.default_rng(2)
    y = labels(n_rows, DENSE_CLASSES)
    X = rng.normal(size=(n_rows, n_columns))
    X += rng.normal(size=(DENSE_CLASSES, n_columns))[y] * 0.3
    return X, y


def codes(scale: float = 1.0) -> tuple[Any, Any]:
    """Eight categories a column, shares depending on the class."""
    n_rows, n_columns = int(DENSE_SHAPE[0] * scale), DENSE_SHAPE[1]
    rng = np.random.default_rng(3)
    y = labels(n_rows, DENSE_CLASSES)
    X = rng.integers(0, 8, size=(n_rows, n_columns))
    X[rng.random(X.shape) < 0.2] = 0
    return (X + y[:, None] % 3) % 8, y


def unsorted(X: Any) -> Any:
    """The same rows as vectorizers make them: whole numbers, the columns of a row in the order of the text."""
    order = np.random.default_rng(5).random(X.nnz)
    order = np.lexsort((order, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))))
    return csr_matrix((X.data[order].astype(np.int64), X.indices[order], X.indptr), shape=X.shape)


def words(scale: float = 1.0) -> tuple[Any, Any]:
    """Word counts: frequencies fall as one over the rank, about 73 different words a row."""
    n_rows, n_columns = int(SPARSE_SHAPE[0] * scale), SPARSE_SHAPE[1]
    rng = np.random.default_rng(4)
    y = labels(n_rows, SPARSE_CLASSES)
    rank = np.floor(np.exp(rng.random(n_rows * SPARSE_CELLS) * np.log(n_columns * 20)) - 1).astype(np.int64)
    column = (rank * 7919 + np.repeat(y, SPARSE_CELLS) * (rank > 500)) % n_columns
    pointer = np.arange(n_rows + 1) * SPARSE_CELLS
    X = csr_matrix((np.ones(len(column)), column.astype(np.int32), pointer), shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X, y


def mixed(n_rows: int) -> tuple[Any, Any]:
    """A frame as people have them: 20 columns of numbers with holes, 10 of categories, 5 of booleans, 5 of counts."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, Any] = {}
    for j in range(20):
        columns[f"number {j}"] = _with_holes(numbers(j, y, rng), rng)
    for j, n_levels in enumerate((3, 4, 5, 6, 8, 10, 15, 20, 30, 50)):
        columns[f"category {j}"] = _categories(n_levels, y, rng)
    for j in range(5):
        columns[f"boolean {j}"] = rng.random(n_rows) < 0.3 + 0.04 * j * y
    for j in range(5):
        columns[f"count {j}"] = rng.poisson(2 + j + 0.3 * y)
    return pd.DataFrame(columns), np.array(["no", "yes"])[y]


def made_words(n_words: int, rng: Any) -> list[str]:
    """Words of English lengths, of random letters."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(rng.choice(letters, n)) for n in np.clip(rng.poisson(5.0, n_words), 1, 15)]


def numbers(j: int, y: Any, rng: Any) -> Any:
    """Normal, log-normal and whole in turn, depending a little on the class."""
    normal = rng.normal(0.05 * (j % 5) * y, 1)
    return (normal, np.exp(normal), np.round(10 * normal))[j % 3]


def _with_holes(values: Any, rng: Any) -> Any:
    values[rng.random(len(values)) < 0.05] = np.nan
    return values


def levels(n_levels: int, y: Any, rng: Any) -> Any:
    """Codes, the first being more frequent, and more so in later classes."""
    return (n_levels * rng.random(len(y)) ** (1.5 + 0.2 * y)).astype(np.int64)


def level_names(n_levels: int) -> list[str]:
    return [f"level {k}" for k in range(n_levels)]


def _categories(n_levels: int, y: Any, rng: Any) -> Any:
    return np.array(level_names(n_levels), dtype=object)[levels(n_levels, y, rng)]
