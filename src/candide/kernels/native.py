"""The kernels in C++: allocates results, and turns what the native module finds into errors.

The border itself checks shapes and types of all arrays and releases the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from .base import Extent, FactoredTable, Findings, LinearTable, MomentTable, PickTable, StudentTable, Tally
from .binades import GridTable
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .mixing import Hashes
from .native_bands import BandNative
from .native_dependence import DependenceNative
from .native_left_out import LeftOutNative, cells, dense_values
from .native_tokens import TokenNative
from .places import refuse, well_formed

# Up to this many cells (32 MB) a table of classes × columns is dense whatever it holds.
DENSE_CELLS = 1 << 22

# Up to this many weights their sums by bytes, 32 times as many, stay in the cache (512 kB).
BYTE_CELLS = 1 << 11

# What of a stored cell is summed, by the native module's own numbers.
_CELLS = {name: number for number, name in enumerate(_core.CELLS)}


class Native(LeftOutNative, DependenceNative, TokenNative, BandNative):
    """The C++ kernels with a number of threads. Results do not depend on that number."""

    def encode_labels(self, values: Array) -> tuple[Array, Positions] | None:
        found: tuple[Array, Positions] | None = _core.encode_labels(values, self.n_threads)
        return found

    def scan(self, data: Dense) -> list[Extent]:
        return [Extent(*facts) for facts in _core.scan(data.values, self.n_threads)]

    def hash_rows(self, data: Dense, keys: Hashes) -> Hashes:
        return _core.hash_rows(data.values, keys, self.n_threads)

    def has_repeats(self, data: Sparse) -> bool:
        with well_formed():
            return _core.has_repeats(data.indptr, data.indices, data.values, data.n_columns, self.n_threads)

    def tally(
        self, data: Data, classes: Positions, weight: Floats | None, n_classes: int, threshold: float | None
    ) -> Tally:
        if isinstance(data, Sparse):
            cell = "value" if threshold is None else "above"
            total, found = self._sum_stored(data, classes, weight, n_classes, cell, threshold or 0.0)
            gaps = self._sum_stored(data, classes, weight, n_classes, "missing")[0] if found.missing else None
        else:
            total, gaps = np.zeros((2, n_classes, data.n_columns))
            found = Findings(*_core.tally(data.values, classes, weight, threshold, self.n_threads, total, gaps))
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
    ) -> tuple[Any, Findings]:
        stored = (data.indptr, data.indices, data.values, classes, weight, _CELLS[cell], threshold)
        if center is None and _keep_sparse(n_classes, data.n_columns, len(data.indices)):
            from scipy.sparse import csr_array

            with well_formed():
                indptr, indices, values, found = _core.tally_rows_sparse(
                    *stored, n_classes, data.n_columns, self.n_threads
                )
            return csr_array((values, indices, indptr), shape=(n_classes, data.n_columns)), Findings(*found)
        total = np.zeros((n_classes, data.n_columns))
        with well_formed():
            return total, Findings(*_core.tally_rows(*stored, center, self.n_threads, total))

    def moments(self, data: Data, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
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
        counts = np.zeros((n_classes, int(offsets[-1])))
        _core.count_codes(codes.values, classes, weight, offsets, self.n_threads, counts)
        return counts

    def grid(self, data: Dense, classes: Positions, weight: Floats | None, n_classes: int, limit: int) -> GridTable:
        from scipy.sparse import csr_array

        offsets, key, shift, *stored, infinite = _core.grid(
            data.values, classes, weight, n_classes, limit, self.n_threads
        )
        refuse(data, Findings(negative=False, infinite=infinite, missing=False))
        return GridTable(offsets, key, shift, csr_array(tuple(stored), shape=(len(key), n_classes)))

    def cell_codes(self, data: Dense, cuts: Sequence[Floats]) -> Positions:
        codes = np.empty((data.n_rows, data.n_columns), dtype=np.int32)
        offsets = np.cumsum([0, *map(len, cuts)])
        infinite = _core.cell_codes(data.values, np.concatenate([*cuts, []]), offsets, self.n_threads, codes)
        refuse(data, Findings(negative=False, infinite=infinite, missing=False))
        return codes

    def linear_scores(self, data: Data, table: LinearTable, base: Floats, threshold: float | None) -> Floats:
        scores = np.empty((data.n_rows, len(base)))
        if isinstance(data, Sparse):
            weights, absent = table.by_column
            gaps = None if absent is None else absent.padded
            stored = (data.indptr, data.indices, data.values)
            with well_formed():
                found = _core.linear_row_scores(*stored, weights.padded, base, gaps, threshold, self.n_threads, scores)
        elif threshold is not None and table.weights.size <= BYTE_CELLS:
            weights, absent = table.by_column
            gaps = None if absent is None else absent.padded
            found = _core.presence_scores(
                data.values, threshold, table.by_byte.padded, weights.padded, gaps, base, self.n_threads, scores
            )
        else:
            found = _core.linear_scores(
                data.values, table.weights, base, table.absent, threshold, self.n_threads, scores
            )
        refuse(data, Findings(*found), counts=threshold is None and not table.signed)
        return scores

    def factored_scores(self, data: Data, table: FactoredTable, base: Floats, threshold: float | None) -> Floats:
        rows = data if isinstance(data, Sparse) else Sparse.of(_as_sparse(data))
        scores = np.empty((data.n_rows, len(base)))
        by_column = (table.stored.indptr, table.stored.indices, table.stored.data)
        with well_formed():
            found = _core.factored_row_scores(
                rows.indptr, rows.indices, rows.values, table.shared, table.slope, *by_column, base, threshold,
                self.n_threads, scores,
            )  # fmt: skip
        refuse(data, Findings(*found), counts=threshold is None)
        return scores

    def quadratic_scores(self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats) -> Floats:
        scores = np.empty((data.n_rows, len(base)))
        found = _core.quadratic_scores(dense_values(data), precision, mean, constant, base, self.n_threads, scores)
        refuse(data, Findings(*found))
        return scores

    def code_scores(self, codes: Dense, offsets: Array, table: PickTable, base: Floats) -> Floats:
        scores = np.empty((codes.n_rows, len(base)))
        _core.code_scores(codes.values, offsets, table.padded, base, self.n_threads, scores)
        return scores

    def student_scores(self, data: Data, table: StudentTable, base: Floats) -> Floats:
        scores = np.empty((data.n_rows, len(base)))
        found = _core.student_scores(dense_values(data), *table, base, self.n_threads, scores)
        refuse(data, Findings(*found))
        return scores

    def rising_scores(self, data: Data, start: Floats, base: Floats) -> Floats:
        scores = np.empty((data.n_rows, len(base)))
        with well_formed():
            found = _core.rising_scores(*cells(data), start, base, self.n_threads, scores)
        refuse(data, Findings(*found), counts=True)
        return scores

    def put_own(
        self, scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats
    ) -> None:
        _core.put_own(scores, classes, weight, values, by_class, self.n_threads)

    def add_own(self, scores: Floats, classes: Positions, change: Floats, *, by_class: bool) -> None:
        _core.add_own(scores, classes, change, by_class, self.n_threads)

    def normalise(self, scores: Floats, *, logarithm: bool) -> int:
        return int(_core.normalise(scores, logarithm, self.n_threads))

    def best(self, scores: Floats) -> tuple[Array, int]:
        out = np.empty(len(scores), dtype=np.int64)
        return out, int(_core.best(scores, self.n_threads, out))


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


def _as_sparse(data: Dense) -> Any:
    from scipy.sparse import csr_array

    return csr_array(data.floats())
