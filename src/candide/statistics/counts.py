"""Weighted sums per class and column: presences, words, events."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import ForgetError
from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .base import as_dense, move_classes, never_learned, refuse_above, remaining, subtract

# Sums that grow are an array once one in so many cells is not 0, if these are not too many.
_FILLED, _MOST_CELLS = 4, 1 << 24
# Cells of an array that is pickled without its zeros.
_WORTH_PACKING = 1 << 12


@dataclass(frozen=True)
class Counts:
    """``total[c, j]``: the weighted sum of column ``j`` over the rows of class ``c``.

    ``missing`` is the weight of missing cells, None where there are none. With ``presence`` a cell adds at most its
    row's weight, so that the rest is a count too: that of the rows where it is off. Tables of very many classes are
    scipy's ``csr_array``. Exact below 2^53 with whole weights.

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
        """As ``merge``, in the arrays that this one has, which is then used up: for sums that fill the memory."""
        total = self.total
        if isinstance(total, np.ndarray):
            total = total if total.flags.writeable else total.copy()
        elif _FILLED * total.nnz > math.prod(total.shape) <= _MOST_CELLS:
            # Sparse sums are added into new ones, and take more room on the way than an array does for good.
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
                "these rows were never learned: a class would be left with counts but without rows; nothing was changed"
            )
        if after.missing is not None:
            refuse_above(after.missing, rows, self.rows, "the number of observed cells")
        if self.presence:
            refuse_above(_add(after.total, after.missing), rows, self.rows, "the number of cells that are off")
        return after

    without = forget

    def lost_digits(self, before: Counts) -> bool:
        return False

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
        """Weight of the cells that were seen, ``(classes, columns)`` or ``(classes, 1)`` where all columns agree."""
        if self.missing is None:
            return self.rows[:, None]
        return remaining(self.rows[:, None], as_dense(self.missing))

    @property
    def cells(self) -> Any:
        """``total`` to look up what is in it: of counts from a file, ``CompressedRows``."""
        return self.total

    def dense(self) -> Floats:
        """``total`` as an array."""
        return as_dense(self.total)

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "total": self.total, "missing": self.missing, "presence": self.presence}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Counts:
        return cls(**arrays)

    def __getstate__(self) -> dict[str, Any]:
        # Sums of a few texts in a million buckets travel between machines: what is 0 need not.
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
    """An array of which most is 0 as what is not."""
    if not isinstance(total, np.ndarray) or total.size < _WORTH_PACKING or not total.flags.c_contiguous:
        return total
    cells = total.reshape(-1)
    places = np.flatnonzero(cells)
    if 2 * len(places) > total.size:
        return total
    return _Filled(total.shape, places.astype(np.int32 if total.size < 1 << 31 else np.int64), cells[places])


def _column_sums(values: Any) -> Floats:
    return np.asarray(values.sum(axis=0), dtype=np.float64).reshape(1, -1)


def _sum(a: Any, b: Any) -> Any:
    """As an array where a sparse one would be about as large; what is made on the way may be as large as all else."""
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
    """Whether an array takes little more room, or less: 8 bytes a cell against 12 or more."""
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
    """A sparse table as scipy's ``csr_array`` holds it: columns ascend in every row, and none occurs twice.

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
        """Of every row; scipy adds in the same order."""
        assert axis == 1
        out = np.zeros(self.shape[0])
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):
            out[filled] = np.add.reduceat(self.data, self.indptr[filled])
        return out

    def table(self) -> Any:
        """The same as scipy's type."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)


class StoredCounts(Counts):
    """``Counts`` whose ``total`` is made when it is first used; then they are plain ones."""

    @classmethod
    def of(cls, counts: Counts, total: CompressedRows) -> StoredCounts:
        """The same counts with a table that is not made yet."""
        stored = object.__new__(cls)
        vars(stored).update({name: value for name, value in vars(counts).items() if name != "total"}, stored=total)
        return stored

    @property
    def cells(self) -> Any:
        return vars(self).get("stored") or self.total

    def load(self) -> None:
        """Makes the table, if it is not made yet."""
        stored = vars(self).get("stored")
        if stored is not None:
            vars(self)["total"] = stored.table()
        # Also for a second thread, which may be in here too.
        object.__setattr__(self, "__class__", Counts)
        vars(self).pop("stored", None)

    def __getattr__(self, name: str) -> Any:
        if name != "total":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.load()
        return object.__getattribute__(self, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.load()
        return object.__reduce_ex__(self, protocol)
