"""The kernels in C++: allocates results, checks what crosses the border, and releases the interpreter lock."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .base import Extent, FactoredTable, LinearTable, MomentTable, PickTable, Tally
from .data import Array, Data, Dense, Floats, Positions, Sparse
from .layout import keep_sparse, refuse, with_implicit_zeros

_VALUE, _ABOVE, _OBSERVED, _MISSING, _DEVIATION = range(5)


class Native:
    """The C++ kernels with a number of threads. Results do not depend on that number."""

    __slots__ = ("n_threads",)

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def encode_labels(self, values: Array) -> tuple[Array, Positions] | None:
        found: tuple[Array, Positions] | None = _core.encode_labels(values, self.n_threads)
        return found

    def scan(self, data: Dense) -> list[Extent]:
        return [Extent(*facts) for facts in _core.scan(data.values, self.n_threads)]

    def tally(
        self, data: Data, classes: Positions, weight: Floats | None, n_classes: int, threshold: float | None
    ) -> Tally:
        if isinstance(data, Sparse):
            cell = _VALUE if threshold is None else _ABOVE
            total, found = self._sum_stored(data, classes, weight, n_classes, cell, threshold or 0.0)
            negative, infinite, has_missing = found
            missing = self._sum_stored(data, classes, weight, n_classes, _MISSING)[0] if has_missing else None
            return Tally(total, missing, negative, infinite)
        total, gaps = np.zeros((2, n_classes, data.n_columns))
        negative, infinite, has_missing = _core.tally(
            data.values, classes, weight, threshold, self.n_threads, total, gaps
        )
        return Tally(total, gaps if has_missing else None, negative, infinite)

    def _sum_stored(
        self,
        data: Sparse,
        classes: Positions,
        weight: Floats | None,
        n_classes: int,
        cell: int,
        threshold: float = 0.0,
        center: Floats | None = None,
    ) -> tuple[Any, tuple[bool, bool, bool]]:
        stored = (data.indptr, data.indices, data.values, classes, weight, cell, threshold)
        if center is None and keep_sparse(n_classes, data.n_columns, len(data.indices)):
            from scipy.sparse import csr_array

            indptr, indices, values, found = _core.tally_rows_sparse(*stored, n_classes, data.n_columns, self.n_threads)
            return csr_array((values, indices, indptr), shape=(n_classes, data.n_columns)), found
        total = np.zeros((n_classes, data.n_columns))
        return total, _core.tally_rows(*stored, center, self.n_threads, total)

    def moments(self, data: Data, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
        if isinstance(data, Sparse):
            return self._sparse_moments(data, classes, weight, n_classes)
        table = MomentTable(*np.zeros((3, n_classes, data.n_columns)))
        _core.moments(data.values, classes, weight, self.n_threads, *table)
        return table

    def _sparse_moments(self, data: Sparse, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
        shape = (n_classes, data.n_columns)

        def stored(cell: int, center: Floats) -> Floats:
            # A center, even an unused one, asks for a dense result.
            total, (_, infinite, _) = self._sum_stored(data, classes, weight, n_classes, cell, 0.0, center)
            refuse(data, infinite, negative=False)
            return np.asarray(total)

        count, total, missing = (stored(cell, np.zeros(shape)) for cell in (_OBSERVED, _VALUE, _MISSING))
        mean = np.divide(total, count, out=np.zeros(shape), where=count > 0)
        rows = np.bincount(classes, weight, minlength=n_classes)
        return with_implicit_zeros(rows, count, missing, mean, stored(_DEVIATION, mean))

    def count_codes(
        self, codes: Dense, classes: Positions, weight: Floats | None, n_classes: int, offsets: Array
    ) -> Floats:
        counts = np.zeros((n_classes, int(offsets[-1])))
        _core.count_codes(codes.values, classes, weight, offsets, self.n_threads, counts)
        return counts

    def linear_scores(self, data: Data, table: LinearTable, base: Floats, threshold: float | None) -> Floats:
        scores = np.empty((data.n_rows, len(base)))
        if isinstance(data, Sparse):
            weights, absent = table.by_column
            gaps = None if absent is None else absent.padded
            odd = _core.linear_row_scores(
                data.indptr, data.indices, data.values, weights.padded, base, gaps, threshold, self.n_threads, scores
            )
        else:
            odd = _core.linear_scores(data.values, table.weights, base, table.absent, threshold, self.n_threads, scores)
        refuse(data, odd[0], odd[1] and not table.signed)
        return scores

    def factored_scores(self, data: Data, table: FactoredTable, base: Floats, threshold: float | None) -> Floats:
        rows = data if isinstance(data, Sparse) else Sparse.of(_as_sparse(data))
        scores = np.empty((data.n_rows, len(base)))
        stored = table.stored
        odd = _core.factored_row_scores(
            rows.indptr, rows.indices, rows.values, table.shared, table.slope, stored.indptr, stored.indices,
            stored.data, base, threshold, self.n_threads, scores,
        )  # fmt: skip
        refuse(data, *odd)
        return scores

    def quadratic_scores(self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats) -> Floats:
        values = data.floats() if isinstance(data, Sparse) else data.values
        scores = np.empty((data.n_rows, len(base)))
        refuse(data, *_core.quadratic_scores(values, precision, mean, constant, base, self.n_threads, scores))
        return scores

    def code_scores(self, codes: Dense, offsets: Array, table: PickTable, base: Floats) -> Floats:
        scores = np.empty((codes.n_rows, len(base)))
        _core.code_scores(codes.values, offsets, table.padded, base, self.n_threads, scores)
        return scores

    def normalise(self, scores: Floats, *, logarithm: bool) -> int:
        return int(_core.normalise(scores, logarithm, self.n_threads))

    def best(self, scores: Floats) -> tuple[Array, int]:
        out = np.empty(len(scores), dtype=np.int64)
        return out, int(_core.best(scores, self.n_threads, out))


def _as_sparse(data: Dense) -> Any:
    from scipy.sparse import csr_array

    return csr_array(data.floats())
