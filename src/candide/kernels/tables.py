"""Tables that kernels read and return, and the errors for cells that they refuse."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..lazy import dataclass
from .layouts import Data, Floats, Sparse


class CellFlags(NamedTuple):
    """Unusual cells that a kernel found; errors are raised later."""

    negative: bool  # some cell was below 0
    infinite: bool
    missing: bool


class Tally(NamedTuple):
    """Weighted sums of cells: ``(classes, columns)``, dense or, where most cells are empty, a scipy ``csr_array``."""

    total: Any
    missing: Any | None  # weight of missing cells, None if there were none
    negative: bool  # some cell was below 0
    infinite: bool  # some cell was infinite (and was left out)


class MomentTable(NamedTuple):
    """Weight, mean and scatter of cells: ``(classes, columns)`` each."""

    weight: Floats
    mean: Floats
    scatter: Floats


class Extent(NamedTuple):
    """Range and unusual cells of a column of numbers; rows are -1 if there is no such cell."""

    low: int
    high: int
    missing: int
    first_fraction: int
    first_infinite: int
    first_huge: int


@dataclass(frozen=True)
class PickTable:
    """Rows of scores, ``(positions, classes)``, of which some are picked and added up."""

    rows: Floats

    @cached_property
    def padded(self) -> Floats:
        """The rows with zeros up to a multiple of four: whole vectors for the native kernels."""
        out = np.zeros((len(self.rows), -(-self.rows.shape[1] // 4) * 4))
        out[:, : self.rows.shape[1]] = self.rows
        return out


@dataclass(frozen=True)
class LinearTable:
    """Scores that are linear in the cells: ``weights`` times the cell, or ``absent`` where it is missing.

    Without a threshold the cells are counts, and negative ones are refused, unless they are ``signed``.
    """

    weights: Floats  # (classes, columns)
    absent: Floats | None = None
    signed: bool = False

    @cached_property
    def by_column(self) -> tuple[PickTable, PickTable | None]:
        """Both tables as (columns, classes): kernels for sparse rows read the classes of a column together."""
        return PickTable(self.weights.T), None if self.absent is None else PickTable(self.absent.T)

    @cached_property
    def by_byte(self) -> PickTable:
        """For columns that are on or off: the sum of those that are on, for every byte that eight columns can make."""
        n_classes, n_columns = self.weights.shape
        columns = np.zeros((-(-n_columns // 8), 8, n_classes))
        columns.reshape(-1, n_classes)[:n_columns] = self.weights.T
        on = np.arange(256)[:, None] >> np.arange(8) & 1
        sums = np.zeros((len(columns), 256, n_classes))
        for place in range(8):
            sums += on[:, place, None] * columns[:, None, place]
        return PickTable(sums.reshape(-1, n_classes))


class LinearTerms(NamedTuple):
    """A linear table in the layout that a kernel reads, with the scores that every row has."""

    weights: Floats  # (classes, columns), for sparse rows (columns, classes) and padded
    absent: Floats | None
    base: Floats  # (classes,)


class SmoothedCounts(NamedTuple):
    """Counts of cells, and the pseudo-counts that are added once the row is left out: one, or one per count."""

    counts: Floats  # (classes, columns)
    pseudo: float | Floats


class FactoredTable(NamedTuple):
    """Linear weights of very many classes: ``shared[j] + slope[c]`` plus a sparse ``(columns, classes)`` remainder."""

    shared: Floats
    slope: Floats
    stored: Any


class NormalTable(NamedTuple):
    """A normal-inverse-gamma distribution per class and column: ``(classes, columns)`` each."""

    strength: Floats  # of the location, as a number of rows; NaN locations are columns without any observed cell
    location: Floats
    shape: Floats
    scale: Floats


class StudentTable(NamedTuple):
    """``constant - power · log1p(spread · (x - location)²)`` per class and column: ``(classes, columns)`` each."""

    location: Floats
    spread: Floats
    power: Floats
    constant: Floats


class LogSums(NamedTuple):
    """Sums of cells times logarithms. What meets the logarithm of 0 is kept apart: its sum of cells is a power of 0."""

    sums: Floats
    zeros: Floats
    cells: Floats  # the sum of each row


def infinite_cell(data: Data) -> InputError:
    """Return the error for the first infinite cell, with its row and column."""
    if isinstance(data, Sparse):
        at = int(np.flatnonzero(np.isinf(data.values))[0])
        row, column = int(np.searchsorted(data.indptr, at, side="right")) - 1, int(data.indices[at])
    else:
        row, column = (int(i[0]) for i in np.nonzero(np.isinf(data.floats())))
    return InputError(
        f"Input X contains infinity: {data.name(column)} is infinite at row {data.first_row + row}; expected finite "
        "values, or NaN for missing values; replace the value or drop the row"
    )


def negative_cell(data: Data, model: str = "a count model") -> InputError:
    """Return the error for the first count below 0, with its row and column."""
    x = data.matrix() if isinstance(data, Sparse) else data.floats()
    rows, columns = (x < 0).nonzero()
    row, column = int(rows[0]), int(columns[0])
    return InputError(
        f"Negative values in data passed to {model} (input X): {data.name(column)} is {x[row, column]:g} at row "
        f"{data.first_row + row}; expected counts of 0 or more; for hashed features pass alternate_sign=False"
    )


def refuse(data: Data, found: CellFlags, *, counts: bool = False) -> None:
    """Raise an error for infinite cells and, among counts, negative ones."""
    if found.infinite:
        raise infinite_cell(data)
    if counts and found.negative:
        raise negative_cell(data)


class _SparseErrors:
    """Context that turns the errors of kernels about malformed sparse rows into an ``InputError``.

    Kernels check every row just before they read its cells. A class, as contexts made of generators take a microsecond.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, IndexError):
            raise InputError(
                f"the sparse matrix is malformed: {error}; row pointers must be increasing and column indices within "
                "the shape; rebuild it, for example with scipy.sparse.csr_array(X.tocoo())"
            ) from error


sparse_errors = _SparseErrors()
