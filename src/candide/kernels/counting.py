"""Sums over rows by class: counts, moments, histograms; checks of columns; hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .grid_cells import GridTable
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .tables import CellFlags, Extent, MomentTable, Tally, refuse, sparse_errors

Hashes = NDArray[np.uint64]

# Up to this many cells (32 MB) a table of classes × columns is dense whatever it holds.
DENSE_CELLS = 1 << 22

# What of a stored cell is summed, by the numbers that the native module gives them.
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
            # A center, even an unused one, asks for a dense result.
            total, found = self._sum_stored(data, classes, weight, n_classes, cell, 0.0, center)
            refuse(data, found)
            return np.asarray(total), found.missing

        none = np.zeros(shape)
        count, has_missing = stored("observed", none)
        missing = stored("missing", none)[0] if has_missing else none
        # The mean, then the mean of what it leaves: equal cells end with exactly their value, and no scatter.
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
    """Moments of all cells from those of the stored ones: the cells that are not stored are zeros."""
    zeros = rows[:, None] - count - missing
    # Weights that are not whole leave a rest where every cell is stored.
    zeros[zeros < 1e-12 * rows[:, None]] = 0.0
    weight = count + zeros
    share = np.divide(zeros, weight, out=np.zeros_like(weight), where=weight > 0)
    return MomentTable(weight, mean * (1.0 - share), scatter + mean * mean * (count * share))
