"""Assignment of training rows to cross-validation folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layouts import Array, Positions

N_FOLDS = 5


class FoldAssignment(NamedTuple):
    """Rows with their folds. A row with several copies appears once for each fold that holds some of them."""

    row: Array
    fold: Array
    copies: Array


def stratified_folds(classes: Positions, multiplicity: Array) -> FoldAssignment:
    """Assign rows to five folds in turn, class by class and copy by copy.

    >>> row, fold, copies = stratified_folds(np.array([1, 0, 0]), np.array([1, 1, 6]))
    >>> row, fold, copies
    (array([0, 1, 2, 2, 2, 2, 2]), array([2, 0, 0, 1, 2, 3, 4]), array([1, 1, 1, 2, 1, 1, 1]))
    """
    order = np.argsort(classes, kind="stable")
    last = np.empty(len(order), dtype=np.int64)
    last[order] = np.cumsum(multiplicity[order])
    copies = _dealt_until(last) - _dealt_until(last - multiplicity)
    row, fold = np.nonzero(copies)
    return FoldAssignment(row, fold, copies[row, fold])


def _dealt_until(n: Array) -> Array:
    """Return how many of the first ``n`` copies each fold gets, ``(rows, folds)``."""
    return np.asarray((n[:, None] + np.arange(N_FOLDS)[::-1]) // N_FOLDS)


def contiguous_folds(classes: Positions, n_folds: int) -> Positions:
    """Assign consecutive rows of a class to the same fold.

    Classes start with different folds: else classes of one row would all be in the first fold.

    >>> contiguous_folds(np.array([0, 0, 0, 0, 1, 2, 2]), 2)
    array([0, 0, 1, 1, 1, 0, 1], dtype=int32)
    """
    order, n_rows = np.argsort(classes, kind="stable"), np.bincount(classes)
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    return ((rank * n_folds // n_rows[classes] + classes) % n_folds).astype(np.int32)


def group_folds(classes: Positions, blocks: Array, n_folds: int = N_FOLDS) -> Array:
    """Assign whole blocks to folds in turn, ordered by the class of their first row.

    >>> group_folds(np.array([0, 0, 1, 1, 0]), np.array([7, 7, 8, 8, 9]))
    array([0, 0, 2, 2, 1])
    """
    _, first, block = np.unique(blocks, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(classes[first], kind="stable")] = np.arange(len(first))
    return np.asarray(rank[block] % n_folds)


def make_folds(classes: Positions, blocks: Array | None, n_folds: int) -> Positions:
    """Assign rows to at most ``n_folds`` folds: contiguous rows of a class, or whole blocks."""
    if blocks is None:
        return contiguous_folds(classes, min(n_folds, len(classes)))
    return group_folds(classes, blocks, n_folds).astype(np.int32)


def rows_by_fold(folds: Array) -> list[Array]:
    """Return the positions of the rows of each fold."""
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)
