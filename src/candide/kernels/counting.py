"""Sums over rows by class: counts, moments, nested histograms; checks of columns; hashes.

A nested histogram has cells: ranges of doubles that share their leading bits. Doubles are mapped to integers in the
same order. A binade is the range of doubles with one sign and exponent; 0 and the subnormal numbers have one for each
sign. A cell is a range within a binade: numbers that differ in their last ``shift`` bits alone. Two neighboring cells
of one shift are one cell at the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .tables import CellFlags, Extent, MomentTable, Tally, refuse, sparse_errors

Keys = NDArray[np.uint64]

_SIGN = np.uint64(1 << 63)
_LAST_BELOW_ZERO = _SIGN - np.uint64(2)  # followed by the unused key of -0.0
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


Hashes = NDArray[np.uint64]

# Up to this many cells (32 MB), a table of classes × columns is always dense.
DENSE_CELLS = 1 << 22

# What is summed of each stored cell, with the codes of the native module.
_CELLS = {name: number for number, name in enumerate(_core.CELLS)}

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix64(bits: Hashes) -> Hashes:
    """Return the hash of each number, by the finalizer of splitmix64; different numbers have different hashes.

    >>> mix64(np.array([0, 1], dtype=np.uint64))
    array([                  0, 6238072747940578789], dtype=uint64)
    """
    bits = bits ^ (bits >> np.uint64(30))
    bits *= _FIRST
    bits ^= bits >> np.uint64(27)
    bits *= _SECOND
    bits ^= bits >> np.uint64(31)
    return bits


class CountingKernels:
    """Kernels that sum rows by class."""

    __slots__ = ()
    n_threads: int

    def encode_labels(self, values: Array) -> tuple[Array, Positions] | None:
        """Return the distinct whole numbers and each label's position among them, or None for other labels."""
        found: tuple[Array, Positions] | None = _core.encode_labels(values, self.n_threads)
        return found

    def scan(self, data: Dense) -> list[Extent]:
        """Return the range, missing cells and first unusual cells of each column."""
        return [Extent(*facts) for facts in _core.scan(data.values, self.n_threads)]

    def hash_rows(self, data: Dense, keys: Hashes) -> Hashes:
        """Return for each row the sum of hashes of its cells and their columns' keys; 0.0 is -0.0, all NaN are one."""
        return _core.hash_rows(data.values, keys, self.n_threads)

    def has_repeats(self, data: Sparse) -> bool:
        """Return whether a row stores a column twice."""
        with sparse_errors:
            return _core.has_repeats(data, self.n_threads)

    def tally(
        self, data: Data, classes: Positions, weight: Floats | None, n_classes: int, threshold: float | None
    ) -> Tally:
        """Return weighted sums of cells by class, or of cells above a threshold."""
        if isinstance(data, Sparse):
            cell = "value" if threshold is None else "above"
            total, found = self._sum_stored(data, classes, weight, n_classes, cell, threshold or 0.0)
            gaps = self._sum_stored(data, classes, weight, n_classes, "missing")[0] if found.missing else None
        else:
            total, gaps = np.zeros((2, n_classes, data.n_columns))
            found = CellFlags(*_core.tally(data.values, classes, weight, threshold, self.n_threads, total, gaps))
        return Tally(total, gaps if found.missing else None, found.negative, found.infinite)

    def _sum_stored(
        self,
        data: Sparse,
        classes: Positions,
        weight: Floats | None,
        n_classes: int,
        cell: str,
        threshold: float = 0.0,
        center: Floats | None = None,
    ) -> tuple[Any, CellFlags]:
        request = (data, classes, weight, _CELLS[cell], threshold)
        if center is None and _keep_sparse(n_classes, data.n_columns, len(data.indices)):
            from scipy.sparse import csr_array

            with sparse_errors:
                indptr, indices, values, found = _core.tally_rows_sparse(*request, n_classes, self.n_threads)
            return csr_array((values, indices, indptr), shape=(n_classes, data.n_columns)), CellFlags(*found)
        total = np.zeros((n_classes, data.n_columns))
        with sparse_errors:
            return total, CellFlags(*_core.tally_rows(*request, center, self.n_threads, total))

    def moments(self, data: Data, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
        """Return weight, mean and sum of squared deviations by class and column."""
        if isinstance(data, Sparse):
            return self._sparse_moments(data, classes, weight, n_classes)
        table = MomentTable(*np.zeros((3, n_classes, data.n_columns)))
        _core.moments(data.values, classes, weight, self.n_threads, *table)
        return table

    def _sparse_moments(self, data: Sparse, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
        shape = (n_classes, data.n_columns)

        def stored(cell: str, center: Floats) -> tuple[Floats, bool]:
            # Passing a center, even an unused one, makes the result dense.
            total, found = self._sum_stored(data, classes, weight, n_classes, cell, 0.0, center)
            refuse(data, found)
            return np.asarray(total), found.missing

        none = np.zeros(shape)
        count, has_missing = stored("observed", none)
        missing = stored("missing", none)[0] if has_missing else none
        # The mean, then the mean of the residuals: for equal cells, the mean is exact and the scatter is 0.
        mean = none
        for cell in ("value", "difference"):
            mean = mean + np.divide(stored(cell, mean)[0], count, out=np.zeros(shape), where=count > 0)
        rows = np.bincount(classes, weight, minlength=n_classes)
        return _with_implicit_zeros(rows, count, missing, mean, stored("deviation", mean)[0])

    def count_codes(
        self, codes: Dense, classes: Positions, weight: Floats | None, n_classes: int, offsets: Array
    ) -> Floats:
        """Return the weight of rows by class and code; ``offsets`` are the first slots of each column."""
        counts = np.zeros((n_classes, int(offsets[-1])))
        _core.count_codes(codes.values, classes, weight, offsets, self.n_threads, counts)
        return counts

    def grid(self, data: Dense, classes: Positions, weight: Floats | None, n_classes: int, limit: int) -> GridTable:
        """Return nested histograms of columns, with at most ``limit`` occupied cells for each sign and exponent."""
        from scipy.sparse import csr_array

        offsets, key, shift, *stored, infinite = _core.grid(
            data.values, classes, weight, n_classes, limit, self.n_threads
        )
        refuse(data, CellFlags(negative=False, infinite=infinite, missing=False))
        return GridTable(offsets, key, shift, csr_array(tuple(stored), shape=(len(key), n_classes)))

    def cell_codes(self, data: Dense, cuts: Sequence[Floats]) -> Positions:
        """Return how many ascending cuts of its column are at most the cell, ``(rows, columns)``; -1 for missing."""
        codes = np.empty((data.n_rows, data.n_columns), dtype=np.int32)
        offsets = np.cumsum([0, *map(len, cuts)])
        infinite = _core.cell_codes(data.values, np.concatenate([*cuts, []]), offsets, self.n_threads, codes)
        refuse(data, CellFlags(negative=False, infinite=infinite, missing=False))
        return codes


def _keep_sparse(n_classes: int, n_columns: int, stored: int) -> bool:
    """Whether a table of sums with at most ``stored`` cells is better kept sparse."""
    cells = n_classes * n_columns
    return cells > DENSE_CELLS and 3 * stored < cells


def _with_implicit_zeros(rows: Array, count: Floats, missing: Floats, mean: Floats, scatter: Floats) -> MomentTable:
    """Return the moments of all cells from those of the stored cells; cells that are not stored are zeros."""
    zeros = rows[:, None] - count - missing
    # Fractional weights leave a rounding error where every cell is stored.
    zeros[zeros < 1e-12 * rows[:, None]] = 0.0
    weight = count + zeros
    share = np.divide(zeros, weight, out=np.zeros_like(weight), where=weight > 0)
    return MomentTable(weight, mean * (1.0 - share), scatter + mean * mean * (count * share))
