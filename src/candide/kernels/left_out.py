"""Scores of rows that the tables contain, each as if the row had been left out."""

from __future__ import annotations

import numpy as np

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .scoring import cells, dense_values
from .tables import Findings, LinearTable, LogSums, NormalTable, PickTable, refuse, well_formed


class LeftOutKernels:
    """Kernels that score rows under their own class, or under every class, with the row left out."""

    __slots__ = ()
    n_threads: int

    def own_linear_scores(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, threshold: float | None
    ) -> Floats:
        scores = np.empty(data.n_rows)
        with well_formed():
            found = _core.own_linear_scores(
                *cells(data), classes, table.weights, base, table.absent, threshold, self.n_threads, scores
            )
        refuse(data, Findings(*found), counts=threshold is None and not table.signed)
        return scores

    def own_code_scores(self, codes: Dense, classes: Positions, offsets: Array, table: PickTable) -> Floats:
        scores = np.empty(codes.n_rows)
        _core.own_code_scores(codes.values, classes, offsets, table.padded, self.n_threads, scores)
        return scores

    def own_normal_scores(
        self, data: Data, classes: Positions, weight: Floats | None, posterior: NormalTable, extra: float, floor: float,
        *, student: bool,
    ) -> Floats:  # fmt: skip
        scores = np.empty(data.n_rows)
        found = _core.own_normal_scores(
            dense_values(data), classes, weight, *posterior, extra, floor, student, self.n_threads, scores
        )
        refuse(data, Findings(*found))
        return scores

    def own_rising_scores(
        self, data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
    ) -> Floats:
        scores = np.empty(data.n_rows)
        totals = _totals(count, pseudo)
        with well_formed():
            found = _core.own_rising_scores(*cells(data), classes, weight, *totals, self.n_threads, scores)
        refuse(data, Findings(*found), counts=True)
        return scores

    def left_out_counts(
        self, data: Data, classes: Positions, weight: Floats | None, table: LinearTable, base: Floats, count: Floats,
        pseudo: float | Floats,
    ) -> tuple[Floats, LogSums]:  # fmt: skip
        scores, out = np.empty((data.n_rows, len(base))), LogSums(*np.empty((3, data.n_rows)))
        tables, totals = _linear(data, table), _totals(count, pseudo)
        with well_formed():
            found = _core.left_out_counts(
                *cells(data), classes, weight, tables[0], base, tables[1], *totals, self.n_threads, scores, *out
            )
        refuse(data, Findings(*found), counts=True)
        return scores, out

    def left_out_linear(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, own_table: LinearTable,
        own_base: Floats, threshold: float | None,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        scores, own = np.empty((data.n_rows, len(base))), np.empty(data.n_rows)
        weights, absent = _linear(data, table)
        with well_formed():
            found = _core.left_out_linear(
                *cells(data), classes, weights, base, absent, own_table.weights, own_base, own_table.absent, threshold,
                self.n_threads, scores, own,
            )  # fmt: skip
        refuse(data, Findings(*found), counts=threshold is None and not table.signed)
        return scores, own

    def left_out_code_scores(
        self, codes: Dense, classes: Positions, offsets: Array, table: PickTable, own_table: PickTable, base: Floats
    ) -> tuple[Floats, Floats]:
        scores, own = np.empty((codes.n_rows, len(base))), np.empty(codes.n_rows)
        tables = table.padded, own_table.padded
        _core.left_out_code_scores(codes.values, classes, offsets, *tables, base, self.n_threads, scores, own)
        return scores, own

    def left_out_complement(
        self, data: Data, classes: Positions, weight: Floats | None, others: Floats, pseudo: float | Floats
    ) -> LogSums:
        sums, zeros = np.empty((2, data.n_rows, len(others)))
        out = LogSums(sums, zeros, np.empty(data.n_rows))
        totals = _totals(others, pseudo)
        with well_formed():
            found = _core.left_out_complement(*cells(data), classes, weight, *totals, self.n_threads, *out)
        refuse(data, Findings(*found), counts=True)
        return out

    def left_out_shared(
        self, data: Data, classes: Positions, weight: Floats | None, location: Floats, strength: Floats, shape: Floats,
        scale: Floats, extra: float, floor: float, base: Floats,
    ) -> Floats:  # fmt: skip
        scores = np.empty((data.n_rows, len(base)))
        found = _core.left_out_shared(
            dense_values(data), classes, weight, location, strength, shape, scale, extra, floor, base, self.n_threads,
            scores,
        )  # fmt: skip
        refuse(data, Findings(*found))
        return scores


def _linear(data: Data, table: LinearTable) -> tuple[Floats, Floats | None]:
    """Weights and what missing cells add, laid out for rows of this kind."""
    if not isinstance(data, Sparse):
        return table.weights, table.absent
    weights, absent = table.by_column
    return weights.padded, None if absent is None else absent.padded


def _totals(count: Floats, pseudo: float | Floats) -> tuple[Floats, float | Floats]:
    """Counts with pseudo-counts: one number, or a table as large as theirs."""
    if np.ndim(pseudo):
        return np.ascontiguousarray(count), np.ascontiguousarray(np.broadcast_to(pseudo, count.shape))
    return np.ascontiguousarray(count), float(pseudo)
