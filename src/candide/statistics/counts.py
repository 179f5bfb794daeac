"""Counts by class and column: sums of binary cells, words or events, and weights of categories."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data.index import Index, canonical_labels, union_labels
from ..exceptions import ForgetError
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from .base import Deferred, Exact, as_dense, move_classes, never_learned, refuse_above, remaining, subtract

# Sums that grow are made dense once one cell in this many is nonzero, up to a maximum number of cells.
_FILLED, _MOST_CELLS = 4, 1 << 24
# Minimum number of cells of an array that is pickled without its zeros.
_MIN_PACKED_CELLS = 1 << 12


@dataclass(frozen=True)
class Counts(Exact):
    """``total[c, j]``: the weighted sum of column ``j`` over the rows of class ``c``.

    ``missing`` is the weight of missing cells, None where there are none. With ``presence``, a cell adds at most the
    weight of its row, so that the remaining weight is the count of zeros. Tables of very many classes are scipy's
    ``csr_array``. Exact below 2^53 with whole weights.

    >>> a = Counts(np.array([2.0]), np.array([[1.0, 2.0]]), None)
    >>> a.merge(a).forget(a).total
    array([[1., 2.]])
    """

    rows: Floats
    total: Any
    missing: Any | None
    presence: bool = False

    @property
    def n_columns(self) -> int:
        return int(self.total.shape[1])

    def merge(self, other: Counts) -> Counts:
        missing = _add(self.missing, other.missing)
        return Counts(self.rows + other.rows, _sum(self.total, other.total), missing, self.presence)

    def absorb(self, other: Counts) -> Counts:
        """Merge large sums in place: the arrays of this object are reused, and it becomes invalid."""
        total = self.total
        if isinstance(total, np.ndarray):
            total = total if total.flags.writeable else total.copy()
        elif _FILLED * total.nnz > math.prod(total.shape) <= _MOST_CELLS:
            # Adding sparse sums creates new ones, which temporarily takes more memory than a dense array.
            total = total.toarray()
        else:
            return self.merge(other)
        _add_to(total, other.total)
        return replace(self, rows=self.rows + other.rows, total=total, missing=_add(self.missing, other.missing))

    def forget(self, other: Counts) -> Counts:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        missing, gone = self.missing, _or_none(other.missing)
        if gone is not None:
            if missing is None:
                raise never_learned("the number of missing cells")
            missing = subtract(missing, gone, "the number of missing cells")
        after = Counts(rows, subtract(self.total, other.total, "a count"), _or_none(missing), self.presence)
        if after.total[rows <= 0].sum() > 0:
            raise ForgetError(
                "these rows were not in the training data: a class would have counts but no rows; the model is "
                "unchanged; pass only rows that the model was trained on"
            )
        if after.missing is not None:
            refuse_above(after.missing, rows, self.rows, "the number of observed cells")
        if self.presence:
            refuse_above(
                _add(after.total, after.missing), rows, self.rows, "the number of cells not above the threshold"
            )
        return after

    without = forget

    def take(self, classes: Array) -> Counts:
        missing = None if self.missing is None else as_dense(self.missing[classes])
        return Counts(self.rows[classes], as_dense(self.total[classes]), missing, self.presence)

    def together(self) -> Counts:
        missing = None if self.missing is None else _column_sums(self.missing)
        return Counts(self.rows.sum(keepdims=True), _column_sums(self.total), missing, self.presence)

    def only(self, j: int) -> Counts:
        missing = None if self.missing is None else as_dense(self.missing[:, [j]])
        return Counts(self.rows, as_dense(self.total[:, [j]]), missing, self.presence)

    def discount(self, factor: float) -> Counts:
        missing = None if self.missing is None else self.missing * factor
        return Counts(self.rows * factor, self.total * factor, missing, self.presence)

    def reindex(self, positions: Array, size: int) -> Counts:
        missing = None if self.missing is None else move_classes(self.missing, positions, size)
        rows, total = move_classes(self.rows, positions, size), move_classes(self.total, positions, size)
        return Counts(rows, total, missing, self.presence)

    def observed(self) -> Floats:
        """Return the weight of the known cells, ``(classes, columns)``, or ``(classes, 1)`` if no cell is missing."""
        if self.missing is None:
            return self.rows[:, None]
        return remaining(self.rows[:, None], as_dense(self.missing))

    @property
    def cells(self) -> Any:
        """``total`` for lookups: ``CompressedRows`` for counts from a file."""
        return self.total

    def dense(self) -> Floats:
        """Return ``total`` as an array."""
        return as_dense(self.total)

    def __getstate__(self) -> dict[str, Any]:
        # Sums of a few texts in a million buckets are pickled without their zeros.
        return vars(self) | {"total": _packed(self.total)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        total = state["total"]
        self.__dict__.update(state, total=total.table() if isinstance(total, _Filled) else total)


class _Filled(NamedTuple):
    """The cells of a table that are not 0."""

    shape: tuple[int, ...]
    places: Array
    values: Array

    def table(self) -> Array:
        out = np.zeros(math.prod(self.shape), dtype=self.values.dtype)
        out[self.places] = self.values
        return out.reshape(self.shape)


def _packed(total: Any) -> Any:
    """Return the nonzero cells of an array that is mostly 0."""
    if not isinstance(total, np.ndarray) or total.size < _MIN_PACKED_CELLS or not total.flags.c_contiguous:
        return total
    cells = total.reshape(-1)
    places = np.flatnonzero(cells)
    if 2 * len(places) > total.size:
        return total
    return _Filled(total.shape, places.astype(np.int32 if total.size < 1 << 31 else np.int64), cells[places])


def _column_sums(values: Any) -> Floats:
    return np.asarray(values.sum(axis=0), dtype=np.float64).reshape(1, -1)


def _sum(a: Any, b: Any) -> Any:
    """Return the sum, as an array if a sparse table would be about as large; conversions would need more memory."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a + b
    more, less = (a, b) if isinstance(a, np.ndarray) or (not isinstance(b, np.ndarray) and a.nnz > b.nnz) else (b, a)
    if not (less.has_canonical_format and _is_full(more)):
        return more + less
    out = more.copy() if isinstance(more, np.ndarray) else more.toarray()
    _add_to(out, less)
    return out


