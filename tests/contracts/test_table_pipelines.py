"""NaiveBayes among scikit-learn's tools: copies, pickles, pipelines, searches."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from candide import NaiveBayes

RNG = np.random.default_rng(0)
Y = np.arange(80) % 2
X = pd.DataFrame(
    {"a": RNG.normal(Y, 1.0), "b": RNG.normal(size=80), "c": np.where(RNG.random(80) < 0.4 + 0.3 * Y, "x", "y")}
)
SETTINGS: list[dict[str, Any]] = [
    {"order": 0},
    {"subsample": 0, "compute_loo": True},
    {"stacking": None},
    {"columns": {("a", "b"): "multivariate_normal"}},
]


def test_parameters() -> None:
    model = NaiveBayes({"a": "kernel"}, alpha=2.0, order=1, absent="missing", n_threads=2)
    assert clone(model).get_params() == model.get_params()
    assert repr(NaiveBayes(order=0)) == "NaiveBayes(order=0)"
    assert model.set_params(order=0, alpha=None).order == 0
    with pytest.raises(ValueError, match="Invalid parameter 'foo'"):
        model.set_params(foo=1)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_copies(how: dict[str, Any]) -> None:
    model = NaiveBayes(**how).fit(X, Y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.loo_.log_loss == model.loo_.log_loss
        assert other.summary()["family"].tolist() == model.summary()["family"].tolist()


def test_a_copy_learns_on_its_own() -> None:
    model = NaiveBayes(order=0).fit(X, Y)
    before = model.predict_proba(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        other.partial_fit(X[:30], Y[:30])
        np.testing.assert_array_equal(model.predict_proba(X), before)
        assert other.forget(X[:30], Y[:30]).class_count_.tolist() == model.class_count_.tolist()


def test_a_pickle_holds_what_was_fitted() -> None:
    model = pickle.loads(pickle.dumps(NaiveBayes(subsample=0, compute_loo=True).fit(X, Y)))
    assert model.model_.classifier.state.sample is None
    assert model.staleness_ == 0.0


def test_scores_by_folds() -> None:
    assert cross_val_score(NaiveBayes(), X, Y, cv=3).mean() > 0.58
    assert cross_val_score(NaiveBayes(), X, Y, cv=3, scoring="neg_log_loss").mean() > -0.68


def test_pipelines() -> None:
    numbers = ColumnTransformer([("scaled", StandardScaler(), ["a", "b"])], remainder="passthrough")
    model = make_pipeline(numbers.set_output(transform="pandas"), NaiveBayes()).fit(X, Y)
    assert model.score(X, Y) > 0.6
    assert model[-1].feature_names_in_.tolist() == ["scaled__a", "scaled__b", "remainder__c"]


def test_searches() -> None:
    search = GridSearchCV(NaiveBayes(), {"order": [0, 1]}, cv=2).fit(X, Y)
    assert set(search.best_params_) == {"order"}


def test_names_of_columns() -> None:
    model = NaiveBayes(order=0).fit(X, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(model.fit(X.to_numpy(), Y), "feature_names_in_")
    assert model.n_features_in_ == 3


def test_fitting_again_forgets_the_first_table() -> None:
    model = NaiveBayes(order=0).fit(X, Y)
    other = pd.DataFrame({"z": RNG.normal(size=30)})
    again = model.fit(other, Y[:30])
    np.testing.assert_array_equal(
        again.predict_proba(other), NaiveBayes(order=0).fit(other, Y[:30]).predict_proba(other)
    )
