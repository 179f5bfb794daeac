"""Drawn cells as the column had them: constants stay constant, whole numbers whole and within what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels.layouts import Array

if TYPE_CHECKING:
    from ..statistics.table import TableStatistics


def as_seen(cells: Array, statistics: TableStatistics, j: int, *, whole: bool, bounded: bool) -> Array:
    """The cells of column ``j``.

    ``whole``: the first rows held whole numbers alone. ``bounded``: the cells stand for things that know limits.
    """
    if statistics.kinds[j] in ("missing", "text"):
        return cells
    place = statistics.place(j)
    if statistics.kinds[j] == "category":
        labels = statistics.categories.labels[place]
        return np.repeat(labels, len(cells)) if len(labels) == 1 else cells
    seen = statistics.grid.column(place)
    single = seen.low == seen.high
    if len(single) == 1 and single[0]:
        return np.full(len(cells), seen.low[0])
    # Later rows may have brought fractions; where many numbers share a cell, that cannot be told.
    whole = whole and bool((seen.low[single] == np.trunc(seen.low[single])).all())
    if whole:
        return np.clip(np.round(cells.astype(np.float64)), np.ceil(seen.low[0]), np.floor(seen.high[-1]))
    return np.clip(cells, seen.low[0], seen.high[-1]) if bounded else cells
