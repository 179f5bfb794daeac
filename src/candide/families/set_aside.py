"""Columns of a table that tell nothing about other rows."""

from __future__ import annotations

import numpy as np

from ..data.column_kinds import has_several_words
from ..data.dates import has_date_parts
from ..kernels.layouts import Floats
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics

# Bits of a column set aside that are worth a word.
_REMARKABLE = 0.05


def set_aside(statistics: TableStatistics, j: int) -> str:
    """Why a column tells nothing, or only what no other row will repeat; empty if it may tell something."""
    place, row = statistics.place(j), statistics.row_weight
    known = float((statistics.observed(j) / row).sum())
    if statistics.kinds[j] == "category":
        labels = statistics.categories.labels[place]
        if len(labels) > 20 and len(labels) > 0.9 * known:
            # The first rows may have been too few to tell that these are texts.
            perhaps = "; if they are texts, name it 'text'" if has_several_words(labels.tolist()) else ""
            return "an identifier: nearly every row has a value of its own" + perhaps
        return "constant" if len(labels) < 2 else ""
    cells = statistics.grid.column(place)
    if len(cells.low) < 2 and (cells.low == cells.high).all():
        return "constant"
    if has_date_parts(statistics.names[j], dict.fromkeys(statistics.names)):
        return ""  # days come one after the other, and go on like that
    with np.errstate(over="ignore", invalid="ignore"):
        _, _, variance = statistics.moments.only(place).pooled()
    numbered = _is_numbering(cells._replace(count=cells.count / row), float(variance[0]), known)
    return "an identifier: the rows are numbered" if numbered else ""


def despite(gained: Floats) -> str:
    """A numbering may follow the order of a file, or be the ranks of a measurement: only its owner can tell."""
    bits = float(gained) / np.log(2.0)
    return f", though it would tell {bits:.2f} bits; if they are ranks, name a family" if bits >= _REMARKABLE else ""


def _is_numbering(cells: Cells, variance: float, known: float) -> bool:
    """Whole numbers, none of them twice and few left out, spread evenly: a numbering, or a random part of it.

    Counts are in rows.
    """
    # Far apart: the difference of the ends may overflow.
    if known <= 20 or max(abs(cells.low[0]), abs(cells.high[-1])) > 2.0**53:
        return False
    first, last = np.ceil(cells.low), np.floor(cells.high)
    n_whole, size = last - first + 1, last[-1] - first[0] + 1
    if size > 3 * known or (cells.count.sum(axis=1) > n_whole + 1e-9).any():
        return False
    return bool(abs(variance * 12 / (size**2 - 1) - 1) <= 0.1)
