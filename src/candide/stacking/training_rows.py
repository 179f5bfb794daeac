"""Which rows weights are fitted on, and what a row weighs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..families import Batch
from ..kernels.layouts import Array, Floats
from .folds import FoldAssignment, group_folds, stratified_folds

# Scores (views × rows × classes) that weights are fitted on; beyond that, on fewer rows.
_MOST_SCORES = 1 << 25
_MOST_ROWS = 20_000


class TrainingRows(NamedTuple):
    """Training rows that were kept, each with the weight of one copy."""

    batch: Batch
    case_weight: Floats  # what all copies of a row stand for
    multiplicity: Array
    blocks: Array | None = None  # rows of one block leave together; without blocks, each leaves alone

    def with_all_copies(self) -> Batch:
        """The rows, each with what all its copies weigh."""
        return self.batch._replace(weight=self.multiplicity * (1.0 if self.batch.weight is None else self.batch.weight))

    def stratified_folds(self) -> FoldAssignment:
        """The rows in five folds; blocks stay together."""
        classes = self.batch.classes
        if self.blocks is None:
            return stratified_folds(classes, self.multiplicity)
        return FoldAssignment(np.arange(len(classes)), group_folds(classes, self.blocks), self.multiplicity)

    def take(self, rows: Array, copies: Array) -> TrainingRows:
        """Some of the rows, each with some of its copies."""
        case_weight = self.case_weight[rows] * copies / self.multiplicity[rows]
        return TrainingRows(
            self.batch.take(rows), case_weight, copies, None if self.blocks is None else self.blocks[rows]
        )


def subsample_rows(training: TrainingRows, n_scores: int, most_rows: int = _MOST_ROWS) -> Array:
    """Rows evenly spaced, as many as are worth their cost; or whole blocks, two at least."""
    most, n_rows = min(most_rows, max(200, _MOST_SCORES // max(1, n_scores))), len(training.case_weight)
    if n_rows <= most:
        return np.arange(n_rows)
    if training.blocks is None:
        return np.arange(most) * n_rows // most
    blocks, sizes = np.unique(training.blocks, return_counts=True)
    n_blocks = max(2, int(np.searchsorted(np.cumsum(sizes), most, side="right")))
    return np.flatnonzero(np.isin(training.blocks, blocks[:n_blocks]))


def mean_row_weight(training: TrainingRows) -> float:
    """What a row weighs in the mean over the weight: it tells as much whatever all rows weigh."""
    if training.batch.weight is None:
        return 1.0
    return float(np.average(training.batch.weight, weights=training.case_weight))
