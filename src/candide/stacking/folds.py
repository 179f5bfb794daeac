"""Which fold each row is in, where choices are made without a part of the rows and judged on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layouts import Array, Positions

N_FOLDS = 5


class FoldAssignment(NamedTuple):
    """Rows dealt out to folds. A row that stands for several equal ones appears once per fold that got some of them."""

    row: Array
    fold: Array
    copies: Array


def stratified_folds(classes: Positions, multiplicity: Array) -> FoldAssignment:
    """Rows in turn, class after class and copy by copy.

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
    """How many of the first ``n`` each fold gets, ``(rows, folds)``."""
    return np.asarray((n[:, None] + np.arange(N_FOLDS)[::-1]) // N_FOLDS)


def contiguous_folds(classes: Positions, n_folds: int) -> Positions:
    """The fold of each row, where rows of a class that follow each other mostly stay together.

    Each class begins with another fold, or classes of one row would all be in the first.

    >>> contiguous_folds(np.array([0, 0, 0, 0, 1, 2, 2]), 2)
    array([0, 0, 1, 1, 1, 0, 1], dtype=int32)
    """
    order, n_rows = np.argsort(classes, kind="stable"), np.bincount(classes)
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes)) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    return ((rank * n_folds // n_rows[classes] + classes) % n_folds).astype(np.int32)


def group_folds(classes: Positions, blocks: Array, n_folds: int = N_FOLDS) -> Array:
    """The fold of each row, where rows of one block stay together: blocks in turn, by the class of their first row.

    >>> group_folds(np.array([0, 0, 1, 1, 0]), np.array([7, 7, 8, 8, 9]))
    array([0, 0, 2, 2, 1])
    """
    _, first, block = np.unique(blocks, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(classes[first], kind="stable")] = np.arange(len(first))
    return np.asarray(rank[block] % n_folds)


def make_folds(classes: Positions, blocks: Array | None, n_folds: int) -> Positions:
    """The fold of each row, ``n_folds`` of them or fewer: contiguous_folds of rows, or whole blocks."""
    if blocks is None:
        return contiguous_folds(classes, min(n_folds, len(classes)))
    return group_folds(classes, blocks, n_folds).astype(np.int32)


def rows_by_fold(folds: Array) -> list[Array]:
    """The rows of each fold."""
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)
