"""Training rows kept by the model, their folds, and the subsamples that weights are fitted on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..families import Batch
from ..kernels.layouts import Array, Floats, Positions

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

    Classes start with different folds; otherwise classes with one row would all be in the first fold.

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


# Maximum number of scores (views × rows × classes) and of rows on which weights are fitted.
_MOST_SCORES = 1 << 25
_MOST_ROWS = 20_000
# Maximum number of rows if each has few scores.
_MOST_ROWS_OF_FEW, _FEW_SCORES = 40_000, 1 << 21


class TrainingRows(NamedTuple):
    """Training rows that were kept. Equal rows are one row with a multiplicity.

    The weights in ``batch`` are those of one copy.
    """

    batch: Batch
    case_weight: Floats  # the training weight that all copies of a row represent
    multiplicity: Array
    blocks: Array | None = None  # rows of one block are left out together; None: one by one

    def with_all_copies(self) -> Batch:
        """Return the rows, each with the weight of all its copies."""
        return self.batch._replace(weight=self.multiplicity * (1.0 if self.batch.weight is None else self.batch.weight))

    def stratified_folds(self) -> FoldAssignment:
        """Assign the rows to five folds; blocks stay together."""
        classes = self.batch.classes
        if self.blocks is None:
            return stratified_folds(classes, self.multiplicity)
        return FoldAssignment(np.arange(len(classes)), group_folds(classes, self.blocks), self.multiplicity)

    def take(self, rows: Array, copies: Array) -> TrainingRows:
        """Return some of the rows, each with some of its copies."""
        case_weight = self.case_weight[rows] * copies / self.multiplicity[rows]
        return TrainingRows(
            self.batch.take(rows), case_weight, copies, None if self.blocks is None else self.blocks[rows]
        )


def subsample_rows(training: TrainingRows, n_scores: int, most_rows: int | None = None) -> Array:
    """Return the positions of evenly spaced rows, or of at least two whole blocks, within the budget of scores."""
    if most_rows is None:
        most_rows = int(np.clip(_FEW_SCORES // max(1, n_scores), _MOST_ROWS, _MOST_ROWS_OF_FEW))
    most, n_rows = min(most_rows, max(200, _MOST_SCORES // max(1, n_scores))), len(training.case_weight)
    if n_rows <= most:
        return np.arange(n_rows)
    if training.blocks is None:
        return np.arange(most) * n_rows // most
    blocks, sizes = np.unique(training.blocks, return_counts=True)
    n_blocks = max(2, int(np.searchsorted(np.cumsum(sizes), most, side="right")))
    return np.flatnonzero(np.isin(training.blocks, blocks[:n_blocks]))


def mean_row_weight(training: TrainingRows) -> float:
    """Return the weighted mean of row weights.

    Weights are divided by it, so that the strength of regularization does not depend on their unit.
    """
    if training.batch.weight is None:
        return 1.0
    return float(np.average(training.batch.weight, weights=training.case_weight))
