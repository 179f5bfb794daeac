"""What scores by bands of evidence mean, in NumPy."""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from .bands import BandTable
from .data import Array, Floats, Positions, Sparse
from .reference_left_out import REST


class BandReference:
    """Plain NumPy, one row after the other, over all classes of each token."""

    def band_scores(self, rows: Sparse, table: BandTable) -> Floats:
        return self.band_left_out(rows, np.zeros(rows.n_rows, np.int32), np.zeros(rows.n_rows), table)

    def band_left_out(self, rows: Sparse, classes: Positions, weight: Floats | None, table: BandTable) -> Floats:
        scores = np.empty((table.n_views, rows.n_rows, table.n_classes))
        count, row_weight = _dense(table), np.ones(rows.n_rows) if weight is None else weight
        for r in range(rows.n_rows):
            tokens = table.place[rows.indices[rows.indptr[r] : rows.indptr[r + 1]]]
            scores[:, r] = _views(_without(count[:, tokens[tokens >= 0]], classes[r], row_weight[r]), table)
        return scores


def _dense(table: BandTable) -> Floats:
    """``(classes, tokens)``"""
    count = np.zeros((table.n_classes, len(table.weight)))
    count[table.classes, np.repeat(np.arange(len(table.weight)), np.diff(table.indptr))] = table.count
    return count


def _without(count: Floats, own: int, weight: float) -> Floats:
    left = count.copy()
    left[own] -= weight
    left[own, left[own] <= REST * count[own]] = 0.0
    left[:, left.sum(axis=0) <= REST * count.sum(axis=0)] = 0.0
    return left


def _views(count: Floats, table: BandTable) -> Floats:
    """``(views, classes)`` of a text whose tokens have these counts, ``(classes, tokens)``."""
    count = count[:, count.any(axis=0)]
    weight = count.sum(axis=0)
    evidence = 2.0 * rel_entr(count, weight * table.share[:, None]).sum(axis=0)
    band = (evidence >= table.reach[:, None]).sum(axis=0)
    member = (band == np.arange(table.n_bands)[:, None]).astype(np.float64)
    others = np.log((weight - count + table.alpha) / (weight + table.alpha))
    logs = [np.log((count + table.alpha) / table.alpha), others][: len(table.log_size)]
    return np.concatenate(
        [sign * _sums(member, part, size) for sign, part, size in zip((1, -1), logs, table.log_size, strict=False)]
    )


def _sums(member: Array, logs: Floats, log_size: Floats) -> Floats:
    """``(bands, classes)``"""
    tokens = member.sum(axis=1, keepdims=True)
    return np.asarray((member @ logs.T - tokens * log_size) / np.sqrt(1.0 + tokens.sum()))
