"""Columns that are dropped: constants and identifiers."""

from __future__ import annotations

import numpy as np

from ..data.column_kinds import has_several_words
from ..data.dates import has_date_parts
from ..kernels.layouts import Floats
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics

# Bits of information from which a note is added on a dropped column.
_MIN_BITS = 0.05


def reason_to_drop(statistics: TableStatistics, j: int) -> str:
    """Return why a column is dropped: it is constant, or an identifier; an empty string if it is not."""
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
        return ""  # consecutive days are not identifiers
    with np.errstate(over="ignore", invalid="ignore"):
        _, _, variance = statistics.moments.only(place).pooled()
    numbered = _is_numbering(cells._replace(count=cells.count / row), float(variance[0]), known)
    return "an identifier: the rows are numbered" if numbered else ""


def note_on_ranks(gained: Floats) -> str:
    """Return a note for numbered rows: the numbers may be ranks of a measurement, which cannot be detected."""
    bits = float(gained) / np.log(2.0)
    return f", though it would tell {bits:.2f} bits; if they are ranks, name a family" if bits >= _MIN_BITS else ""


def _is_numbering(cells: Cells, variance: float, known: float) -> bool:
    """Return whether a column is a numbering or a random part of it: distinct integers, evenly spread, with few gaps.

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
