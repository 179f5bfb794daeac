"""Scores of rows under every class, also by pairs and triples of columns, and of rows left out of the tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from .layouts import Array, Data, Dense, Floats, Positions, Sparse
from .tables import (
    CellFlags,
    FactoredTable,
    LinearTable,
    LinearTerms,
    LogSums,
    NormalTable,
    PickTable,
    SmoothedCounts,
    StudentTable,
    refuse,
    sparse_errors,
)

# Up to this many weights, the sums by bytes (32 times as many numbers) stay in the cache (512 kB).
BYTE_CELLS = 1 << 11


def cosine_features(angles: Floats) -> Floats:
    """Replace angles, in radians, by their cosines, to thirteen digits, and the same on all machines.

    >>> angles = np.array([0.0, 1.0, -7.5, 100.0])
    >>> bool(np.abs(cosine_features(angles.copy()) - np.cos(angles)).max() < 1e-13)
    True
    """
    _core.cosine_features(angles)
    return angles


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
        refuse(data, CellFlags(*found), counts=threshold is None and not table.signed)
        return scores

    def factored_scores(self, data: Data, table: FactoredTable, base: Floats, threshold: float | None) -> Floats:
        """Return linear scores by a factored table."""
        scores = np.empty((data.n_rows, len(base)))
        with sparse_errors:
            found = _core.factored_row_scores(data.compressed(), table, base, threshold, self.n_threads, scores)
        refuse(data, CellFlags(*found), counts=threshold is None)
        return scores

    def quadratic_scores(self, data: Data, precision: Floats, mean: Floats, constant: Floats, base: Floats) -> Floats:
        """Return ``base`` minus sums of precision · (x - mean)², or of ``constant`` where a cell is missing."""
        scores = np.empty((data.n_rows, len(base)))
        found = _core.quadratic_scores(dense_values(data), precision, mean, constant, base, self.n_threads, scores)
        refuse(data, CellFlags(*found))
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
        refuse(data, CellFlags(*found))
        return scores

    def rising_scores(self, data: Data, start: Floats, base: Floats) -> Floats:
        """Return ``base`` plus sums over cells of log(start (start + 1) ⋯ (start + x - 1))."""
        scores = np.empty((data.n_rows, len(base)))
        with sparse_errors:
            found = _core.rising_scores(data, start, base, self.n_threads, scores)
        refuse(data, CellFlags(*found), counts=True)
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


def dense_values(data: Data) -> Array | tuple[Array, ...]:
    """Return dense cells, for kernels in which cells that are not stored contribute too."""
    return data.floats() if isinstance(data, Sparse) else data.values


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
        refuse(data, CellFlags(*found), counts=threshold is None and not table.signed)
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
        refuse(data, CellFlags(*found))
        return scores

    def own_rising_scores(
        self, data: Data, classes: Positions, weight: Floats | None, count: Floats, pseudo: float | Floats
    ) -> Floats:
        """Return sums over cells of log(s (s + 1) ⋯ (s + x - 1)), where s is the count of the own class."""
        scores, counts = np.empty(data.n_rows), _smoothed(count, pseudo)
        with sparse_errors:
            found = _core.own_rising_scores(data, classes, weight, counts, self.n_threads, scores)
        refuse(data, CellFlags(*found), counts=True)
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
        refuse(data, CellFlags(*found), counts=True)
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
        refuse(data, CellFlags(*found), counts=threshold is None and not table.signed)
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
        refuse(data, CellFlags(*found), counts=True)
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
        refuse(data, CellFlags(*found))
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


# The pseudo-count of p(column | one parent), to which p(column | two parents) backs off.
BACK_STRENGTH = 2.0


class PairTable(NamedTuple):
    """Weights of rows by two slots at a time; a slot is one code of one column."""

    joint: Floats  # (classes, slots, slots); of a slot with itself the weight of its rows
    rows: Floats  # (classes,)
    spare: Floats  # (columns,) pseudo-counts of a column's codes in all, ½ each

    def __reduce__(self) -> Any:
        return _stored_pairs, (packed(self.joint), self.rows, self.spare)


class TripleTable(NamedTuple):
    """Weights of rows by the slots of two columns together, and by those of a third."""

    singles: PairTable
    columns: Positions  # (pairs, 2) which two columns a pair joins
    joint: Floats  # (classes, joint slots, slots)

    def __reduce__(self) -> Any:
        return _stored_triples, (self.singles, self.columns, packed(self.joint))


def packed(counts: Floats) -> Array:
    """Return counts in the smallest type that represents them exactly, for storage."""
    small = (counts.astype(kind) for kind in (np.uint8, np.uint16) if counts.max(initial=0.0) <= np.iinfo(kind).max)
    return next((part for part in small if (part == counts).all()), counts)


def _stored_pairs(joint: Array, rows: Floats, spare: Floats) -> PairTable:
    return PairTable(joint.astype(np.float64, copy=False), rows, spare)


def _stored_triples(singles: PairTable, columns: Positions, joint: Array) -> TripleTable:
    return TripleTable(singles, columns, joint.astype(np.float64, copy=False))


class GridCells(NamedTuple):
    """Weights of the cells of random grids, by the keys of cells."""

    keys: Array  # uint32 (cells,), ascending
    starts: Positions  # (buckets + 1,) where the keys with the same highest bits begin; a power of two of buckets
    weights: Array  # float32 (cells, classes)

    @classmethod
    def of(cls, keys: Array, weights: Array) -> GridCells:
        """Make buckets of about one key each."""
        bits = min(24, max(0, len(keys).bit_length() - 1))
        first = np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(32 - bits)
        return cls(keys, np.searchsorted(keys, first).astype(np.int32), weights)


def padded_classes(n_classes: int) -> int:
    """Return the number of classes of a table of joint scores, padded with zeros to whole vectors."""
    return 2 if n_classes <= 2 else -(-n_classes // 4) * 4


class DependenceKernels:
    """Kernels over rows of slots, ``(rows, columns)``; a slot is one code of one column.

    Parents are slots too, or those of pairs of columns. Slots of -1 are skipped: their columns are not given. Sums over
    no parent at all are 0.
    """

    __slots__ = ()
    n_threads: int

    def joint_counts(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats | None,
        shape: tuple[int, int, int],
    ) -> Floats:  # fmt: skip
        """Return the weight of rows by class, parent and slot."""
        joint = np.zeros(shape)
        _core.joint_counts(parents, slots, classes, weight, self.n_threads, joint)
        return joint

    def joint_scores(self, parents: Positions, slots: Positions, table: Floats, n_classes: int) -> Floats:
        """Return log Σ over parents exp Σ over slots of ``table``, (parents, slots, ``padded_classes``)."""
        scores = np.empty((len(slots), n_classes))
        _core.joint_scores(parents, slots, table, self.n_threads, scores)
        return scores

    def grid_keys(self, slots: Positions, words: Array) -> Array:
        """Return the key of each row's cell in each grid, ``(rows, grids)``: the sum of the words of its slots."""
        keys = np.empty((len(slots), len(words)), dtype=np.uint32)
        _core.grid_keys(slots, words, self.n_threads, keys)
        return keys

    def indicator_product(self, ends: Positions, columns: Positions, factor: Array) -> Array:
        """Return the product of a sparse matrix of zeros and ones and a dense one, both of float32.

        Row r of the first has ones in ``columns[ends[r]:ends[r + 1]]``.
        """
        product = np.empty((len(ends) - 1, factor.shape[1]), dtype=np.float32)
        _core.indicator_product(ends, columns, factor, self.n_threads, product)
        return product

    def grid_scores(self, slots: Positions, words: Array, cells: GridCells) -> Floats:
        """Return the sums of the weights of each row's cells, ``(rows, classes)``; unknown cells add 0."""
        scores = np.empty((len(slots), cells.weights.shape[1]))
        _core.grid_scores(slots, words, cells, self.n_threads, scores)
        return scores

    def own_pair_scores(
        self, slots: Positions, classes: Positions, weight: Floats, table: PairTable, strength: float
    ) -> Floats:
        """Return log Σ_u p(u | class) Π_j p(j | u, class) over columns u and j, without the row's weight in the counts.

        p(j | class) = (count + ½) / (rows + spare), where rows include the row, since a smaller class would reveal the
        class of the row; p(j | u, class) = (count + strength · p(j | class)) / (count of u + strength).
        """
        scores = np.empty(len(slots))
        _core.own_pair_scores(slots, classes, weight, table, strength, self.n_threads, scores)
        return scores

    def own_triple_scores(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats, table: TripleTable,
        strength: float,
    ) -> Floats:  # fmt: skip
        """Return the same over pairs of columns u = (s, t).

        There p(j | u, class) backs off to the mean of p(j | s, class) and p(j | t, class), which have BACK_STRENGTH,
        and p(u | class) to the product of p(s | class) and p(t | class).
        """
        scores = np.empty(len(slots))
        _core.own_triple_scores(parents, slots, classes, weight, table, strength, BACK_STRENGTH, self.n_threads, scores)
        return scores
