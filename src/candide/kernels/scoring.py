"""Scores of rows under every class, and what is made of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .tables import FactoredTable, Findings, LinearTable, PickTable, StudentTable, refuse, sparse_errors

# Up to this many weights their sums by bytes, 32 times as many, stay in the cache (512 kB).
BYTE_CELLS = 1 << 11


class ScoringKernels:
    """Kernels that score rows under every class."""

    __slots__ = ()
    n_threads: int

    def linear_scores(self, data: Data, table: LinearTable, base: Floats, threshold: float | None) -> Floats:
        """Return ``base`` plus sums of weights times cells, or of weights of the cells above a threshold."""
        scores = np.empty((data.n_rows, len(base)))
        if isinstance(data, Sparse):
            weights, absent = table.by_column
            gaps = None if absent is None else absent.padded
            with sparse_errors:
                found = _core.linear_row_scores(data, weights.padded, base, gaps, threshold, self.n_threads, scores)
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
        """Return linear scores by a factored table."""
        rows = data if isinstance(data, Sparse) else Sparse.of(_as_sparse(data))
        scores = np.empty((data.n_rows, len(base)))
        with sparse_errors:
            found = _core.factored_row_scores(rows, table, base, threshold, self.n_threads, scores)
        refuse(data, Findings(*found), counts=threshold is None)
        return scores

    def quadratic_scores(self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats) -> Floats:
        """Return ``base`` minus sums of precision · (x - mean)², or of ``constant`` where a cell is missing."""
        scores = np.empty((data.n_rows, len(base)))
        found = _core.quadratic_scores(dense_values(data), precision, mean, constant, base, self.n_threads, scores)
        refuse(data, Findings(*found))
        return scores

    def code_scores(self, codes: Dense, offsets: Array, table: PickTable, base: Floats) -> Floats:
        """Return ``base`` plus sums of the rows that codes pick; codes beyond a column's last slot pick that slot."""
        scores = np.empty((codes.n_rows, len(base)))
        _core.code_scores(codes.values, offsets, table.padded, base, self.n_threads, scores)
        return scores

    def student_scores(self, data: Data, table: StudentTable, base: Floats) -> Floats:
        """Return ``base`` plus sums of log densities of Student distributions."""
        scores = np.empty((data.n_rows, len(base)))
        found = _core.student_scores(dense_values(data), table, base, self.n_threads, scores)
        refuse(data, Findings(*found))
        return scores

    def rising_scores(self, data: Data, start: Floats, base: Floats) -> Floats:
        """Return ``base`` plus sums over cells of log(start (start + 1) ⋯ (start + x - 1))."""
        scores = np.empty((data.n_rows, len(base)))
        with sparse_errors:
            found = _core.rising_scores(data, start, base, self.n_threads, scores)
        refuse(data, Findings(*found), counts=True)
        return scores

    def put_own(
        self, scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats
    ) -> None:
        """Set the score of each row's own class to ``values`` plus ``by_class``; rows of weight 0 keep theirs."""
        _core.put_own(scores, classes, weight, values, by_class, self.n_threads)

    def add_own(self, scores: Floats, classes: Positions, change: Floats, *, by_class: bool) -> None:
        """Add to the score of each row's own class the change of the row, or of its class."""
        _core.add_own(scores, classes, change, by_class, self.n_threads)

    def normalize(self, scores: Floats, *, logarithm: bool) -> int:
        """Turn scores into probabilities or their logarithms, in place; return the rows without a finite maximum."""
        return int(_core.normalize(scores, logarithm, self.n_threads))

    def best(self, scores: Floats) -> tuple[Array, int]:
        """Return the first class with the largest score, and the number of rows without a finite maximum."""
        out = np.empty(len(scores), dtype=np.int64)
        return out, int(_core.best(scores, self.n_threads, out))


def _as_sparse(data: Dense) -> Any:
    from scipy.sparse import csr_array

    return csr_array(data.floats())


def dense_values(data: Data) -> Array | tuple[Array, ...]:
    """For kernels to which a cell that is not stored says as much as any other."""
    return data.floats() if isinstance(data, Sparse) else data.values
