"""Corrections of the cells of single columns: the formula by hand, when they are used, and what leaves rows out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from properties.tables import repeated_values

from candide import NaiveBayes
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Floats
from candide.stacking import cell_regression as module
from candide.stacking.binning import ColumnBinning, TableBinning
from candide.stacking.calibration import log_softmax
from candide.stacking.cell_regression import FOLDS, CellRegression, fit_cell_regression, folds_of
from candide.stacking.views import BinnedRows

KERNELS = Kernels()
N_CLASSES = 3


def cells() -> TableBinning:
    number = ColumnBinning(0, np.ones(4), cuts=np.array([-1.0, 0.0, 0.5]))
    category = ColumnBinning(1, np.array([5.0, 1.0, 9.0]), labels=np.array(["a", "b", "c"]))
    return TableBinning((number, category))


def rows(n_rows: int = 300) -> tuple[BinnedRows, Array, Floats, Floats]:
    """Rows with missing numbers and unseen categories, their classes, weights and left-out log posteriors."""
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(n_rows, 1))
    numbers[::11] = np.nan
    codes = np.column_stack([rng.integers(0, 9, n_rows), rng.integers(0, 3, n_rows)]).astype(np.int32)
    codes[::50, 1] = 4
    before = log_softmax(rng.normal(size=(n_rows, N_CLASSES)))
    return BinnedRows(codes, numbers), rng.integers(0, N_CLASSES, n_rows), rng.uniform(0.5, 2.0, n_rows), before


def by_hand(view: CellRegression, some: Array, case: tuple[BinnedRows, Array, Floats, Floats]) -> Floats:
    """The corrections from some of the rows, by dense matrices."""
    binned, classes, weight, before = case
    slots, posterior = view.slots(binned, KERNELS)[some], np.exp(before[some])
    X = np.zeros((len(some), int(view.offsets[-1])))
    for j in range(2):
        X[np.arange(len(some)), slots[:, j]] = 1.0
    own = weight[some]
    curvature = own * (posterior * (1 - posterior)).mean(axis=1)
    residual = own[:, None] * (np.eye(N_CLASSES)[classes[some]] - posterior)
    found = np.linalg.solve(X.T @ (curvature[:, None] * X) + module._RIDGE * np.eye(X.shape[1]), X.T @ residual)
    count = own @ X
    for begin, end in zip(view.offsets[:-1], view.offsets[1:], strict=True):
        found[begin:end] -= count[begin:end] @ found[begin:end] / count[begin:end].sum()
    return np.where(count[:, None] > 0, found, 0.0)


def test_corrections_are_a_newton_step_with_and_without_each_fold() -> None:
    case = rows()
    view = fit_cell_regression(cells(), 10, *case, KERNELS)
    folds = folds_of(case[0])
    assert set(folds) == set(range(FOLDS))
    everything = np.arange(len(folds))
    np.testing.assert_allclose(view.tables[0], by_hand(view, everything, case), rtol=1e-9, atol=1e-11)
    for fold in range(FOLDS):
        rest = by_hand(view, np.flatnonzero(folds != fold), case)
        np.testing.assert_allclose(view.tables[1 + fold], rest, rtol=1e-9, atol=1e-11)


def test_scores_are_sums_of_the_cells_that_are_given() -> None:
    case = rows(40)
    view = fit_cell_regression(cells(), 10, *case, KERNELS)
    binned, classes, weight, _ = case
    slots = view.slots(binned, KERNELS)
    np.testing.assert_allclose(view.scores(binned, KERNELS), view.tables[0][slots].sum(axis=1), rtol=1e-12)
    masked = binned._replace(codes=np.where([[False, True]], np.int32(-1), binned.codes), known=binned.codes)
    np.testing.assert_allclose(view.scores(masked, KERNELS), view.tables[0][slots[:, 0]], rtol=1e-12)
    # A masked row is left out of the fold of the whole row; a row that was not learned loses nothing.
    own = np.where(np.arange(40) % 2, weight, 0.0)
    fold = np.where(own > 0, 1 + folds_of(binned), 0)
    np.testing.assert_allclose(view.left_out(masked, classes, own, KERNELS), view.tables[fold, slots[:, 0]], rtol=1e-12)
    parts = view.contributions(binned.take(slice(1)), np.array([0]), KERNELS)
    np.testing.assert_allclose(parts.scores.sum(axis=0), view.scores(binned.take(slice(1)), KERNELS)[0], rtol=1e-12)
    assert not parts.rest.any()


def test_rare_categories_share_a_correction() -> None:
    case = rows()
    view = fit_cell_regression(cells(), 1, *case, KERNELS)
    table = view.tables[0][view.offsets[1] :]
    np.testing.assert_array_equal(table[0], table[4])  # "a" and unseen ones; "c" is the most frequent
    np.testing.assert_array_equal(table[1], table[4])
    assert not np.array_equal(table[2], table[4])


def view_of(model: Any) -> CellRegression | None:
    views = model.model_.classifier.fitted.views.views
    return next((view for view in views if isinstance(view, CellRegression)), None)


def log_loss(model: Any, X: Any, y: Any) -> float:
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean())


def test_values_that_repeat_have_cells_of_their_own_and_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    model, new = NaiveBayes().fit(*repeated_values()), repeated_values(seed=1)
    view = view_of(model)
    assert view is not None
    cuts = view.cells.columns[1].cuts
    assert cuts is not None
    assert ((cuts > 200) & (cuts <= 201)).sum() == 1
    monkeypatch.setattr(module, "LEAST_ROWS", 10**9)
    without = NaiveBayes().fit(*repeated_values())
    assert view_of(without) is None
    assert log_loss(model, *new) < log_loss(without, *new) - 0.005


def test_not_used_where_naive_bayes_is_right_or_rows_are_few_or_in_groups() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4_500)
    normal = pd.DataFrame(rng.normal(y[:, None], 1.0, (4_500, 3)))
    assert view_of(NaiveBayes().fit(normal, y)) is None
    X, labels = repeated_values(3_000)
    assert view_of(NaiveBayes().fit(X, labels)) is None
    X, labels = repeated_values()
    assert view_of(NaiveBayes().fit(X, labels, groups=np.arange(len(labels)) % 40)) is None


def test_left_out_log_loss_agrees_with_that_of_new_rows() -> None:
    model = NaiveBayes().fit(*repeated_values())
    assert abs(model.loo_.log_loss - log_loss(model, *repeated_values(6_000, seed=5))) < 0.02
