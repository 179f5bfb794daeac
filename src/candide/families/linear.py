"""Likelihoods whose logarithm is linear in the cells: Bernoulli, multinomial, complement, Poisson."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, Sparse
from ..kernels.tables import FactoredTable, LinearTable, Tally, infinite_cell, negative_cell
from ..lazy_dataclass import dataclass
from ..statistics import Counts
from .base import Batch, Scores
from .inputs import Cells, Inputs
from .parts import Parts, cells_of

# Small enough that no product with a finite cell overflows, large enough that differences survive.
_SHRINK = 2.0**-600


@dataclass(frozen=True)
class Score:
    """One linear function of the cells per class."""

    table: LinearTable | FactoredTable
    base: Floats
    absent: FactoredTable | None = None  # what a missing cell adds; a linear table knows that itself

    def of(self, data: Data, offset: Floats | float, threshold: float | None, kernels: Kernels) -> Floats:
        base = self.base + offset
        if not isinstance(self.table, FactoredTable):
            return kernels.linear_scores(data, self.table, base, threshold)
        scores = kernels.factored_scores(data, self.table, base, threshold)
        holes = None if self.absent is None else _holes(data)
        if holes is not None and self.absent is not None:
            scores += kernels.factored_scores(holes, self.absent, np.zeros(len(base)), None)
        return scores

    def own(self, data: Data, classes: Positions, threshold: float | None, kernels: Kernels) -> Floats:
        """Every row under its own class."""
        if isinstance(self.table, FactoredTable):
            # Very many classes: gather what is stored for each cell's own class.
            return self._own_factored(data, classes, threshold)
        return kernels.own_linear_scores(data, classes, self.table, self.base, threshold)

    def _own_factored(self, data: Data, classes: Positions, threshold: float | None) -> Floats:
        cells = data if isinstance(data, Sparse) else Sparse.of(csr_from(data))
        row = np.repeat(np.arange(cells.n_rows), np.diff(cells.indptr))
        own, values, missing = classes[row], np.asarray(cells.values, dtype=np.float64), np.isnan(cells.values)
        amount = np.where(missing, 0.0, values if threshold is None else values > threshold)
        assert isinstance(self.table, FactoredTable)
        added = _factored_cells(self.table, cells.indices, own) * amount
        if self.absent is not None and missing.any():
            added += _factored_cells(self.absent, cells.indices, own) * missing
        return self.base[classes] + np.bincount(row, added, minlength=cells.n_rows)

    def each(self, data: Data, threshold: float | None) -> Floats:
        """Row ``i`` under class ``i``."""
        assert isinstance(self.table, LinearTable)
        x = data.floats()
        missing = np.isnan(x)
        cells = np.where(missing, 0.0, x if threshold is None else x > threshold) * self.table.weights
        if self.table.absent is not None:
            cells = np.where(missing, self.table.absent, cells)
        return np.asarray(cells.sum(axis=1) + self.base)

    def parts(self, data: Data, threshold: float | None) -> tuple[Array, Floats, Floats]:
        """Columns of one row's cells, what each adds, ``(cells, classes)``, and what is added for all others.

        Of a dense row every cell is there, so that one which is off adds something too; of a sparse one it is the rest
        that has all cells off, and a cell adds what it is above that.
        """
        columns, x = cells_of(data)
        missing = np.isnan(x)
        amount = np.where(missing, 0.0, x if threshold is None else x > threshold)[:, None]
        if isinstance(self.table, FactoredTable):
            classes = np.arange(len(self.base), dtype=np.int32)
            cells = _factored_rows(self.table, columns, classes) * amount
            if self.absent is not None and missing.any():
                cells += _factored_rows(self.absent, columns, classes) * missing[:, None]
            return columns, cells, self.base
        cells, absent = self.table.weights[:, columns].T * amount, self.table.absent
        if absent is None:
            return columns, cells, self.base
        if isinstance(data, Sparse):
            return columns, np.where(missing[:, None], absent[:, columns].T, cells), self.base
        return columns, cells - absent[:, columns].T, np.zeros_like(self.base)

    @cached_property
    def shrunk(self) -> Score:
        return self.times(_SHRINK)

    def times(self, factor: float) -> Score:
        table, base = self.table, self.base * factor
        if isinstance(table, FactoredTable):
            return Score(_times(table, factor), base, None if self.absent is None else _times(self.absent, factor))
        absent = None if table.absent is None else table.absent * factor
        return Score(LinearTable(table.weights * factor, absent, table.signed), base)

    def dense(self) -> tuple[Floats, Floats | None]:
        """Weights, and what a missing cell adds, ``(classes, columns)`` each."""
        if isinstance(self.table, LinearTable):
            return self.table.weights, self.table.absent
        return _written_out(self.table), None if self.absent is None else _written_out(self.absent)


def _factored_cells(table: FactoredTable, columns: Array, classes: Positions) -> Floats:
    return np.asarray(table.shared[columns] + table.slope[classes] + np.asarray(table.stored[columns, classes]).ravel())


def _factored_rows(table: FactoredTable, columns: Array, classes: Positions) -> Floats:
    """Cells of some columns under some classes, ``(columns, classes)``."""
    stored = np.asarray(table.stored[columns].toarray()[:, classes])
    return np.asarray(table.shared[columns][:, None] + table.slope[classes] + stored)


def csr_from(data: Data) -> Any:
    """The cells that are not 0, missing ones among them."""
    from scipy.sparse import csr_array

    return csr_array(data.floats())


def _times(table: FactoredTable, factor: float) -> FactoredTable:
    return FactoredTable(table.shared * factor, table.slope * factor, table.stored * factor)


def _written_out(table: FactoredTable) -> Floats:
    return np.asarray(table.shared + table.slope[:, None] + table.stored.toarray().T)


class LinearScores(NamedTuple):
    """Scores as linear functions of inputs, up to a term that is the same for all classes."""

    inputs: Inputs
    finite: Score
    limits: tuple[Score, ...] = ()

    def times(self, factor: float) -> LinearScores:
        """Divided by a temperature, say: what outgrows all else still does."""
        return self._replace(finite=self.finite.times(factor))

    def plus(self, offset: Floats) -> LinearScores:
        """With something added for each class."""
        return self._replace(finite=replace(self.finite, base=self.finite.base + offset))


def _holes(data: Data) -> Sparse | None:
    """1 where a cell is missing; None if no cell is."""
    if isinstance(data, Sparse):
        missing = np.isnan(data.values)
        return Sparse(data.indptr, data.indices, missing.astype(np.float64), data.n_columns) if missing.any() else None
    from scipy.sparse import csr_array

    missing = np.isnan(data.floats())
    return Sparse.of(csr_array(missing.astype(np.float64))) if missing.any() else None


class LinearLikelihood:
    """Scores of a linear family; subclasses say how it samples and what its parameters are called."""

    finite: Score
    order: Score | None  # powers of 1/ε: probabilities that are 0
    threshold: float | None = None

    @property
    def is_limit(self) -> bool:
        return self.order is not None

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        return self.finite.of(data, offset, self.threshold, kernels)

    def limits(self, data: Data, kernels: Kernels) -> list[Floats]:
        return [] if self.order is None else [self.order.of(data, 0.0, self.threshold, kernels)]

    def scores_beside(
        self, other: LinearLikelihood, batch: Batch, offset: Floats, kernels: Kernels
    ) -> tuple[Floats, Scores]:
        """Scores under all classes, and every row under its own class by another likelihood."""
        table, own_table = self.finite.table, other.finite.table
        rows, base = (batch.data, batch.classes), self.finite.base + offset
        # Dense rows that are on or off are scored faster by their bytes.
        if not (
            isinstance(batch.data, Sparse) and isinstance(table, LinearTable) and isinstance(own_table, LinearTable)
        ):
            return self.scores(batch.data, offset, kernels), other.own(*rows, kernels)
        finite, values = kernels.left_out_linear(*rows, table, base, own_table, other.finite.base, self.threshold)
        order = None if other.order is None else other.order.own(batch.data, batch.classes, self.threshold, kernels)
        return finite, Scores(values, () if order is None else (order,))

    def own(self, data: Data, classes: Positions, kernels: Kernels) -> Scores:
        """Every row under its own class."""
        return self._scores(lambda score: score.own(data, classes, self.threshold, kernels))

    def each(self, data: Data, kernels: Kernels) -> Scores:
        return self._scores(lambda score: score.each(data, self.threshold))

    def parts(self, data: Data, kernels: Kernels) -> Parts:
        columns, finite, rest = self.finite.parts(data, self.threshold)
        found = Parts(columns, finite).and_rest(rest)
        if self.order is None:
            return found
        _, order, rest = self.order.parts(data, self.threshold)
        return found._replace(limits=(np.vstack([order, rest]),))

    def _scores(self, evaluate: Callable[[Score], Floats]) -> Scores:
        return Scores(evaluate(self.finite), () if self.order is None else (evaluate(self.order),))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self.finite.shrunk.of(data, 0.0, self.threshold, kernels)

    def linear(self, *, squares: bool) -> LinearScores:
        """The scores as they are."""
        return LinearScores(Cells(self.threshold), self.finite, () if self.order is None else (self.order,))

    def log_base(self, data: Data) -> Floats:
        return np.zeros(data.n_rows)


def observe_counts(
    batch: Batch, kernels: Kernels, model: str, threshold: float | None = None, *, presence: bool = False
) -> Counts:
    """The tally of a batch; counts must be finite and, without a threshold, not negative."""
    tally = kernels.tally(batch.data, batch.classes, batch.weight, batch.n_classes, threshold)
    if tally.infinite:
        raise infinite_cell(batch.data)
    if threshold is None:
        check_counts(tally, batch.data, model)
    return Counts(batch.row_weight(), tally.total, tally.missing, presence)


def check_counts(tally: Tally, data: Data, model: str) -> None:
    if tally.negative:
        raise negative_cell(data, model)
    stored = tally.total if isinstance(tally.total, np.ndarray) else tally.total.data
    if not np.isfinite(stored).all():
        raise InputError(f"counts in X are too large for {model}: their sum overflows; rescale X")


def sparse_parts(total: Any, alpha: float | Floats) -> tuple[Any, Floats, Floats]:
    """A sparse table by columns, the pseudo-count of each stored cell, and that of each column."""
    by_column = total.tocsc()
    by_column.eliminate_zeros()
    pseudo = np.broadcast_to(np.asarray(alpha, dtype=np.float64), total.shape[1:]).copy()
    return by_column, np.repeat(pseudo, np.diff(by_column.indptr)), pseudo


def factored(shared: Floats, slope: Floats, like: Any, stored: Floats) -> FactoredTable:
    """A factored table whose sparse part has the cells of ``like`` (by columns) with other values."""
    from scipy.sparse import csr_array

    parts = (stored, like.indices.astype(np.int64), like.indptr.astype(np.int64))
    return FactoredTable(shared, slope, csr_array(parts, shape=like.shape[::-1]))
