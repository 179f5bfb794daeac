"""Regression on random grids: the formula by hand, when it is used, rows left out, and what exports say of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from properties.tables import clusters
from sklearn.datasets import make_classification

import candide
from candide import NaiveBayes
from candide.exceptions import ParameterError
from candide.kernels import Kernels
from candide.kernels.layouts import Array
from candide.stacking import grid_regression as module
from candide.stacking.binning import ColumnBinning, MergedCodes, TableBinning
from candide.stacking.cell_regression import folds_of
from candide.stacking.effects import fit_effects
from candide.stacking.grid_regression import GridRegression, fit_grid_regression
from candide.stacking.views import BinnedRows, LabeledRows
from candide.storage.errors import InvalidContent
from candide.storage.validation.tables import check_view

KERNELS = Kernels()
X, Y = clusters()
NEW, NEW_Y = clusters(1_000, seed=1)
HALF = len(X) // 2


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes(absent="missing").fit(X, Y)


@pytest.fixture(scope="module")
def without() -> NaiveBayes:
    return NaiveBayes(refine=False).fit(X, Y)


def view_of(model: Any) -> GridRegression | None:
    views = model.model_.classifier.fitted.views.views
    return next((view for view in views if isinstance(view, GridRegression)), None)


def log_loss(model: Any, X: Any, y: Any) -> float:
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean())


def binning() -> TableBinning:
    number = ColumnBinning(0, np.ones(4), cuts=np.array([-1.0, 0.0, 0.5]))
    category = ColumnBinning(1, np.array([5.0, 1.0, 9.0]), labels=np.array(["a", "b", "c"]))
    return TableBinning((number, category))


def cases(n_rows: int = 200) -> LabeledRows:
    """Rows with missing numbers and unseen categories; all rows that are equal have one hash, hence one fold."""
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, 5, n_rows), rng.integers(0, 5, n_rows)]).astype(np.int32)
    weight = rng.uniform(0.5, 2.0, n_rows)
    binned = BinnedRows(codes, rng.random((n_rows, 1)))
    return LabeledRows(binned, rng.integers(0, 3, n_rows).astype(np.int32), weight, weight)


def fitted(rows: LabeledRows) -> GridRegression:
    before = np.full((len(rows.classes), 3), -np.log(3.0))
    view = fit_grid_regression(
        binning(), np.array([1.0, 0.5]), rows, before, np.arange(len(before)), KERNELS, always=True
    )
    assert view is not None
    return view


def by_hand(view: GridRegression, rows: LabeledRows, some: Array) -> Array:
    """The scores of all rows by ridge regression on some of them, with dense matrices."""
    slots = rows.binned.codes + np.array([0, 6], dtype=np.int32)
    keys = view.words[:, slots].sum(axis=2, dtype=np.uint32).T
    indicator = (keys[:, :, None] == view.keys).sum(axis=1) / np.sqrt(len(view.coarse))
    weight = rows.case_weight / rows.case_weight.mean()
    share = np.bincount(rows.classes, weight) / weight.sum()
    target = np.eye(3)[rows.classes] - share
    own = weight[some, None]
    square = indicator[some].T @ (own * indicator[some]) + module._RIDGE * np.eye(len(view.keys))
    return np.asarray(indicator @ np.linalg.solve(square, indicator[some].T @ (own * target[some])))


def test_weights_are_a_ridge_regression_with_and_without_each_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEPS", 300)
    rows = cases()
    view, folds, weight = fitted(rows), folds_of(rows.binned), np.ones(len(rows.classes))
    everything = by_hand(view, rows, np.arange(len(folds)))
    np.testing.assert_allclose(view.scores(rows.binned, KERNELS), everything, rtol=0, atol=2e-3)
    left_out = view.left_out(rows.binned, rows.classes, weight, KERNELS)
    for fold in np.unique(folds):
        rest = by_hand(view, rows, np.flatnonzero(folds != fold))
        np.testing.assert_allclose(left_out[folds == fold], rest[folds == fold], rtol=0, atol=2e-3)


def test_cells_of_a_single_row_have_no_weight() -> None:
    rows = cases(60)
    view = fitted(rows)
    slots = rows.binned.codes + np.array([0, 6], dtype=np.int32)
    keys, count = np.unique(KERNELS.grid_keys(slots, view.words), return_counts=True)
    np.testing.assert_array_equal(view.keys, keys[count >= 2])


def test_rows_that_lack_a_column_score_0_and_forgotten_rows_leave() -> None:
    rows = cases()
    view = fitted(rows)
    masked = rows.binned._replace(
        codes=np.where(np.arange(200)[:, None] < [0, 100], np.int32(-1), rows.binned.codes), known=rows.binned.codes
    )
    ones = np.ones(200)
    for scores in (view.scores(masked, KERNELS), view.left_out(masked, rows.classes, ones, KERNELS)):
        assert not scores[:100].any()
        assert scores[100:].any(axis=1).all()
    # Rows that are not in it are scored by the weights of all rows.
    scores = view.scores(rows.binned, KERNELS)
    np.testing.assert_array_equal(view.left_out(rows.binned, rows.classes, 0 * ones, KERNELS), scores)
    rest = view.updated(rows.take(slice(50)), -1.0, KERNELS)
    assert isinstance(rest, GridRegression)
    assert not np.isin(rows.binned.hashes()[:50], rest.rows).any()
    np.testing.assert_array_equal(rest.left_out(rows.binned, rows.classes, ones, KERNELS)[:50], scores[:50])
    assert view.updated(rows, 1.0, KERNELS) is view


def test_it_finds_interactions_and_left_out_rows_tell_how_well(model: NaiveBayes, without: NaiveBayes) -> None:
    assert view_of(model) is not None
    assert view_of(without) is None
    new = log_loss(model, NEW, NEW_Y)
    assert new < log_loss(without, NEW, NEW_Y) - 0.03
    assert model.loo_ is not None
    assert abs(model.loo_.log_loss - new) < 0.03
    left_out = model.leave_one_out(X, Y)
    assert abs(-left_out[np.arange(len(Y)), np.searchsorted(model.classes_, Y)].mean() - new) < 0.04


@pytest.mark.slow
def test_not_used_where_nothing_is_gained_or_rows_are_few_or_in_groups() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4_500)
    assert view_of(NaiveBayes().fit(rng.normal(y[:, None], 1.0, (4_500, 3)), y)) is None
    assert view_of(NaiveBayes().fit(X[:3_000], Y[:3_000])) is None
    assert view_of(NaiveBayes(order=1).fit(X, Y)) is None
    assert view_of(NaiveBayes().fit(X, Y, groups=np.arange(len(Y)) % 40)) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"refine": "yes"}, "refine is 'yes'"), ({"refine": True, "order": 1}, "refine=True needs"),
     ({"refine": True, "stacking": None}, "refine=True needs")],
)  # fmt: skip
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        NaiveBayes(**settings).fit(X[:50], Y[:50])


@pytest.mark.slow
def test_every_path_to_the_same_rows(model: NaiveBayes) -> None:
    order = np.random.default_rng(1).permutation(len(X))
    parts = [NaiveBayes().fit(X[:HALF], Y[:HALF]), NaiveBayes().fit(X[HALF:], Y[HALF:])]
    more, labels = clusters(100, seed=3)
    learned = NaiveBayes().fit(X, Y).partial_fit(more, labels).forget(more, labels)
    for other in (NaiveBayes(n_threads=1).fit(X.iloc[order], Y[order]), candide.merge(parts).refit(), learned.refit()):
        np.testing.assert_allclose(other.predict_proba(NEW), model.predict_proba(NEW), rtol=0, atol=1e-8)


def test_explanations_add_up_and_noise_has_hardly_a_part(model: NaiveBayes) -> None:
    parts: dict[str, float] = {}
    for one, answer in zip(model.explain(NEW[:200]), model.predict_log_proba(NEW[:200]), strict=True):
        np.testing.assert_allclose(one.total, answer, rtol=1e-9, atol=1e-9)
        table = one.contributions()
        assert table["bits"].sum() == pytest.approx(one.log_odds(), rel=1e-9, abs=1e-9)
        for name, bits in zip(table["column"], table["bits"], strict=True):
            parts[name] = parts.get(name, 0.0) + abs(float(bits))
    assert parts["noise"] <= 0.02 * sum(parts.values())


def test_effects_of_columns_and_pairs() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (5_000, 4)).astype(np.int32)
    merged = MergedCodes(np.arange(4), (np.arange(5),) * 4)
    of_one, of_two = rng.normal(size=(5, 2)), rng.normal(size=(5, 5, 2))
    noise = rng.normal(0, 0.5, (5_000, 2))
    scores = of_one[codes[:, 3]] + of_two[codes[:, 0], codes[:, 2]] + noise
    effects = fit_effects(merged, scores, codes, np.ones(5_000), KERNELS)
    assert effects.pairs.tolist()[0] == [0, 2]
    for row in range(20):
        parts = effects.contributions(codes[[row]], scores[row])
        np.testing.assert_allclose(parts.scores.sum(axis=0) + parts.pair_scores.sum(axis=0) + parts.rest, scores[row])
        # The remainder is the noise, the means, and what the ridge takes from the effects.
        np.testing.assert_allclose(parts.rest - noise[row], scores.mean(axis=0), rtol=0, atol=0.35)
    alone = fit_effects(merged, noise, codes, np.ones(5_000), KERNELS)
    assert not len(alone.pairs)
    parts = alone.contributions(codes[[0]], noise[0])
    np.testing.assert_allclose(parts.scores.sum(axis=0) + parts.rest, noise[0])


def test_a_model_whose_interactions_are_all_of_more_columns(tmp_path: Path) -> None:
    """Grids without effects of pairs are explained and saved like others."""
    settings = {"n_informative": 8, "n_redundant": 0, "n_clusters_per_class": 8, "random_state": 1}
    rows, labels = make_classification(5_000, 8, **settings)
    model = NaiveBayes().fit(rows, labels)
    view = view_of(model)
    assert view is not None
    assert not len(view.effects.pairs)
    [one] = model.explain(rows[:1])
    np.testing.assert_allclose(one.total, model.predict_log_proba(rows[:1])[0], rtol=1e-9, atol=1e-9)
    model.save(tmp_path / "model.candide")
    np.testing.assert_array_equal(
        candide.load(tmp_path / "model.candide").predict_proba(rows), model.predict_proba(rows)
    )


def test_grids_are_compared_on_the_rows_of_the_other_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrections of cells are one view more, with which fewer rows would be enough for weights."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5_000, 6)) + 0.8 * rng.normal(size=(5_000, 1))
    shape = 2.0 * np.sin(3.0 * rows[:, 0]) + 2.0 * np.cos(4.0 * rows[:, 1])
    odds = shape + np.where(rows[:, 2] * rows[:, 3] > 0, 2.0, -2.0) * (rows[:, 4] > 0)
    compared: list[tuple[int, int]] = []

    def fit(
        binning: Any, information: Any, cases: Any, before: Any, judged: Any, *others: Any, **settings: Any
    ) -> None:
        compared.append((len(before), len(judged)))

    monkeypatch.setattr(module, "fit_grid_regression", fit)
    monkeypatch.setattr("candide.stacking.training_rows._MOST_SCORES", 32 * 4_800)
    model = NaiveBayes(compute_loo=False).fit(rows, odds + rng.logistic(size=5_000) > 0)
    assert "cells of single columns" in {view.name for view in model.model_.classifier.fitted.views.views}
    [(n_before, n_judged)] = compared
    assert 4_000 <= n_before == n_judged < 5_000


def test_interactions_of_two_columns_are_named(model: NaiveBayes) -> None:
    view, terms = view_of(model), model.explain(NEW[:1])[0].terms
    assert view is not None
    names = [NEW.columns[pair].tolist() for pair in view.effects.merged.columns[view.effects.pairs]]
    assert names
    assert [f"{first} × {second}" for first, second in names] == [
        term.value for term in terms if term.view == module.NAME and term.value != module.NAME and term.kind == "rest"
    ]


@pytest.mark.slow
def test_columns_that_are_not_given(model: NaiveBayes) -> None:
    """As by a model that was trained without the column."""
    some, other = NEW.drop(columns="noise"), NaiveBayes().fit(X.drop(columns="noise"), Y)
    assert view_of(other) is not None
    np.testing.assert_allclose(model.predict_proba(some), other.predict_proba(some), rtol=0, atol=1e-6)


def test_exports_are_approximate_or_refused(model: NaiveBayes, without: NaiveBayes) -> None:
    with pytest.raises(ParameterError, match="random grids of columns, which exports cannot express"):
        model.to_sql()
    with pytest.warns(UserWarning, match="raises the log-loss of left-out rows by 0"):
        query = model.to_sql(approximate=True)
    with duckdb.connect() as database:
        database.register("rows", NEW)
        found = database.execute(query).df()
    right = np.stack([found[f"p({label})"] for label in "xyz"])[
        np.searchsorted(["x", "y", "z"], NEW_Y), np.arange(len(NEW))
    ]
    assert -np.log(right).mean() == pytest.approx(log_loss(without, NEW, NEW_Y), abs=0.03)


def test_files(model: NaiveBayes, tmp_path: Path) -> None:
    model.save(tmp_path / "model.candide")
    alone = view_of(candide.load(tmp_path / "model.candide"))
    assert alone is not None
    assert not len(alone.rows)  # which say which rows were learned
    model.save(tmp_path / "model.candide", sample=True)
    again = candide.load(tmp_path / "model.candide")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_allclose(again.leave_one_out(X[:50], Y[:50]), model.leave_one_out(X[:50], Y[:50]), rtol=1e-12)
    view, views = view_of(model), model.model_.classifier.fitted.views
    assert view is not None
    check_view(view, views.binning, 3)
    effects = view.effects
    wrong: list[dict[str, Any]] = [
        {"keys": view.keys[::-1]}, {"keys": view.keys[1:]}, {"rows": view.rows[::-1]}, {"coarse": view.coarse[:, 1:]},
        {"weights": np.full_like(view.weights, np.nan)}, {"sizes": view.sizes + 1},
        {"columns": view.columns + 1}, {"row_scores": view.row_scores[:, :1]},
        *({"effects": replace(effects, **change)} for change in (
            {"single": effects.single[1:]}, {"joint": effects.joint[1:]}, {"pairs": effects.pairs[:, ::-1]},
            {"pairs": effects.pairs + 9},
        )),
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises(InvalidContent):
            check_view(replace(view, **change), views.binning, 3)
