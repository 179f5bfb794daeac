"""What a stored model holds, and models that were made apart with other settings."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes, merge
from candide.exceptions import MergeError

RNG = np.random.default_rng(0)
N = 400
X = pd.DataFrame(
    {f"x{j}": RNG.normal(size=N) for j in range(6)} | {f"c{j}": RNG.choice(list("abcd"), N) for j in range(4)}
)
Y = np.where(X["x0"] + X["x1"] * (X["c0"] == "a") + RNG.normal(size=N) > 0, "a", "b")


@pytest.mark.parametrize("subsample", ["auto", 0])
def test_a_stored_model_is_the_same(subsample: Any) -> None:
    model = NaiveBayes(subsample=subsample, compute_loo=False).fit(X, Y)
    expected = model.predict_proba(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    np.testing.assert_array_equal(again.leave_one_out(X, Y), model.leave_one_out(X, Y))


def test_predicting_does_not_make_it_larger() -> None:
    model = NaiveBayes(subsample=0, compute_loo=False).fit(X, Y)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before < 1.2e6


def test_views_without_weight_go_with_the_rows() -> None:
    with_rows, without = (NaiveBayes(subsample=keep, compute_loo=False).fit(X, Y) for keep in ("auto", 0))
    np.testing.assert_array_equal(without.predict_proba(X), with_rows.predict_proba(X))
    weights: Any = without.model_.classifier.fitted.views.weights.weight  # type: ignore[union-attr]
    first = len(X.columns) + 1
    assert weights[first:].any(axis=1).all()


@pytest.mark.parametrize("columns", [{"visits": "categorical"}, {("visits", "age"): "multivariate_normal"}])
def test_models_that_counted_different_things_do_not_merge(columns: Any) -> None:
    table = {"visits": RNG.poisson(2, N), "age": RNG.normal(size=N)}
    one, other = (NaiveBayes(how, order=0, compute_loo=False).fit(table, Y) for how in ("auto", columns))
    with pytest.raises(MergeError, match=r"counts .*cannot be added"):
        merge([one, other])


def test_the_settings_of_the_first_stay() -> None:
    half = np.arange(N) < N // 2
    one = NaiveBayes(order=0, missing="ignore", compute_loo=False).fit(X[half], Y[half])
    other = NaiveBayes(order=1, alpha=1.0, compute_loo=False).fit(X[~half], Y[~half])
    merged, whole = merge([one, other]), NaiveBayes(order=0, missing="ignore", compute_loo=False).fit(X, Y)
    assert merged.order == 0
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-9)
