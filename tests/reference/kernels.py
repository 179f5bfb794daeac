"""Every kernel in plain NumPy: the expected results of the native ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np

from candide.kernels.counting import Cells, GridTable, Hashes, keys_of, merge_cells, mix64
from candide.kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse
from candide.kernels.tables import (
    Extent,
    FactoredTable,
    LinearTable,
    LogSums,
    MomentTable,
    PickTable,
    StudentTable,
    Tally,
)

from .dependence import DependenceReference
from .left_out import LeftOutReference, log_rising, own_log_sums, usable
from .token_bins import TokenBinReference
from .tokens import TokenReference


class ReferenceKernels(LeftOutReference, DependenceReference, TokenReference, TokenBinReference):
    """Plain NumPy, one thread, no concern for memory. Counts agree with ``Kernels`` exactly, sums to rounding."""

    def encode_labels(self, values: Array) -> tuple[Array, Positions] | None:
        distinct, positions = np.unique(values, return_inverse=True)
        return distinct.astype(np.int64), positions.astype(np.int32)

    def scan(self, data: Dense) -> list[Extent]:
        return [_extent(np.asarray(column)) for column in _columns(data)]

    def hash_rows(self, data: Dense, keys: Hashes) -> Hashes:
        x = np.where(np.isnan(data.floats()), np.nan, data.floats() + 0.0)
        return np.asarray(mix64(x.view(np.uint64) ^ keys).sum(axis=1, dtype=np.uint64))

    def has_repeats(self, data: Sparse) -> bool:
        row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
        return len(np.unique(np.stack([row, data.indices]), axis=1).T) < len(row)

    def tally(
        self, data: Data, classes: Positions, weight: Floats | None, n_classes: int, threshold: float | None
    ) -> Tally:
        x = data.floats()
        known = np.isfinite(x)
        cells = np.where(known, x if threshold is None else x > threshold, 0.0)
        member = _membership(classes, weight, n_classes)
        gaps = member @ np.isnan(x)
        return Tally(
            member @ cells, gaps if np.isnan(x).any() else None, bool((x[known] < 0).any()), bool(np.isinf(x).any())
        )

    def moments(self, data: Data, classes: Positions, weight: Floats | None, n_classes: int) -> MomentTable:
        x = data.floats()
        if weight is not None:  # a row of weight 0 is absent, and its square may be infinite
            x, classes, weight = x[weight > 0], classes[weight > 0], weight[weight > 0]
        known = ~np.isnan(x)
        member = _membership(classes, weight, n_classes)
        total = member @ known
        # The mean, then the mean of what it leaves: a large offset does not swallow the digits.
        mean = np.zeros(total.shape)
        for _ in range(2):
            sums = member @ np.where(known, x - mean[classes], 0.0)
            mean += np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
        deviation = np.where(known, x - mean[classes], 0.0)
        return MomentTable(total, mean, member @ (deviation * deviation))

    def count_codes(
        self, codes: Dense, classes: Positions, weight: Floats | None, n_classes: int, offsets: Array
    ) -> Floats:
        counts = np.zeros((n_classes, int(offsets[-1])))
        row_weight = np.ones(codes.n_rows) if weight is None else weight
        for j, column in enumerate(_columns(codes)):
            code, known = _codes(column)
            np.add.at(counts, (classes[known], offsets[j] + code[known]), row_weight[known])
        return counts

    def grid(self, data: Dense, classes: Positions, weight: Floats | None, n_classes: int, limit: int) -> GridTable:
        from scipy.sparse import csr_array

        x = usable(data)
        row_weight = np.ones(len(x)) if weight is None else weight
        j, row = np.nonzero((~np.isnan(x) & (row_weight > 0)[:, None]).T)
        key = keys_of(x[row, j])
        order = np.lexsort((key, j))
        cells, place = merge_cells(Cells(j, key, np.zeros(len(j), dtype=np.uint8)).take(order), limit)
        row = row[order]
        sums = csr_array((row_weight[row], (place, classes[row])), shape=(len(cells.key), n_classes))
        return GridTable(np.searchsorted(cells.column, np.arange(data.n_columns + 1)), cells.key, cells.shift, sums)

    def cell_codes(self, data: Dense, cuts: Sequence[Floats]) -> Positions:
        x = usable(data)
        codes = [np.searchsorted(own, column, side="right") for own, column in zip(cuts, x.T, strict=True)]
        return np.where(np.isnan(x), -1, np.array(codes).reshape(x.T.shape).T).astype(np.int32, order="C")

    def linear_scores(self, data: Data, table: LinearTable, base: Floats, threshold: float | None) -> Floats:
        x = usable(data, counts=threshold is None and not table.signed)
        known = ~np.isnan(x)
        cells = np.where(known, x if threshold is None else x > threshold, 0.0)
        absent = 0.0 if table.absent is None else ~known @ table.absent.T
        return np.asarray(base + cells @ table.weights.T + absent)

    def factored_scores(self, data: Data, table: FactoredTable, base: Floats, threshold: float | None) -> Floats:
        weights = table.shared + table.slope[:, None] + table.stored.toarray().T
        return self.linear_scores(data, LinearTable(weights), base, threshold)

    def quadratic_scores(self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats) -> Floats:
        x = usable(data)[:, None, :]
        cells = np.where(np.isnan(x), constant, precision * (x - mean) * (x - mean))
        return np.asarray(base - cells.sum(axis=2))

    def code_scores(self, codes: Dense, offsets: Array, table: PickTable, base: Floats) -> Floats:
        scores = np.tile(base, (codes.n_rows, 1))
        for j, column in enumerate(_columns(codes)):
            code, known = _codes(column)
            slot = np.minimum(code, offsets[j + 1] - offsets[j] - 1)
            scores[known] += table.rows[offsets[j] + slot[known]]
        return scores

    def student_scores(self, data: Data, table: StudentTable, base: Floats) -> Floats:
        x = usable(data)[:, None, :]
        distance = x - table.location
        tails = table.power * np.log1p(table.spread * distance * distance)
        return np.asarray(base - np.where(np.isnan(x), table.constant, tails).sum(axis=2))

    def rising_scores(self, data: Data, start: Floats, base: Floats) -> Floats:
        return np.asarray(base + log_rising(start, usable(data, counts=True)[:, None, :]).sum(axis=2))

    def own_linear_scores(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, threshold: float | None
    ) -> Floats:
        return _own(self.linear_scores(data, table, base, threshold), classes)

    def own_code_scores(self, codes: Dense, classes: Positions, offsets: Array, table: PickTable) -> Floats:
        return _own(self.code_scores(codes, offsets, table, np.zeros(table.rows.shape[1])), classes)

    def left_out_counts(
        self, data: Data, classes: Positions, weight: Floats | None, table: LinearTable, base: Floats, count: Floats,
        pseudo: float | Floats,
    ) -> tuple[Floats, LogSums]:  # fmt: skip
        return self.linear_scores(data, table, base, None), own_log_sums(data, classes, weight, count, pseudo)

    def left_out_linear(
        self, data: Data, classes: Positions, table: LinearTable, base: Floats, own_table: LinearTable,
        own_base: Floats, threshold: float | None,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        scores = self.linear_scores(data, table, base, threshold)
        return scores, self.own_linear_scores(data, classes, own_table, own_base, threshold)

    def left_out_code_scores(
        self, codes: Dense, classes: Positions, offsets: Array, table: PickTable, own_table: PickTable, base: Floats
    ) -> tuple[Floats, Floats]:
        own = self.own_code_scores(codes, classes, offsets, own_table)
        return self.code_scores(codes, offsets, table, base), own

    def put_own(
        self, scores: Floats, classes: Positions, weight: Floats | None, values: Floats, by_class: Floats
    ) -> None:
        rows = np.arange(len(classes)) if weight is None else np.flatnonzero(weight > 0)
        scores[rows, classes[rows]] = (values + by_class[classes])[rows]

    def add_own(self, scores: Floats, classes: Positions, change: Floats, *, by_class: bool) -> None:
        scores[np.arange(len(classes)), classes] += change[classes] if by_class else change

    def normalize(self, scores: Floats, *, logarithm: bool) -> int:
        top = scores.max(axis=1, keepdims=True)
        decided = np.isfinite(top[:, 0])
        shifted = scores[decided] - top[decided]
        shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        scores[decided] = shifted if logarithm else np.exp(shifted)
        return int((~decided).sum())

    def best(self, scores: Floats) -> tuple[Array, int]:
        return scores.argmax(axis=1), int((~np.isfinite(scores.max(axis=1))).sum())


def _membership(classes: Positions, weight: Floats | None, n_classes: int) -> Floats:
    member = np.arange(n_classes)[:, None] == classes
    return np.asarray(member * (1.0 if weight is None else weight))


def _columns(data: Dense) -> list[Array]:
    return [data.column(j) for j in range(data.n_columns)]


def _codes(column: Array) -> tuple[Array, Array]:
    code = np.where(np.isnan(column), -1, column).astype(np.int64) if column.dtype.kind == "f" else column
    return code.astype(np.int64), code >= 0


def _own(scores: Floats, classes: Positions) -> Floats:
    return np.asarray(scores[np.arange(len(scores)), classes])


def _extent(column: Array) -> Extent:
    if column.dtype.kind != "f":
        huge = (column.astype(object) > np.iinfo(np.int64).max).astype(bool)
        whole = column[~huge].astype(np.int64)
        fraction = infinite = missing = np.zeros(len(column), dtype=bool)
    else:
        missing, infinite = np.isnan(column), np.isinf(column)
        finite = ~(missing | infinite)
        fraction = finite & (np.trunc(column) != column)
        huge = finite & ~fraction & (np.abs(column) > 2.0**53)
        whole = column[finite & ~fraction & ~huge].astype(np.int64)

    def first(mask: Array) -> int:
        return int(np.argmax(mask)) if mask.any() else -1

    limits = np.iinfo(np.int64)
    low, high = (int(whole.min()), int(whole.max())) if len(whole) else (limits.max, limits.min)
    if (column[huge] < 0).any():
        low = limits.min
    return Extent(low, high, int(missing.sum()), first(fraction), first(infinite), first(huge))


def cosine_features(angles: Floats) -> Floats:
    """The cosines of angles by the series of the sine: what a quarter of a turn is above |t|, for cos(2πt)."""
    turns = angles * (0.5 / np.pi)
    x = (0.25 - np.abs(turns - np.rint(turns))) * (2 * np.pi)
    out = np.full_like(x, 1 / factorial(17))
    for n in range(7, -1, -1):
        out = out * (x * x) + (-1) ** n / factorial(2 * n + 1)
    return out * x
