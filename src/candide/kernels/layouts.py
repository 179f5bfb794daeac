"""How rows reach the kernels: dense in any layout, or compressed sparse rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Positions = NDArray[np.int32]

# Rows scored at once when only the answer is kept: the scores of a chunk stay in the cache.
CHUNK_ROWS = 1 << 15


@dataclass(frozen=True, slots=True)
class Dense:
    """Cells as they lie in memory: one two-dimensional array, or one array per column.

    Numbers for the kernels; columns of categories, before they are encoded, may hold objects.
    """

    values: Array | tuple[Array, ...]
    n_rows: int
    n_columns: int
    first_row: int = 0  # where a stretch of rows begins in the whole, for messages
    names: tuple[Any, ...] | None = None  # of the columns, for messages

    @classmethod
    def of(cls, values: Array | tuple[Array, ...], names: tuple[Any, ...] | None = None) -> Dense:
        if isinstance(values, tuple):
            return cls(values, len(values[0]) if values else 0, len(values), 0, names)
        return cls(values, values.shape[0], values.shape[1], 0, names)

    def name(self, j: int) -> str:
        """How a message speaks of a column."""
        return f"column {j if self.names is None else self.names[j]!r}"

    def column(self, j: int) -> Array:
        """One column, without a copy."""
        return self.values[j] if isinstance(self.values, tuple) else self.values[:, j]

    def rows(self, begin: int, end: int) -> Dense:
        """Rows ``begin`` to ``end``, without a copy."""
        if isinstance(self.values, tuple):
            columns = tuple(column[begin:end] for column in self.values)
            return Dense(columns, end - begin, self.n_columns, self.first_row + begin, self.names)
        return Dense(self.values[begin:end], end - begin, self.n_columns, self.first_row + begin, self.names)

    def take(self, rows: Array) -> Dense:
        """A copy of some rows."""
        if isinstance(self.values, tuple):
            return Dense(tuple(column[rows] for column in self.values), len(rows), self.n_columns)
        return Dense(self.values[rows], len(rows), self.n_columns)

    def floats(self) -> Floats:
        """The cells as one array of doubles."""
        if isinstance(self.values, tuple):
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in self.values])
        return np.asarray(self.values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Sparse:
    """Compressed sparse rows; ``indptr`` starts at 0, and what is stored is what the rows hold."""

    indptr: Array
    indices: Array
    values: Array
    n_columns: int
    first_row: int = 0

    @classmethod
    def of(cls, matrix: Any) -> Sparse:
        """From any scipy sparse matrix; the order of cells within a row does not matter."""
        matrix = matrix.tocsr()
        indptr, indices, values = matrix.indptr, matrix.indices, matrix.data
        if indptr.dtype != indices.dtype:
            indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        if not (indptr.flags.c_contiguous and indices.flags.c_contiguous):
            indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
        stored = int(indptr[-1])  # scipy may hold room for more
        return cls(indptr, indices[:stored], values[:stored], matrix.shape[1])

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def name(self, j: int) -> str:
        """How a message speaks of a column."""
        return f"column {j}"

    def rows(self, begin: int, end: int) -> Sparse:
        """Rows ``begin`` to ``end``; only the row pointers are copied."""
        indptr = self.indptr[begin : end + 1]
        stored = slice(int(indptr[0]), int(indptr[-1]))
        indices, values = self.indices[stored], self.values[stored]
        return Sparse(indptr - indptr[0], indices, values, self.n_columns, self.first_row + begin)

    def take(self, rows: Array) -> Sparse:
        """A copy of some rows."""
        return Sparse.of(self.matrix()[rows])

    def matrix(self) -> Any:
        """The same rows as scipy's type."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.indices, self.indptr), shape=(self.n_rows, self.n_columns))

    def floats(self) -> Floats:
        """The cells as one array of doubles."""
        return np.asarray(self.matrix().toarray(), dtype=np.float64)


Data = Dense | Sparse


class AnyRows(Protocol):
    """What can be cut into stretches."""

    @property
    def n_rows(self) -> int: ...

    def rows(self, begin: int, end: int) -> Self: ...


Rows = TypeVar("Rows", bound=AnyRows)


def chunks(data: Rows, size: int = CHUNK_ROWS) -> Iterator[tuple[int, int, Rows]]:
    """Stretches of rows with their bounds."""
    if data.n_rows <= size:
        yield 0, data.n_rows, data
        return
    for begin in range(0, data.n_rows, size):
        end = min(begin + size, data.n_rows)
        yield begin, end, data.rows(begin, end)
