"""Cells of nested histograms: ranges of doubles that share their leading bits.

Doubles are mapped to integers in the same order. A binade is the range of doubles with one sign and exponent; 0 and the
subnormal numbers have one for each sign. A cell is a range within a binade: numbers that differ in their last ``shift``
bits alone. Two neighboring cells of one shift are one cell at the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .layouts import Array, Floats

Keys = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)
_LAST_BELOW_ZERO = _SIGN - np.uint64(2)  # after it comes the key of -0.0, which nothing has
_MANTISSA_BITS = np.uint64(52)


class GridTable(NamedTuple):
    """Occupied cells of all columns, one column after the other, in the order of numbers."""

    offsets: Array  # where the cells of each column begin, and the end
    key: Keys  # of the smallest number of each cell
    shift: Array  # how many bits the numbers of the cell may differ in; one for all cells of a sign and exponent
    weight: Any  # per cell and class: a csr_array, as most cells are small and few classes reach them


class Cells(NamedTuple):
    """Cells as ``GridTable`` has them, of several columns, in order; some may be the same at a larger shift."""

    column: Array
    key: Keys
    shift: Array

    def take(self, places: Array) -> Cells:
        return Cells._make(part[places] for part in self)


def keys_of(values: Floats) -> Keys:
    """Return integers in the order of the doubles; their first twelve bits are sign and exponent; -0.0 is 0.0."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits >= _SIGN, ~bits, bits | _SIGN)


def floats_of(keys: Keys) -> Floats:
    """Return the doubles of keys."""
    return np.where(keys >= _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def cell_bounds(key: Keys, shift: Array) -> tuple[Floats, Floats]:
    """Return the smallest and the largest number of each cell."""
    last = key | (np.left_shift(np.uint64(1), shift.astype(np.uint64)) - np.uint64(1))
    return floats_of(key), floats_of(np.where(last == _SIGN - np.uint64(1), _LAST_BELOW_ZERO, last))


def merge_cells(cells: Cells, limit: int | None = None) -> tuple[Cells, Array]:
    """Return cells with one shift per binade, the smallest within the limit, and the new position of each cell."""
    if not len(cells.key):
        return cells, np.zeros(0, dtype=np.int64)
    begins = _binade_begins(cells)
    shifts = np.maximum.reduceat(cells.shift, begins)
    sizes = np.diff(begins, append=len(cells.key))
    if limit is not None:
        for i in np.flatnonzero(sizes > limit):
            shifts[i] = max(shifts[i], _smallest_shift(cells.key[begins[i] :][: sizes[i]], limit))
    shift = np.repeat(shifts, sizes)
    wide = shift.astype(np.uint64)
    resolved = Cells(cells.column, cells.key >> wide << wide, shift)
    is_new = _is_new(resolved.column, resolved.key)
    return resolved.take(np.flatnonzero(is_new)), np.cumsum(is_new) - 1


def _binade_begins(cells: Cells) -> Array:
    return np.flatnonzero(_is_new(cells.column, cells.key >> _MANTISSA_BITS))


def _is_new(*ordered: Array) -> Array:
    """Return which entries differ from the one before."""
    new = np.ones(len(ordered[0]), dtype=bool)
    new[1:] = np.logical_or.reduce([part[1:] != part[:-1] for part in ordered])
    return new


def _smallest_shift(keys: Keys, limit: int) -> int:
    """Neighbors become one at the shift that is the length of their difference; all but ``limit - 1`` pairs must."""
    lengths = np.frexp((keys[1:] ^ keys[:-1]).astype(np.float64))[1]
    return int(np.partition(lengths, -limit)[-limit])