def _add_to(out: Array, more: Any) -> None:
    if isinstance(more, np.ndarray) or not more.has_canonical_format:
        out += more
        return
    for row, (begin, end) in enumerate(pairwise(more.indptr.tolist())):
        out[row, more.indices[begin:end]] += more.data[begin:end]


def _is_full(total: Any) -> bool:
    """Return whether an array takes little more memory than a sparse table: 8 bytes per cell against 12 or more."""
    return isinstance(total, np.ndarray) or total.nnz * (8 + total.indices.itemsize) > 7 * math.prod(total.shape)


def _add(a: Any | None, b: Any | None) -> Any | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _or_none(missing: Any | None) -> Any | None:
    if missing is None:
        return None
    stored = missing if isinstance(missing, np.ndarray) else missing.data
    return missing if stored.any() else None


@dataclass(frozen=True)
class CompressedRows:
    """A sparse table in the layout of SciPy's ``csr_array``, with distinct columns in ascending order in every row.

    >>> rows = CompressedRows(np.array([0, 2, 2]), np.array([0, 3], dtype=np.int32), np.array([1.5, 2.0]), (2, 4))
    >>> rows.sum(axis=1), rows.size
    (array([3.5, 0. ]), 2)
    """

    indptr: Array
    indices: Array
    data: Floats
    shape: tuple[int, int]

    ndim: ClassVar[int] = 2
    has_sorted_indices: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return len(self.data)

    def sum(self, axis: int) -> Floats:
        """Return the sums over an axis, in the same order of addition as SciPy."""
        assert axis == 1
        out = np.zeros(self.shape[0])
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            out[filled] = np.add.reduceat(self.data, self.indptr[filled])
        return out

    def table(self) -> Any:
        """Return the table as a ``csr_array``."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


class StoredCounts(Deferred, Counts):
    """``Counts`` whose ``total`` is computed when first used."""

    plain = Counts

    @classmethod
    def of(cls, counts: Counts, total: CompressedRows) -> StoredCounts:
        """Return counts whose table is computed later."""
        known = {name: value for name, value in vars(counts).items() if name != "total"}
        return cls.deferred(lambda: {"total": total.table()}, **known, stored=total)

    @property
    def cells(self) -> Any:
        return vars(self).get("stored") or self.total


@dataclass(frozen=True)
class CategoryCounts(Exact):
    """``count[c, slot]`` is the weight of a category; column ``j`` has one slot for each of ``labels[j]``.

    Only categories that were seen have a slot, so merging gives the same statistics as counting all rows together.
    """

    rows: Floats
    labels: tuple[Array, ...]
    count: Floats

    @classmethod
    def of(cls, rows: Floats, labels: tuple[Array, ...], count: Floats) -> CategoryCounts:
        """Return statistics from counts that may have slots for unseen labels."""
        seen = count.any(axis=0)
        if seen.all():
            return cls(rows, tuple(map(canonical_labels, labels)), count)
        bounds = np.cumsum([len(column) for column in labels])[:-1]
        kept = tuple(
            canonical_labels(column[mask]) for column, mask in zip(labels, np.split(seen, bounds), strict=True)
        )
        return cls(rows, kept, count[:, seen])

    @property
    def n_columns(self) -> int:
        return len(self.labels)

    @cached_property
    def offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([len(column) for column in self.labels])]).astype(np.int64)

    def column(self, j: int) -> Floats:
        """Return the counts of one column, ``(classes, categories seen)``."""
        return self.count[:, self.offsets[j] : self.offsets[j + 1]]

    def observed(self) -> Floats:
        """Return the weight of the cells that were not missing, ``(classes, columns)``."""
        sums = [self.column(j).sum(axis=1) for j in range(len(self.labels))]
        return np.stack(sums, axis=1) if sums else np.zeros((len(self.rows), 0))

    def merge(self, other: CategoryCounts) -> CategoryCounts:
        labels = tuple(map(union_labels, self.labels, other.labels))
        a, b = self._spread(labels), other._spread(labels)
        return CategoryCounts(self.rows + other.rows, labels, a + b)

    def forget(self, other: CategoryCounts) -> CategoryCounts:
        left = self.without(other)
        return CategoryCounts.of(left.rows, left.labels, left.count)

    def without(self, other: CategoryCounts) -> CategoryCounts:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        for mine, theirs in zip(self.labels, other.labels, strict=True):
            new = Index(theirs).positions_in(Index(mine)) < 0
            if new.any():
                unknown_value = theirs[new].tolist()[0]
                raise ForgetError(
                    f"these rows were not in the training data: category {unknown_value!r} is unknown to the model; "
                    "the model is unchanged; pass only rows that the model was trained on"
                )
        after = CategoryCounts(
            rows, self.labels, subtract(self.count, other._spread(self.labels), "the count of a category")
        )
        refuse_above(after.observed(), rows, self.rows, "the number of missing cells")
        return after

    def take(self, classes: Array) -> CategoryCounts:
        return CategoryCounts(self.rows[classes], self.labels, self.count[classes])

    def together(self) -> CategoryCounts:
        return CategoryCounts(self.rows.sum(keepdims=True), self.labels, self.count.sum(axis=0, keepdims=True))

    def only(self, j: int) -> CategoryCounts:
        return CategoryCounts(self.rows, (self.labels[j],), self.column(j))

    def discount(self, factor: float) -> CategoryCounts:
        return CategoryCounts.of(self.rows * factor, self.labels, self.count * factor)

    def reindex(self, positions: Array, size: int) -> CategoryCounts:
        rows, count = move_classes(self.rows, positions, size), move_classes(self.count, positions, size)
        return CategoryCounts.of(rows, self.labels, count)

    def _spread(self, labels: tuple[Array, ...]) -> Floats:
        """Return the counts with the slots of other labels, which must include these."""
        if all(len(mine) == len(theirs) for mine, theirs in zip(self.labels, labels, strict=True)):
            return self.count
        begin = np.concatenate([[0], np.cumsum([len(column) for column in labels])])
        slots = [
            begin[j] + Index(mine).positions_in(Index(theirs))
            for j, (mine, theirs) in enumerate(zip(self.labels, labels, strict=True))
        ]
        places = np.concatenate(slots)
        assert (places >= np.repeat(begin[:-1], np.diff(self.offsets))).all(), "a label lost its place"
        out = np.zeros((len(self.rows), begin[-1]))
        out[:, places] = self.count
        return out
