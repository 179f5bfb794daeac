"""Corrections of the scores of single cells: one Newton step of logistic regression from stacked scores.

Stacking multiplies all scores of a column by one weight. With many rows, each cell of a column (a frequent value, a
range of numbers, a category) can have a separate correction. Let p be the leave-one-out stacked posteriors, R =
indicators of the classes - p, X the indicators of cells, and D the mean of p (1 - p) over the classes for each row.
Then

    corrections = (Xᵀ D X + ridge)⁻¹ Xᵀ R,

which for two classes is a Newton step. Training rows are scored with corrections fitted without the fold of the row.
The fold of a row depends only on its hash, so any row can be left out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..families.columns.histogram import cuts_between, equal_frequency, merged, occupied
from ..families.table_likelihood import TableLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..lazy import dataclass
from ..statistics.grid import Cells
from .binning import ColumnBinning, TableBinning
from .training_rows import mean_row_weight
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, View, ViewContributions
from .weights import WeightProblem

if TYPE_CHECKING:
    from .stacked_views import StackedViews

# Minimum number of rows for corrections of single cells, and number of rows per cell.
LEAST_ROWS, _ROWS_PER_CELL = 4_000, 32
# Maximum number of cells, maximum number of ranges per column, and minimum number of rows of a value with its own cell.
_MOST_CELLS, _RANGES, _REPEATS = 1_024, 128, 10.0
# If there are too few rows for this many cells per column, corrections do not improve on the models of the columns.
_FEWEST_CELLS = 8
FOLDS = 5
# Ridge, as a number of rows of curvature 1.
_RIDGE = 0.5
# Minimum curvature, for rows whose class is certain.
_LEAST_CURVATURE = 1e-5
# Every column has two additional codes: missing and unseen.
_N_EXTRA_CODES = 2
# The ridge of the stacking weights of this view.
RIDGE = 4.0


@dataclass(frozen=True)
class CellRegression(FieldsOnlyPickle):
    """Corrections of the scores of classes, one for each cell of each column.

    The corrections of a column have mean 0 over the training rows, so that a column that is not given adds 0. Like
    stacking weights, they are not updated when rows are learned or forgotten, but at the next refit.
    """

    name: str
    cells: TableBinning  # cells of the columns of the codes; categories have the same codes
    tables: Floats  # (1 + folds, slots, classes): fitted on all rows, and without each fold

    @cached_property
    def offsets(self) -> Array:
        """First slot of each column, and the number of slots."""
        return np.concatenate([[0], np.cumsum(self.cells.sizes + _N_EXTRA_CODES)])

    def slots(self, binned: BinnedRows, kernels: Kernels) -> Positions:
        """Return the slots of rows, ``(rows, columns)``; -1 where a cell is not given."""
        slots = binned.codes + self.offsets[:-1].astype(np.int32)
        numbers = self.cells.number_columns
        if len(numbers):
            columns = [self.cells.columns[i] for i in numbers]
            found = kernels.cell_codes(Dense.of(binned.numbers), [c.cuts for c in columns if c.cuts is not None])
            missing = np.array([column.size for column in columns], dtype=np.int32)
            slots[:, numbers] = np.where(found < 0, missing, found) + self.offsets[:-1][numbers].astype(np.int32)
        return np.where(binned.codes < 0, np.int32(-1), slots)

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        return self._sums(self.slots(binned, kernels), np.zeros(len(binned.codes), dtype=np.int64))

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        """Score rows with corrections fitted without their fold; rows of weight 0 with those fitted on all rows."""
        return self._sums(self.slots(binned, kernels), np.where(weight > 0, 1 + folds_of(binned), 0))

    def _sums(self, slots: Positions, table: Array) -> Floats:
        out, given = np.zeros((len(slots), self.tables.shape[2])), slots >= 0
        for j in range(slots.shape[1]):
            out += np.where(given[:, [j]], self.tables[table, slots[:, j]], 0.0)
        return out

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        slots = self.slots(binned, kernels)[0]
        given = np.flatnonzero(slots >= 0)
        return ViewContributions(given, self.tables[0, slots[given]], np.zeros(self.tables.shape[2]))

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        return self


def folds_of(binned: BinnedRows) -> Array:
    """Return the fold of each row, a function of its cells before masking."""
    return (binned.hashes() % np.uint64(FOLDS)).astype(np.int64)


def with_refitted_cells(
    stacked: StackedViews, likelihood: TableLikelihood, problem: WeightProblem, kernels: Kernels
) -> tuple[StackedViews, WeightProblem]:
    """Return the views with a cell regression if it improves them, and the problem of fitting their weights.

    It is added if the leave-one-out log-loss, with weights shared by all classes, decreases by more than a standard
    error. If rows are left out in blocks, folds by hash are not possible, and the views are returned unchanged.
    """
    training = problem.training
    n_rows = int(training.multiplicity.sum())  # including copies
    if n_rows < LEAST_ROWS or training.blocks is not None or not stacked.views:
        return stacked, problem
    made = make_cells(likelihood, stacked.binning, stacked.row_weight, n_rows)
    if made is None:
        return stacked, problem
    classes, weight = training.batch.classes, training.case_weight / mean_row_weight(training)
    binned = stacked.binning.transform(training.batch.data, kernels)
    view = fit_cell_regression(*made, binned, classes, weight, problem.log_posterior, kernels)
    left_out = view.left_out(binned, classes, weight, kernels)
    return stacked.with_view_if_better(view, RIDGE, left_out, problem) or (stacked, problem)


def make_cells(
    likelihood: TableLikelihood, binning: TableBinning, row_weight: float, n_rows: int
) -> tuple[TableBinning, int] | None:
    """Return the cells of all columns from their statistics; None if there are too many columns for the rows.

    Also return the maximum number of cells of a column, to which categories are limited in fitting.
    """
    statistics = likelihood.statistics
    grids = {c.column: statistics.grid.column(statistics.place(c.column)) for c in binning.columns if c.is_number}
    least = _REPEATS * row_weight
    needs = np.array(
        [
            _n_cells_without_limit(grids[c.column], least) if c.is_number else min(c.size, _RANGES)
            for c in binning.columns
        ],
        dtype=np.int64,
    )
    limits = np.arange(1, needs.max(initial=1) + 1)
    fit = limits[np.minimum(needs[:, None], limits).sum(axis=0) <= min(_MOST_CELLS, n_rows // _ROWS_PER_CELL)]
    if not len(fit) or fit[-1] < min(_FEWEST_CELLS, len(limits)):
        return None
    most = int(fit[-1])
    columns = tuple(_column(c, grids[c.column], most, least) if c.is_number else c for c in binning.columns)
    return replace(binning, columns=columns), most


def _repeated(cells: Cells, least: float) -> Array:
    """Return the cells with a single value of at least this weight, the largest first."""
    weight = cells.count.sum(axis=1)
    found = np.flatnonzero((cells.low == cells.high) & (weight >= least))
    return np.asarray(found[np.argsort(-weight[found], kind="stable")])


def _n_cells_without_limit(cells: Cells, least: float) -> int:
    """Return the number of cells of a numeric column without a limit."""
    return min(len(cells.low), _RANGES + 2 * len(_repeated(cells, least)))


def _column(column: ColumnBinning, cells: Cells, most: int, least: float) -> ColumnBinning:
    cells = occupied(cells)
    ranges = min(_RANGES, max(1, most // 2))
    # A value with its own cell divides the range around it in two.
    alone = np.sort(_repeated(cells, least)[: max(0, most - ranges) // 2])
    few = cells
    if len(cells.low) > most:
        few = merged(cells, equal_frequency(cells.count.sum(axis=1), ranges, alone))
    return ColumnBinning(column.column, few.count.sum(axis=1), cuts_between(few))


def fit_cell_regression(
    cells: TableBinning, most: int, binned: BinnedRows, classes: Array, weight: Floats, before: Floats, kernels: Kernels
) -> CellRegression:
    """Fit corrections to the left-out log posteriors ``before``, on all rows and without each fold.

    The ``most`` most frequent categories of a column have separate corrections.
    """
    n_classes = before.shape[1]
    n_slots = int((cells.sizes + _N_EXTRA_CODES).sum())
    view = CellRegression("cells of single columns", cells, np.zeros((1 + FOLDS, n_slots, n_classes)))
    own, n_features = _features(cells, most)
    slots, folds = view.slots(binned, kernels), folds_of(binned).astype(np.int32)
    features = np.ascontiguousarray(own[slots], dtype=np.int32)
    posterior = np.exp(before)
    curvature = np.maximum((posterior * (1.0 - posterior)).mean(axis=1), _LEAST_CURVATURE)
    shape = FOLDS, n_features, n_features
    products = kernels.joint_counts(features, features, folds, weight * curvature, shape)
    residual = -posterior
    residual[np.arange(len(classes)), classes] += 1.0
    residual *= weight[:, None]
    at = (features + (folds * n_features)[:, None]).ravel()

    def by_feature(numbers: Floats) -> Floats:
        counts = np.bincount(at, np.repeat(numbers, features.shape[1]), minlength=FOLDS * n_features)
        return np.asarray(counts.reshape(FOLDS, n_features), dtype=np.float64)

    slopes = np.stack([by_feature(own) for own in residual.T], axis=2)
    counts = by_feature(weight)
    first = np.searchsorted(np.cumsum(cells.sizes + _N_EXTRA_CODES), np.arange(n_slots), side="right")
    column = np.empty(n_features, dtype=np.int64)
    column[own] = first
    out = [-1, *range(FOLDS)]
    tables = [_corrections(products, slopes, counts, column, fold)[own] for fold in out]
    return replace(view, tables=np.stack(tables))


def _features(cells: TableBinning, most: int) -> tuple[Array, int]:
    """Return the feature of each slot, and the number of features; rare categories share a feature."""
    parts, n_features = [], 0
    for column in cells.columns:
        codes = np.arange(column.size + _N_EXTRA_CODES)
        if not column.is_number and column.size > most:
            rare = np.argsort(-column.count, kind="stable")[most:]
            codes[rare] = column.size + 1  # as unseen categories
            codes = np.unique(codes, return_inverse=True)[1]
        parts.append(n_features + codes)
        n_features += int(codes.max()) + 1
    return np.concatenate(parts), n_features


def _corrections(products: Floats, slopes: Floats, counts: Floats, column: Array, fold: int) -> Floats:
    """Return the corrections, ``(features, classes)``, fitted without a fold (-1: on all rows)."""
    from scipy.linalg import cho_factor, cho_solve

    kept = np.arange(FOLDS) != fold
    matrix, count = products[kept].sum(axis=0), counts[kept].sum(axis=0)
    matrix[np.diag_indices(len(matrix))] += _RIDGE
    found = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False), slopes[kept].sum(axis=0))
    n_columns = int(column.max()) + 1
    total = np.maximum(np.bincount(column, count, minlength=n_columns), 1e-300)
    for k in range(found.shape[1]):
        found[:, k] -= (np.bincount(column, count * found[:, k], minlength=n_columns) / total)[column]
    return np.where(count[:, None] > 0, found, 0.0)
