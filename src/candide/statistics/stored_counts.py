"""Counts from a file: their sparse table becomes one of scipy when somebody calculates with it.

To import scipy takes longer than to answer a question about a text, and that reads a few cells.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .counts import Counts


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
