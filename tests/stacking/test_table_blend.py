"""The blend of a table: how honest its figure is, what it is fitted on, and when it is made again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes
from candide.families import Batch
from candide.kernels import Kernels
from candide.kernels.layouts import Floats
from candide.model.out_of_fold import _share_in_sample
from candide.specs.table import TableSpec
from candide.stacking.training_rows import TrainingRows, subsample_rows
from candide.stacking.weights import StackingWeights


def noise(seed: int, n_rows: int, n_columns: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n_rows, n_columns))), rng.integers(0, 2, n_rows)


def signal(n_rows: int = 400, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    return pd.DataFrame({"a": rng.normal(y, 1.0), "b": rng.normal(-y, 2.0), "c": rng.integers(0, 3, n_rows) + y}), y


def log_loss(probability: Floats, y: Any) -> float:
    return float(-np.log(probability[np.arange(len(y)), y]).mean())


@pytest.mark.slow
def test_the_figure_of_noise_is_that_of_knowing_nothing() -> None:
    """Over draws of many columns for few rows, where each column has taken the best of many families."""
    models = [NaiveBayes().fit(*noise(seed, 90)) for seed in range(5)]
    told = np.mean([model.loo_.log_loss for model in models])
    new = np.mean([log_loss(model.predict_proba(noise(99, 1000)[0]), noise(99, 1000)[1]) for model in models])
    assert told > np.log(2) - 0.02
    assert abs(told - new) < 0.06
    assert np.mean([model.loo_.optimistic.log_loss for model in models]) < told


def test_the_figure_is_of_models_that_forgot_the_fold() -> None:
    """A column that has the label of every row, by a value of its own, helps nobody who has not seen it."""
    X, y = signal(200)
    names = np.array([f"{'yes' if label else 'no'}{i}" for i, label in enumerate(y)])
    names[::8] = "common"  # else the column is set aside
    told = NaiveBayes(order=1).fit(X.assign(name=names), y).loo_.log_loss
    assert told > NaiveBayes(order=1).fit(X, y).loo_.log_loss - 0.02


def test_no_score_goes_beyond_what_was_seen() -> None:
    mixture = StackingWeights(np.array([2.0]), np.array([1.5]), np.ones((1, 2)), np.zeros(2))
    part = mixture.weighted(0, np.array([[-2.0, 2.0], [-1e6, 1e6], [-np.inf, 0.0]]))
    np.testing.assert_allclose(part, [[-1.0, 1.0], [-1.5, 1.5], [-1.5, 1.5]])


SUBSAMPLES = [(50, 10, 50), (50_000, 10, 40_000), (30_000, 200, 20_000), (500, 10**9, 200)]


@pytest.mark.parametrize(("n_rows", "n_scores", "expected"), SUBSAMPLES)
def test_rows_that_weights_are_fitted_on_are_spread_evenly(n_rows: int, n_scores: int, expected: int) -> None:
    batch = Batch(None, np.zeros(n_rows, dtype=np.int32), None, 1)
    rows = subsample_rows(TrainingRows(batch, np.ones(n_rows), np.ones(n_rows, dtype=np.int64)), n_scores)
    assert len(rows) == expected
    assert rows[0] == 0
    assert np.ptp(np.diff(rows)) <= 1


@pytest.mark.parametrize("change", [{"order": 0}, {"alpha": 50.0}, {"missing": "ignore"}])
def test_a_blend_of_other_settings_is_not_used(change: dict[str, Any]) -> None:
    """A single row is learned: the predictions after it are by the settings as they are then."""
    X, y = signal(120)
    X.loc[::3, "b"] = np.nan
    model = NaiveBayes(compute_loo=False).fit(X[1:], y[1:])
    model.predict_proba(X)
    model.set_params(**change).partial_fit(X[:1], y[:1])
    np.testing.assert_allclose(model.predict_proba(X), NaiveBayes(**change).fit(X, y).predict_proba(X), atol=1e-7)


def test_a_row_leaves_a_thinned_sample_with_what_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableSpec, "sample_bytes", 4000)
    X, y = signal(600)
    model = NaiveBayes(compute_loo=False).fit(X, y)
    state, batch = model.model_.classifier.state, model.model_.batch(X, y, None)
    share = _share_in_sample(state, batch)
    kept = share > 0
    assert 0.1 < kept.mean() < 0.8
    np.testing.assert_allclose(np.bincount(y, share), np.bincount(y))  # the sample stands for all rows
    views: Any = model.model_.classifier.fitted.views  # type: ignore[union-attr]
    scores = views.left_out_view_scores(model.model_.classifier.likelihood, batch, share, Kernels())[
        views.n_single + 1 :
    ]
    plain = [view.scores(views.binning.transform(batch.data, Kernels()), Kernels()) for view in views.views]
    assert plain
    for left_out, whole in zip(scores, plain, strict=True):
        np.testing.assert_allclose(left_out[~kept], whole[~kept], atol=1e-9)  # never in the view
        assert (np.abs(left_out[kept] - whole[kept]).max(axis=1) > 1e-9).mean() > 0.9


def test_rows_learned_since_leave_the_views_too() -> None:
    X, y = signal(150)
    model = NaiveBayes(compute_loo=False).fit(X[:140], y[:140])
    model.predict_proba(X)
    model.partial_fit(X[140:], y[140:])
    assert model.staleness_ > 0
    whole = NaiveBayes(compute_loo=False).fit(X, y)
    np.testing.assert_allclose(model.leave_one_out(X[130:], y[130:]), whole.leave_one_out(X[130:], y[130:]), atol=1e-6)
    assert model.staleness_ > 0  # the model itself is as it was


def test_many_groups_leave_together() -> None:
    X, y = signal(120)
    model = NaiveBayes().fit(X, y)
    groups = np.arange(120) // 4
    out = model.cross_val_log_proba(X, y, groups=groups)
    assert out.shape == (120, 2)
    np.testing.assert_allclose(np.exp(out).sum(axis=1), 1.0)
    assert log_loss(np.exp(out), y) > model.loo_.optimistic.log_loss
