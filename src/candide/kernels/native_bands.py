"""The kernels in C++ for tokens of texts as evidence in bands."""

from __future__ import annotations

import numpy as np

from . import _core
from .bands import BandTable
from .layouts import Array, Floats, Positions, Sparse
from .places import well_formed


class BandNative:
    """What ``Native`` does with tables of bands."""

    __slots__ = ()
    n_threads: int

    def band_scores(self, rows: Sparse, table: BandTable) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        with well_formed():
            _core.band_scores(rows.indptr, rows.indices, rows.values, *_ready(table), self.n_threads, scores)
        return scores

    def band_left_out(self, rows: Sparse, classes: Positions, weight: Floats | None, table: BandTable) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        how = *_ready(table), *_sums(table), self.n_threads, scores
        with well_formed():
            _core.band_left_out(rows.indptr, rows.indices, rows.values, classes, weight, *how)
        return scores

    def band_fold_scores(
        self, rows: Sparse, classes: Positions, weight: Floats | None, folds: Positions, table: BandTable
    ) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        sums = *_entries(table), table.count, table.weight, table.size, table.log_knots, table.alpha, table.spare
        with well_formed():
            _core.band_fold_scores(
                rows.indptr, rows.indices, rows.values, classes, weight, folds, *sums, self.n_threads, scores
            )
        return scores


def _entries(table: BandTable) -> tuple[Positions, Array, Positions]:
    return table.place, table.indptr, table.classes


def _ready(table: BandTable) -> tuple[Positions, Array, Positions, Floats, Floats, Floats]:
    return *_entries(table), table.level, table.logs, table.log_size


def _sums(table: BandTable) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
    return table.count, table.weight, table.evidence, table.size, table.log_knots, table.alpha
