"""Scores of rows under every class, and what is made of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .tables import FactoredTable, Findings, LinearTable, PickTable, StudentTable, refuse, well_formed

# Up to this many weights their sums by bytes, 32 times as many, stay in the cache (512 kB).
BYTE_CELLS = 1 << 11


class ScoringKernels:
    """Kernels that score rows under every class."""

    __slots__ = ()
    n_threads: int

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

    def normalize(self, scores: Floats, *, logarithm: bool) -> int:
        return int(_core.normalise(scores, logarithm, self.n_threads))

    def best(self, scores: Floats) -> tuple[Array, int]:
        out = np.empty(len(scores), dtype=np.int64)
        return out, int(_core.best(scores, self.n_threads, out))


def _as_sparse(data: Dense) -> Any:
    from scipy.sparse import csr_array

    return csr_array(data.floats())


def dense_values(data: Data) -> Array | tuple[Array, ...]:
    """For kernels to which a cell that is not stored says as much as any other."""
    return data.floats() if isinstance(data, Sparse) else data.values


def cells(data: Data) -> tuple[Array | tuple[Array, ...], Array | None, Array | None]:
    """Values, and where sparse rows lie in them: what the native module takes for rows of either kind."""
    return (data.values, data.indptr, data.indices) if isinstance(data, Sparse) else (data.values, None, None)
