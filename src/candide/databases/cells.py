"""Columns of many different numbers: in cells of their leading bits, as the grid has them in the end or finer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..clusters.rows import Chunk
from ..kernels.grid_cells import Keys, cell_bounds, keys_of
from ..kernels.layouts import Floats
from ..statistics.grid import CELLS_PER_BINADE
from .query import Query, Selected
from .values import as_chunk

# Bits that are left out at first: a binade has four times as many cells then as a grid keeps of it. Whole bytes, for
# some databases count in these.
_FIRST_SHIFT, _STEP = 40, 8
_MANTISSA_BITS = 52
# So few rows are asked for number by number.
FEW_ROWS = 50_000


def in_cells(query: Query, name: str) -> Chunk:
    """Each pair of class and cell once, with one of its numbers and the weight of all of them.

    A grid has the smallest shift per binade that keeps to its limit. A binade that is beyond the limit at some shift
    has a larger one in the end, so that numbers of one cell at that shift are of one cell in the grid too, and any of
    them stands for all. Others are asked for with more bits, until each cell holds a single number.
    """
    found, shift, among, occupied = [], _FIRST_SHIFT, "", None
    while True:
        table = _cells(query, name, shift, among)
        least, most, n_rows = (table[part].to_numpy() for part in ("x", "high", "n"))
        occupied = np.unique(_binades(least)) if occupied is None else occupied
        binades = _open_binades(least, most, shift)
        is_open = np.isin(_binades(least), binades)
        found.append(table.filter(pa.array(~is_open)))
        if not len(binades):
            return as_chunk(pa.concat_tables(found).select(["y", "x", "w"]), name)
        among = f" AND ({_within(query, name, occupied, binades)})"
        shift = 0 if n_rows[is_open].sum() <= FEW_ROWS else shift - _STEP


def _cells(query: Query, name: str, shift: int, among: str) -> pa.Table:
    """The occupied cells; ``x`` is the least number of each, ``high`` the largest."""
    number = query.number(name)
    selected: Selected = {
        "y": query.label,
        "x": (f"MIN({number})", pa.float64()),
        "high": (f"MAX({number})", pa.float64()),
        "n": ("COUNT(*)", pa.int64()),
        "w": query.total_weight,
    }
    return query.ask(selected, f"{query.rows}{among} GROUP BY {query.label[0]}, {query.leading_bits(name, shift)}")


def _binades(numbers: Floats) -> Keys:
    return keys_of(numbers) >> np.uint64(_MANTISSA_BITS)


def _open_binades(least: Floats, most: Floats, shift: int) -> Keys:
    """Binades that must be looked at with more bits: within the limit, with a cell that holds several numbers."""
    known = ~np.isnan(least)
    cells, place = np.unique(keys_of(least[known]) >> np.uint64(shift), return_inverse=True)
    low, high = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    np.minimum.at(low, place, least[known])
    np.maximum.at(high, place, most[known])
    binades, place, n_cells = np.unique(
        cells >> np.uint64(_MANTISSA_BITS - shift), return_inverse=True, return_counts=True
    )
    several = np.bincount(place, low != high, minlength=len(binades)) > 0
    return np.asarray(binades[(n_cells <= CELLS_PER_BINADE) & several])


def _within(query: Query, name: str, occupied: Keys, wanted: Keys) -> str:
    """Whether a number is of one of the wanted binades: as few ranges as those between them allow."""
    is_wanted = np.isin(occupied, wanted)
    begins, ends = (np.flatnonzero(is_wanted & ~np.roll(np.append(is_wanted, False), by)[:-1]) for by in (1, -1))
    low, high = cell_bounds(occupied << np.uint64(_MANTISSA_BITS), np.full(len(occupied), _MANTISSA_BITS))
    literal, number = query.database.literal, query.number(name)
    ranges = zip(low[begins].tolist(), high[ends].tolist(), strict=True)
    return " OR ".join(f"{number} BETWEEN {literal(first)} AND {literal(last)}" for first, last in ranges)
