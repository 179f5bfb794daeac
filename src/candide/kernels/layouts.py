"""Layouts in which kernels read rows: dense arrays, compressed sparse rows, and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._core import Texts

if TYPE_CHECKING:
    from .tokens import TokenFeatures

Array = NDArray[Any]
Floats = NDArray[np.float64]
Positions = NDArray[np.int32]

# Number of rows scored at once when only the prediction is kept: the scores of a chunk stay in the cache.
CHUNK_ROWS = 1 << 15

# Starting more threads for hashing pays off only for very large texts.
_HASH_THREADS = 2


@dataclass(frozen=True, slots=True)
class Dense:
    """Dense rows: one two-dimensional array, or one array per column.

    Numbers for the kernels; columns of categories may contain objects before they are encoded.
    """

    values: Array | tuple[Array, ...]
    n_rows: int
    n_columns: int
    first_row: int = 0  # position of the first row in the whole data, for messages
    names: tuple[Any, ...] | None = None  # of the columns, for messages

    is_sparse: ClassVar[bool] = False  # read by the native module

    @classmethod
    def of(cls, values: Array | tuple[Array, ...], names: tuple[Any, ...] | None = None) -> Dense:
        if isinstance(values, tuple):
            return cls(values, len(values[0]) if values else 0, len(values), 0, names)
        return cls(values, values.shape[0], values.shape[1], 0, names)

    def name(self, j: int) -> str:
        """Return the name of a column for messages."""
        return f"column {j if self.names is None else self.names[j]!r}"

    def column(self, j: int) -> Array:
        """Return one column without a copy."""
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

    def compressed(self) -> Sparse:
        """Return the same rows in sparse form; only missing cells and cells other than 0 are stored."""
        from scipy.sparse import csr_array

        return Sparse.of(csr_array(self.floats()))

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

    is_sparse: ClassVar[bool] = True  # read by the native module
    names: ClassVar[None] = None  # sparse columns have none

    @classmethod
    def of(cls, matrix: Any) -> Sparse:
        """Convert a scipy sparse matrix; the order of cells within a row does not matter."""
        matrix = matrix.tocsr()
        indptr, indices, values = matrix.indptr, matrix.indices, matrix.data
        if indptr.dtype != indices.dtype:
            indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        if not (indptr.flags.c_contiguous and indices.flags.c_contiguous):
            indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
        stored = int(indptr[-1])  # SciPy may allocate more
        return cls(indptr, indices[:stored], values[:stored], matrix.shape[1])

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def name(self, j: int) -> str:
        """Return the name of a column for messages."""
        return f"column {j}"

    def rows(self, begin: int, end: int) -> Sparse:
        """Return rows ``begin`` to ``end``; only the row pointers are copied."""
        indptr = self.indptr[begin : end + 1]
        stored = slice(int(indptr[0]), int(indptr[-1]))
        indices, values = self.indices[stored], self.values[stored]
        return Sparse(indptr - indptr[0], indices, values, self.n_columns, self.first_row + begin)

    def take(self, rows: Array) -> Sparse:
        """A copy of some rows."""
        return Sparse.of(self.matrix()[rows])

    def compressed(self) -> Sparse:
        return self

    def matrix(self) -> Any:
        """Return the same rows as a scipy sparse array."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.indices, self.indptr), shape=(self.n_rows, self.n_columns))

    def floats(self) -> Floats:
        """The cells as one array of doubles."""
        return np.asarray(self.matrix().toarray(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class TextRows:
    """A text or a missing value for each row, without a copy; a table of one column."""

    texts: Texts
    first_row: int = 0  # position of the first row in the whole data, for messages
    asked_again: bool = False  # whether the rows of tokens will soon be read again
    # Rows of tokens that were counted, for the next reader of the texts.
    counted: list[tuple[TokenFeatures, Sparse]] = field(default_factory=list, repr=False, compare=False)

    n_columns: ClassVar[int] = 1

    @classmethod
    def packed(cls, utf8: Array, offsets: Array, missing: Array) -> TextRows:
        """Create rows from Arrow's layout of strings."""
        return cls(Texts.of_buffers(utf8, offsets, ~missing))

    @classmethod
    def all_missing(cls, n_rows: int) -> TextRows:
        """Return rows that are all missing."""
        return cls(Texts.of_list([None] * n_rows)[0])

    @property
    def n_rows(self) -> int:
        return len(self.texts)

    def rows(self, begin: int, end: int) -> TextRows:
        """Return rows ``begin`` to ``end`` without copying their texts."""
        return TextRows(self.texts.rows(begin, end), self.first_row + begin)

    def take(self, rows: Array) -> TextRows:
        """Return some rows without copying their texts."""
        counted = [(feature_set, tokens.take(rows)) for feature_set, tokens in self.counted]
        return TextRows(self.texts.take(np.ascontiguousarray(rows, dtype=np.int64)), counted=counted)

    def counted_by(self, feature_sets: list[TokenFeatures]) -> list[Sparse] | None:
        """Return the token counts if exactly these feature sets were counted."""
        return (
            [tokens for _, tokens in self.counted]
            if feature_sets == [feature_set for feature_set, _ in self.counted]
            else None
        )

    def arrays(self) -> dict[str, Array]:
        """Return a copy of all texts as valid UTF-8, in the form that ``packed`` accepts."""
        utf8, offsets = self.texts.packed()
        return {"utf8": utf8, "offsets": offsets, "missing": self.texts.missing()}

    def stored(self, rows: Array) -> TextRows:
        """Return a copy of some rows that does not reference the original buffers."""
        some = self.take(rows)
        return replace(TextRows.packed(**some.arrays()), counted=some.counted)

    def sizes(self) -> Array:
        """Return the size of each text in bytes."""
        return self.texts.sizes(_HASH_THREADS)

    def hashes(self) -> Array:
        """Return a 63-bit hash of each text, which is the same on all machines."""
        return self.texts.hashes(_HASH_THREADS)

    def __getstate__(self) -> Any:
        return self.arrays(), self.first_row

    def __setstate__(self, state: Any) -> None:
        arrays, first_row = state
        object.__setattr__(self, "texts", TextRows.packed(**arrays).texts)
        object.__setattr__(self, "first_row", first_row)
        object.__setattr__(self, "asked_again", False)
        object.__setattr__(self, "counted", [])


Data = Dense | Sparse


class AnyRows(Protocol):
    """Rows of which ranges can be taken."""

    @property
    def n_rows(self) -> int: ...

    def rows(self, begin: int, end: int) -> Self: ...


Rows = TypeVar("Rows", bound=AnyRows)


def chunks(data: Rows, size: int = CHUNK_ROWS) -> Iterator[tuple[int, int, Rows]]:
    """Yield ranges of rows with their bounds."""
    if data.n_rows <= size:
        yield 0, data.n_rows, data
        return
    for begin in range(0, data.n_rows, size):
        end = min(begin + size, data.n_rows)
        yield begin, end, data.rows(begin, end)
