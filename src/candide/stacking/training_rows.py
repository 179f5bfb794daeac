"""Training rows that the model keeps, and subsamples of them on which weights are fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..families import Batch
from ..kernels.layouts import Array, Floats
from .folds import FoldAssignment, group_folds, stratified_folds

# Scores (views × rows × classes) and rows that weights are fitted on, at most.
_MOST_SCORES = 1 << 25
_MOST_ROWS = 20_000


class TrainingRows(NamedTuple):
    """Training rows that were kept. Equal rows are one row with a multiplicity.

    The weights in ``batch`` are those of one copy."""

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


def subsample_rows(training: TrainingRows, n_scores: int, most_rows: int = _MOST_ROWS) -> Array:
    """Return the positions of evenly spaced rows, or of at least two whole blocks, within the budget of scores."""
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

    Weights are divided by it, so that the strength of regularization does not depend on their unit."""
    if training.batch.weight is None:
        return 1.0
    return float(np.average(training.batch.weight, weights=training.case_weight))
