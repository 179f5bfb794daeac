"""Numeric columns as weights of small cells, from which densities, histograms and cuts are computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernels, counting
from ..kernels.counting import Keys
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..lazy import dataclass
from .base import Exact, move_classes, refuse_above, subtract

# Maximum number of occupied cells of a binade over all classes; beyond it, pairs of cells are merged.
CELLS_PER_BINADE = 1024


class Cells(NamedTuple):
    """The occupied cells of a column, ascending; a cell contains the numbers from ``low`` to ``high``."""

    low: Floats
    high: Floats
    count: Floats  # type: ignore[assignment]  # weight, (cells, classes); overrides a method of tuples


@dataclass(frozen=True)
class Grid(Exact):
    """Weights by class and cell, where a cell is given by the leading bits of a number.

    Numbers with the same sign and exponent (a binade) share a cell if they differ only in their last ``shift`` bits.
    The initial shift is 0, so every number has its own cell. It increases only if more than ``CELLS_PER_BINADE`` cells
    are occupied, which keeps the resolution for large offsets, scales, heavy tails and mixtures. The shift is always
    the smallest one within the limit, so it does not depend on the order of the rows or on how they are divided into
    batches. Forgetting rows is exact; the shift of a binade does not decrease until the binade is empty. Missing
    numbers and rows of weight 0 are ignored.

    >>> from candide.kernels import Kernels
    >>> X, classes = Dense.of(np.array([[0.5], [2.0], [2.0], [np.nan]])), np.array([0, 0, 1, 1], dtype=np.int32)
    >>> grid = Grid.observe(X, classes, None, 2, Kernels())
    >>> grid.column(0)
    Cells(low=array([0.5, 2. ]), high=array([0.5, 2. ]), count=array([[1., 0.],
           [1., 1.]]))
    >>> grid.merge(grid).forget(grid).observed()
    array([[2.],
           [1.]])
    """

    rows: Floats
    offsets: Array  # first cell of each column, and the total number of cells
    key: Keys  # key of the smallest number of each cell, as in ``binades``
    shift: Array
    count: Any  # weight, a csr_array (cells, classes), because most cells are empty with many classes

    @classmethod
    def observe(cls, data: Dense, classes: Positions, weight: Floats | None, n_classes: int, kernels: Kernels) -> Grid:
        rows = np.bincount(classes, weight, minlength=n_classes).astype(np.float64, copy=False)
        return cls(rows, *kernels.grid(data, classes, weight, n_classes, CELLS_PER_BINADE))

    @property
    def n_columns(self) -> int:
        return len(self.offsets) - 1

    def column(self, j: int) -> Cells:
        """Return the cells of one column."""
        here = slice(self.offsets[j], self.offsets[j + 1])
        return Cells(*counting.cell_bounds(self.key[here], self.shift[here]), self._dense(here))

    def _dense(self, cells: slice) -> Floats:
        """Return the weights of some cells, ``(cells, classes)``; for few cells, SciPy is ten times slower."""
        n_cells, n_classes = cells.stop - cells.start, len(self.rows)
        begins = self.count.indptr[cells.start : cells.stop + 1]
        stored = slice(begins[0], begins[-1])
        places = np.repeat(np.arange(n_cells) * n_classes, np.diff(begins)) + self.count.indices[stored]
        weight = np.bincount(places, self.count.data[stored], minlength=n_cells * n_classes)
        return weight.astype(np.float64, copy=False).reshape(n_cells, n_classes)

    def observed(self) -> Floats:
        """Return the weight of the observed cells, ``(classes, columns)``."""
        column = np.repeat(self._cells().column, np.diff(self.count.indptr))
        slots = self.count.indices * np.int64(self.n_columns) + column
        size = len(self.rows) * self.n_columns
        sums = np.bincount(slots, self.count.data, minlength=size).astype(np.float64, copy=False)
        return sums.reshape(len(self.rows), self.n_columns)

    def merge(self, other: Grid) -> Grid:
        cells, mine, theirs = self._side_by_side(other, CELLS_PER_BINADE)
        return self._of(self.rows + other.rows, cells, mine + theirs)

    def forget(self, other: Grid) -> Grid:
        return self.without(other)._occupied()

    def without(self, other: Grid) -> Grid:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        cells, mine, theirs = self._side_by_side(other, None)
        after = self._of(rows, cells, subtract(mine, theirs, "the weight of a cell"))
        refuse_above(after.observed(), rows, self.rows, "the number of missing cells")
        return after

    def take(self, classes: Array) -> Grid:
        return self._of(self.rows[classes], self._cells(), self.count[:, classes])

    def together(self) -> Grid:
        sums = self.count.sum(axis=1).reshape(-1, 1)
        return self._of(self.rows.sum(keepdims=True), self._cells(), _sparse(sums))

    def only(self, j: int) -> Grid:
        here = slice(self.offsets[j], self.offsets[j + 1])
        offsets = self.offsets[j : j + 2] - self.offsets[j]
        return Grid(self.rows, offsets, self.key[here], self.shift[here], self.count[here])

    def discount(self, factor: float) -> Grid:
        return self._of(self.rows * factor, self._cells(), self.count * factor)._occupied()

    def reindex(self, positions: Array, size: int) -> Grid:
        count = move_classes(self.count.T.tocsr(), positions, size).T.tocsr()
        return self._of(move_classes(self.rows, positions, size), self._cells(), count)._occupied()

    def _of(self, rows: Floats, cells: counting.Cells, count: Any) -> Grid:
        offsets = np.searchsorted(cells.column, np.arange(self.n_columns + 1))
        return Grid(rows, offsets, cells.key, cells.shift, count)

    def _cells(self) -> counting.Cells:
        return counting.Cells(np.repeat(np.arange(self.n_columns), np.diff(self.offsets)), self.key, self.shift)

    def _occupied(self) -> Grid:
        """Return the grid without empty cells."""
        count = self.count.copy()
        count.eliminate_zeros()
        kept = np.flatnonzero(np.diff(count.indptr))
        return self._of(self.rows, self._cells().take(kept), _adjacent(count, kept))

    def _side_by_side(self, other: Grid, limit: int | None) -> tuple[counting.Cells, Any, Any]:
        """Return common cells, with the larger shift of each binade, and the weights of both grids in these cells."""
        cells = counting.Cells(*(np.concatenate(pair) for pair in zip(self._cells(), other._cells(), strict=True)))
        order = np.lexsort((cells.key, cells.column))
        joint, ordered = counting.merge_cells(cells.take(order), limit)
        place = np.empty_like(ordered)
        place[order] = ordered
        every = np.arange(len(joint.key))
        mine, theirs = place[: len(self.key)], place[len(self.key) :]
        return (
            joint,
            _adjacent(self.count, np.searchsorted(mine, every)),
            _adjacent(other.count, np.searchsorted(theirs, every)),
        )


def _adjacent(count: Any, begins: Array) -> Any:
    """Return the sums of consecutive rows of a table, from each of ``begins`` to the next."""
    indptr = np.append(count.indptr[begins], count.indptr[-1]).astype(count.indptr.dtype)
    out = _sparse((count.data.copy(), count.indices.copy(), indptr), (len(begins), count.shape[1]))
    out.sum_duplicates()
    return out


def _sparse(*content: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(*content)
