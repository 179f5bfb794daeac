"""Scores of rows that the tables contain, each as if the row had been left out."""

from __future__ import annotations

import numpy as np

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .scoring import dense_values
from .tables import (
    Findings,
    LinearTable,
    LinearTerms,
    LogSums,
    NormalTable,
    PickTable,
    SmoothedCounts,
    refuse,
    sparse_errors,
)


class LeftOutKernels:
    """Kernels that score rows under their own class, or under every class, with the row left out.

    Pseudo-counts, one for all cells or an array that broadcasts to the counts, are added once the row is left out.
    """

    __slots__ = ()
    n_threads: int

    def own_linear_scores(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, threshold: float | None
    ) -> Floats:
        """Return linear scores of rows under their own class. The row is not left out: the table stays as it is."""
        scores, terms = np.empty(data.n_rows), LinearTerms(table.weights, table.absent, base)
        with sparse_errors:
            found = _core.own_linear_scores(data, classes, terms, threshold, self.n_threads, scores)
        refuse(data, Findings(*found), counts=threshold is None and not table.signed)
        return scores

    def own_code_scores(self, codes: Dense, classes: Positions, offsets: Array, table: PickTable) -> Floats:
        """Return scores of rows of codes under their own class. The row is not left out."""
        scores = np.empty(codes.n_rows)
        _core.own_code_scores(codes.values, classes, offsets, table.padded, self.n_threads, scores)
        return scores

    def own_normal_scores(
        self, data: Data, classes: Positions, weight: Floats | None, posterior: NormalTable, extra: float, floor: float,
        *, student: bool,
    ) -> Floats:  # fmt: skip
        """Return log densities under the own class, of its normal or, with ``student``, its predictive distribution."""
        scores, rows = np.empty(data.n_rows), dense_values(data)
        if student:
            found = _core.own_student_scores(rows, classes, weight, posterior, self.n_threads, scores)
        else:
            found = _core.own_normal_scores(rows, classes, weight, posterior, extra, floor, self.n_threads, scores)
        refuse(data, Findings(*found))
        return scores

    def own_rising_scores(
        self, data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
    ) -> Floats:
        """Return sums over cells of log(s (s + 1) ⋯ (s + x - 1)), where s is the count of the own class."""
        scores, counts = np.empty(data.n_rows), _smoothed(count, pseudo)
        with sparse_errors:
            found = _core.own_rising_scores(data, classes, weight, counts, self.n_threads, scores)
        refuse(data, Findings(*found), counts=True)
        return scores

    def left_out_counts(
        self, data: Data, classes: Positions, weight: Floats | None, table: LinearTable, base: Floats, count: Floats,
        pseudo: float | Floats,
    ) -> tuple[Floats, LogSums]:  # fmt: skip
        """Return linear scores under every class and, under the own one, sums of x log(count - weight x + pseudo)."""
        scores, sums = np.empty((data.n_rows, len(base))), LogSums(*np.empty((3, data.n_rows)))
        terms, counts = _terms(data, table, base), _smoothed(count, pseudo)
        with sparse_errors:
            found = _core.left_out_counts(data, classes, weight, terms, counts, self.n_threads, scores, sums)
        refuse(data, Findings(*found), counts=True)
        return scores, sums

    def left_out_linear(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, own_table: LinearTable,
        own_base: Floats, threshold: float | None,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Return linear scores under every class and, under the own class, by another table."""
        scores, own = np.empty((data.n_rows, len(base))), np.empty(data.n_rows)
        terms, own_terms = _terms(data, table, base), LinearTerms(own_table.weights, own_table.absent, own_base)
        with sparse_errors:
            found = _core.left_out_linear(data, classes, terms, own_terms, threshold, self.n_threads, scores, own)
        refuse(data, Findings(*found), counts=threshold is None and not table.signed)
        return scores, own

    def left_out_code_scores(
        self, codes: Dense, classes: Positions, offsets: Array, table: PickTable, own_table: PickTable, base: Floats
    ) -> tuple[Floats, Floats]:
        """Return scores of rows of codes under every class and, under the own class, by another table."""
        scores, own = np.empty((codes.n_rows, len(base))), np.empty(codes.n_rows)
        tables = table.padded, own_table.padded
        _core.left_out_code_scores(codes.values, classes, offsets, *tables, base, self.n_threads, scores, own)
        return scores, own

    def left_out_complement(
        self, data: Data, classes: Positions, weight: Floats | None, others: Floats, pseudo: float | Floats
    ) -> LogSums:
        """Return sums under every class, where ``others`` are counts of all other classes, which contain the row."""
        sums, zeros = np.empty((2, data.n_rows, len(others)))
        out, counts = LogSums(sums, zeros, np.empty(data.n_rows)), _smoothed(others, pseudo)
        with sparse_errors:
            found = _core.left_out_complement(data, classes, weight, counts, self.n_threads, out)
        refuse(data, Findings(*found), counts=True)
        return out

    def left_out_shared(
        self, data: Data, classes: Positions, weight: Floats | None, location: Floats, strength: Floats, shape: Floats,
        scale: Floats, extra: float, floor: float, base: Floats,
    ) -> Floats:  # fmt: skip
        """Return log densities under every class, where all classes share one variance per column."""
        scores, posterior = np.empty((data.n_rows, len(base))), NormalTable(strength, location, shape, scale)
        found = _core.left_out_shared(
            dense_values(data), classes, weight, posterior, extra, floor, base, self.n_threads, scores
        )
        refuse(data, Findings(*found))
        return scores


def _terms(data: Data, table: LinearTable, base: Floats) -> LinearTerms:
    """Return the table in the layout for rows of this kind."""
    if not isinstance(data, Sparse):
        return LinearTerms(table.weights, table.absent, base)
    weights, absent = table.by_column
    return LinearTerms(weights.padded, None if absent is None else absent.padded, base)


def _smoothed(count: Floats, pseudo: float | Floats) -> SmoothedCounts:
    """Return counts with pseudo-counts: one number, or an array of the same shape."""
    if np.ndim(pseudo):
        return SmoothedCounts(np.ascontiguousarray(count), np.ascontiguousarray(np.broadcast_to(pseudo, count.shape)))
    return SmoothedCounts(np.ascontiguousarray(count), float(pseudo))
