"""Ridge regression on the cells of random grids: interactions of many columns, for tables of thousands of rows.

A grid selects a random subset of the columns, divides numeric columns into ranges with a random width and offset, and
keeps categories. A row is in one cell of each grid. With X the indicators of cells, divided by the square root of the
number of grids, and Y the indicators of the classes minus the class frequencies,

    weights = (Xᵀ X + ridge)⁻¹ Xᵀ Y,

solved by conjugate gradients. Cells with a single row have no weight. Training rows are scored with weights fitted
without the fold of the row. The fold of a row depends only on its hash, so equal rows are left out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.counting import Hashes, mix64
from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Floats, Positions
from ..kernels.scoring import GridCells
from ..lazy import dataclass
from .binning import ColumnBinning, MergedCodes, TableBinning, merge_codes
from .calibration import log_softmax
from .cell_regression import FOLDS, folds_of
from .effects import Effects, fit_effects
from .training_rows import TrainingRows
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, View, ViewContributions
from .weights import WeightProblem, fit_weights

if TYPE_CHECKING:
    from .stacked_views import StackedViews

# Minimum and maximum number of rows, and maximum number of columns (those with the most information about the class).
LEAST_ROWS, _MOST_ROWS = 4_000, 100_000
_MOST_COLUMNS = 64
_GRIDS = 200
# Share of the columns in a grid, in addition to the most informative one.
_SHARE_TAKEN = 0.65
_RIDGE = 0.1
_STEPS = 20
# The settings are compared on some of the rows, with fewer steps, by a held-out fold. Fewer grids are not used for
# this, because finer grids would then seem better.
_TRIAL_ROWS, _TRIAL_STEPS = 10_000, 10
# Minimum relative reduction of the log-loss of this fold; a smaller one is not worth the time.
_LEAST_GAIN = 0.01
# Maximum number of categories of a column with separate cells.
_LEVELS = 60
# The ratio of the range to the standard deviation of a uniform distribution, which scales ranks like values.
_UNIFORM = 3.46
# Number of bins of a column for effects of columns and pairs, and maximum number of rows that they are fitted on.
_BINS, _EFFECT_ROWS = 10, 20_000
# The ridge of the stacking weights of this view.
RIDGE = 4.0
NAME = "random grids of columns"


class GridSetting(NamedTuple):
    """Mean width of the ranges, in standard deviations, and how it decreases with the information of a column.

    The width of a column is divided by ``least + slope · information``, with information relative to the maximum.
    """

    width: float
    least: float
    slope: float


_SETTINGS = GridSetting(1.5, 1.0, 0.0), GridSetting(0.6, 0.4, 2.6)


@dataclass(frozen=True)
class GridRegression(FieldsOnlyPickle):
    """Weights of the cells of random grids, and the left-out scores of the rows they were fitted on.

    A row with a missing column has scores of 0. Like stacking weights, the weights are not updated when rows are
    learned or forgotten, but at the next refit. The stored scores of a forgotten row are removed immediately.
    """

    name: str
    columns: Array  # among those of the codes
    coarse: Array  # uint8 (grids, slots): the range or category of each code; 0 if the column is not in the grid
    keys: Array  # uint32 (cells,), ascending
    weights: Array  # float32 (cells, classes)
    rows: Hashes  # ascending hashes of the rows it was fitted on
    row_scores: Array  # float32 (rows, classes), with weights fitted without the fold of the row
    sizes: Array  # number of codes of each column, including missing and unseen
    effects: Effects

    @cached_property
    def words(self) -> Array:
        """Random words that sum to the keys of cells, uint32 ``(grids, slots)``."""
        return _words(self.coarse, self.sizes)

    @cached_property
    def cells(self) -> GridCells:
        return GridCells.of(self.keys, self.weights)

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        given = self._is_complete(binned)
        if given.all():
            return kernels.grid_scores(_slots(binned.codes, self.columns, self.sizes), self.words, self.cells)
        out = np.zeros((len(given), self.weights.shape[1]))
        if given.any():
            out[given] = self.scores(binned.take(given), kernels)
        return out

    def _is_complete(self, binned: BinnedRows) -> Array:
        """Return which rows have all columns of the grids."""
        return np.asarray(binned.codes[:, self.columns].min(axis=1, initial=0) >= 0)

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        """Score rows with weights fitted without their fold; rows not used in the fit, with the final weights."""
        out = self.scores(binned, kernels)
        if len(self.rows):
            hashes = binned.hashes()
            place = np.minimum(np.searchsorted(self.rows, hashes), len(self.rows) - 1)
            known = (self.rows[place] == hashes) & (weight > 0) & self._is_complete(binned)
            out[known] = self.row_scores[place[known]]
        return out

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        return self.effects.contributions(binned.codes, self.scores(binned, kernels)[0])

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        if sign > 0:
            return self
        kept = ~np.isin(self.rows, cases.binned.hashes())
        return self if kept.all() else replace(self, rows=self.rows[kept], row_scores=self.row_scores[kept])

    def without_rows(self) -> GridRegression:
        """Return the view without the hashes and scores of training rows."""
        return replace(self, rows=self.rows[:0], row_scores=self.row_scores[:0])


def _slots(codes: Positions, columns: Array, sizes: Array) -> Positions:
    """Return the codes of some columns, numbered consecutively, ``(rows, columns)``."""
    return np.ascontiguousarray(codes[:, columns] + (np.cumsum(sizes) - sizes), dtype=np.int32)


def _words(coarse: Array, sizes: Array) -> Array:
    """Return a random word for each range of each column and grid; 0 if the column is not in the grid."""
    column = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    grid = np.arange(len(coarse), dtype=np.uint64)[:, None]
    mixed = mix64((((grid << np.uint64(16)) | column) << np.uint64(8)) | coarse)
    return np.where(coarse > 0, mixed >> np.uint64(32), 0).astype(np.uint32)


def with_grids(
    stacked: StackedViews, information: Floats, everything: TrainingRows, rows: Array, problem: WeightProblem,
    kernels: Kernels, *, always: bool,
) -> tuple[StackedViews, WeightProblem]:  # fmt: skip
    """Return the views with a regression on grids if it improves them, and the problem of fitting their weights.

    Stacking weights are fitted on ``rows`` of ``everything``. If rows are left out in blocks, folds by hash are not
    possible, and the views are returned unchanged.
    """
    if int(everything.multiplicity.sum()) < LEAST_ROWS or everything.blocks is not None or not stacked.views:
        return stacked, problem
    before = problem.log_posterior
    view = fit_grid_regression(
        stacked.binning, information, stacked.cases(everything, kernels), before, rows, kernels, always=always
    )
    if view is None:
        return stacked, problem
    some = stacked.cases(problem.training, kernels)
    left_out = view.left_out(some.binned, some.classes, some.case_weight, kernels)
    found = stacked.with_view_if_better(view, RIDGE, left_out, problem, always=always)
    if found is None:
        return stacked, problem
    wider, more = found
    gain = (more.log_posterior - before)[np.arange(len(some.classes)), some.classes]
    loss = max(float(np.average(gain, weights=some.case_weight)), 0.0)
    without = problem.shared_weights.with_unused_view(stacked.n_single + 1 + len(stacked.views))
    return replace(wider, weights_without_grids=without, loss_without_grids=loss), more


@single_threaded_blas()
def fit_grid_regression(
    binning: TableBinning, information: Floats, cases: LabeledRows, before: Floats, judged: Array, kernels: Kernels,
    *, always: bool = False,
) -> GridRegression | None:  # fmt: skip
    """Fit the weights of cells; None if they hardly reduce the log-loss of a held-out fold.

    Parameters
    ----------
    binning : TableBinning
        The columns of the codes.
    information : array of shape (columns,)
        Information of each column about the class.
    cases : LabeledRows
        All training rows that were kept.
    before : array of shape (judged rows, classes)
        Left-out log posteriors by the other views, which are combined with each setting in the comparison.
    judged : array of int
        The positions of these rows among the cases.
    always : bool, default False
        Whether weights are fitted regardless of the reduction.
    """
    hashes = cases.binned.hashes()
    if len(hashes) > _MOST_ROWS:
        some = np.flatnonzero(hashes < np.partition(hashes, _MOST_ROWS)[_MOST_ROWS])
        place = np.full(len(hashes), -1)
        place[some] = np.arange(len(some))
        inside = place[judged] >= 0
        cases, hashes, before, judged = cases.take(some), hashes[some], before[inside], place[judged[inside]]
    n_classes, folds = before.shape[1], folds_of(cases.binned)
    columns = np.sort(np.argsort(-information, kind="stable")[:_MOST_COLUMNS])
    own = [binning.columns[j] for j in columns]
    sizes = np.array([column.size + 2 for column in own])
    slots = _slots(cases.binned.codes, columns, sizes)
    draw = GridDraw(own, information[columns])

    def problem(setting: GridSetting, some: Array) -> tuple[Array, _Problem]:
        coarse = draw.coarse(setting)
        return coarse, _Problem.of(
            kernels.grid_keys(slots[some], _words(coarse, sizes)), cases.take(some), n_classes, kernels
        )

    few = np.arange(min(len(judged), _TRIAL_ROWS)) * len(judged) // max(1, min(len(judged), _TRIAL_ROWS))
    held = folds[judged[few]] == 0
    if not held.any() or held.all():
        return None
    tried = cases.take(judged[few][held])
    alone = _log_probability(tried, before[few][held])

    def gain(setting: GridSetting) -> Floats:
        trial = problem(setting, judged[few])[1]
        found = trial.predict(held, trial.solve(~held, _TRIAL_STEPS))
        return np.asarray(_log_probability(tried, before[few][held], found) - alone)

    gains, weight = [gain(setting) for setting in _SETTINGS], tried.case_weight
    best = int(np.argmax([weight @ own for own in gains]))
    mean = float(np.average(gains[best], weights=weight))
    error = float(np.sqrt(weight**2 @ (gains[best] - mean) ** 2) / weight.sum())
    if mean <= max(error, -_LEAST_GAIN * float(np.average(alone, weights=weight))) and not always:
        return None
    setting, everything = _SETTINGS[best], np.arange(len(hashes))
    coarse, whole = problem(setting, everything)
    left_out = np.empty((len(hashes), n_classes), dtype=np.float32)
    for fold in range(FOLDS):
        out = folds == fold
        if out.any():
            left_out[out] = whole.predict(out, whole.solve(~out, _STEPS))
    weights = whole.solve(np.ones(len(hashes), dtype=bool), _STEPS)
    rows, first = np.unique(hashes, return_index=True)
    view = GridRegression(
        NAME, columns, coarse, whole.keys, weights, rows, left_out[first], sizes, _no_effects(own, columns, n_classes)
    )  # fmt: skip
    explained = cases.subsample(_EFFECT_ROWS)
    binned, weight = explained.binned, explained.case_weight
    found = fit_effects(view.effects.merged, view.scores(binned, kernels), binned.codes, weight, kernels)
    return replace(view, effects=found)


def _log_probability(cases: LabeledRows, *views: Floats) -> Floats:
    """Return the log probability of the class of each row, with stacking weights fitted on these rows."""
    shown, rows = np.stack(views), np.arange(len(cases.classes))
    ridge, least = np.full(len(views), RIDGE), np.zeros(len(views))
    fitted = fit_weights(shown, cases.classes, cases.case_weight, ridge, least, by_class=False)
    return np.asarray(log_softmax(fitted.scores(shown))[rows, cases.classes])


class GridDraw:
    """Draws random grids, which depend on the columns but not on the rows."""

    def __init__(self, columns: Sequence[ColumnBinning], information: Floats) -> None:
        self._places = [_places(column) for column in columns]
        top = max(float(information.max(initial=0.0)), 1e-300)
        # Rounded, because the last digits depend on the order of summation.
        self._information = np.round(np.maximum(information, 0.0) / top, 3)
        self._best = int(np.argmax(self._information)) if len(columns) else 0

    def coarse(self, setting: GridSetting) -> Array:
        """Return the range or category of each code in each grid, uint8 ``(grids, slots)``."""
        rng, n_columns = np.random.default_rng(5), len(self._places)
        shape = _GRIDS, n_columns
        width = rng.gamma(2.0, setting.width, shape) / (setting.least + setting.slope * self._information)
        shift, by_rank = rng.random(shape), rng.random(shape) < 0.5
        taken = rng.random(shape) < _SHARE_TAKEN
        taken[:, self._best] = True
        parts = []
        for j, places in enumerate(self._places):
            if isinstance(places, tuple):
                chosen = np.where(by_rank[:, [j]], places[0], places[1])
                ranges = np.floor(chosen / width[:, [j]] + shift[:, [j]])
                # Places ascend, so the number of a range is the number of preceding changes.
                steps = np.diff(ranges, axis=1, prepend=ranges[:, :1]) > 0
                own = np.cumsum(steps, axis=1) + 1
            else:
                own = np.tile(places + 1, (_GRIDS, 1))
            last = own.max(axis=1, keepdims=True, initial=0)
            own = np.hstack([own, last + 1, last + 2])
            parts.append(np.where(taken[:, [j]], own, 0))
        return np.hstack(parts).astype(np.uint8)


def _places(column: ColumnBinning) -> tuple[Floats, Floats] | Array:
    """Return positions of the codes of numbers, by rank and by value, and codes of categories with rare ones merged."""
    if column.cuts is None:
        return np.asarray(merge_codes([column.count], [False], 1, _LEVELS)[0][:-2])
    share = column.count / max(float(column.count.sum()), 1e-300)
    ranks = _UNIFORM * (np.cumsum(share) - share / 2)
    cuts = column.cuts
    if len(cuts) < 2:
        return ranks, ranks
    unit = max(abs(float(cuts[0])), abs(float(cuts[-1]))) or 1.0  # squares of large numbers may overflow
    cuts = cuts / unit
    middle = np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:]])
    mean = float(share @ middle)
    deviation = float(np.sqrt(share @ (middle - mean) ** 2)) or 1.0
    return ranks, (middle - mean) / deviation


class _Problem(NamedTuple):
    """The least squares problem: indicators of cells, and of classes."""

    rows: Any  # sparse (rows, cells), ones
    n_grids: int
    keys: Array
    target: Array  # float32 (rows, classes)
    scale: Array  # float32 (rows, 1) roots of the weights
    kernels: Kernels

    @classmethod
    def of(cls, keys: Array, cases: LabeledRows, n_classes: int, kernels: Kernels) -> _Problem:
        n_rows, n_grids = keys.shape
        found, cell, count = np.unique(keys, return_inverse=True, return_counts=True)
        kept = count >= 2
        new = (np.cumsum(kept) - 1).astype(np.int32)
        held = kept[cell].reshape(n_rows, n_grids)
        ends = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        rows = _indicators(new[cell.reshape(n_rows, n_grids)[held]], ends, int(kept.sum()))
        share = np.bincount(cases.classes, cases.case_weight, minlength=n_classes) / cases.case_weight.sum()
        target = np.tile(-share, (n_rows, 1))
        target[np.arange(n_rows), cases.classes] += 1.0
        scale = np.sqrt(cases.case_weight / cases.case_weight.mean())[:, None]
        return cls(
            rows, n_grids, found[kept], target.astype(np.float32), scale.astype(np.float32), kernels
        )  # fmt: skip

    def predict(self, some: Array, weights: Array) -> Array:
        """Return the sum of the weights of the cells of each row."""
        return self._times(self.rows[some], weights)

    def _times(self, rows: Any, factor: Array) -> Array:
        return self.kernels.indicator_product(rows.indptr, rows.indices, factor)

    def solve(self, used: Array, steps: int) -> Array:
        """Return the weights of the cells fitted on some of the rows, float32 ``(cells, classes)``."""
        scale = self.scale[used] / np.float32(np.sqrt(self.n_grids))
        rows = self.rows[used]
        by_cell = rows.T.tocsr()
        residual = self.scale[used] * self.target[used]
        at, way = np.zeros_like(residual), residual.copy()
        length = (residual * residual).sum(axis=0)
        enough = 1e-6 * length
        for _ in range(steps):
            bent = scale * self._times(rows, self._times(by_cell, scale * way)) + np.float32(_RIDGE) * way
            far = length / np.maximum((way * bent).sum(axis=0), 1e-30)
            at += far * way
            residual -= far * bent
            before, length = length, (residual * residual).sum(axis=0)
            if (length <= enough).all():
                break
            way = residual + (length / np.maximum(before, 1e-30)) * way
        return self._times(by_cell, scale * at) / np.float32(np.sqrt(self.n_grids))


def _indicators(columns: Array, ends: Array, n_columns: int) -> Any:
    """Return a sparse matrix of ones in these columns of each row."""
    from scipy.sparse import csr_array

    ones = np.ones(len(columns), dtype=np.int8)
    return csr_array((ones, columns, ends.astype(np.int32)), shape=(len(ends) - 1, n_columns))


def _no_effects(own: Sequence[ColumnBinning], columns: Array, n_classes: int) -> Effects:
    counts, is_number = [column.count for column in own], [column.is_number for column in own]
    merged, nothing = MergedCodes(columns, merge_codes(counts, is_number, _BINS)), np.zeros((0, n_classes))
    return Effects(merged, nothing, np.zeros((0, 2), dtype=np.int64), nothing)
