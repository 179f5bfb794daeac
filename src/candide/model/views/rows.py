"""Which rows weights are fitted on, and what a row weighs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.layouts import Array

if TYPE_CHECKING:
    from ..smoothing import Seen

# Scores (views × rows × classes) that weights are fitted on; beyond that, on fewer rows.
_MOST_SCORES = 1 << 25
_MOST_ROWS = 20_000


def few_rows(seen: Seen, n_scores: int, most_rows: int = _MOST_ROWS) -> Array:
    """Rows evenly spaced, as many as are worth their cost; or whole blocks, two at least."""
    most, n_rows = min(most_rows, max(200, _MOST_SCORES // max(1, n_scores))), len(seen.case_weight)
    if n_rows <= most:
        return np.arange(n_rows)
    if seen.blocks is None:
        return np.arange(most) * n_rows // most
    blocks, sizes = np.unique(seen.blocks, return_counts=True)
    n_blocks = max(2, int(np.searchsorted(np.cumsum(sizes), most, side="right")))
    return np.flatnonzero(np.isin(seen.blocks, blocks[:n_blocks]))


def row_weight(seen: Seen) -> float:
    """What a row weighs in the mean over the weight: it tells as much whatever all rows weigh."""
    if seen.batch.weight is None:
        return 1.0
    return float(np.average(seen.batch.weight, weights=seen.case_weight))
