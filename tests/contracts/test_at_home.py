"""At home in scikit-learn: pipelines, searches, ensembles, routing, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

import candide

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
X, y = load_iris(return_X_y=True)
# Whole numbers suit all six.
X = np.round(X * 2)


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest) -> Any:
    options = {"binarize": 5.0} if request.param == "BernoulliNB" else {}
    return getattr(candide, request.param)(**options)


def test_pickle(model: Any) -> None:
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    again.partial_fit(X, y)
    assert again.class_count_.sum() == 300
    assert model.class_count_.sum() == 150


def test_pickle_leaves_the_scorer_out(model: Any) -> None:
    """What predicting derives is derived again; a model that has predicted is hardly larger."""
    fresh = len(pickle.dumps(model.fit(X, y)))
    model.predict(X)
    assert len(pickle.dumps(model)) < fresh + 500


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_learn_apart(model: Any, copied: Any) -> None:
    model.fit(X, y)
    other = copied(model).partial_fit(X, y + 1)
    assert (model.classes_.tolist(), other.classes_.tolist()) == ([0, 1, 2], [0, 1, 2, 3])
    assert model.class_count_.sum() == 150


def test_clone(model: Any) -> None:
    twin = clone(model.fit(X, y))
    assert twin.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(X)


def test_parameters_are_kept_as_given() -> None:
    prior, alpha = [0.2, 0.3, 0.5], np.ones(4)
    model = candide.MultinomialNB(class_prior=prior, alpha=alpha).fit(X, y)
    assert model.class_prior is prior
    assert model.alpha is alpha


def test_parameters_changed_in_place_do_not_reach_a_fitted_model() -> None:
    prior, alpha = np.array([0.2, 0.3, 0.5]), np.ones(4)
    model = candide.MultinomialNB(class_prior=prior, alpha=alpha).fit(X, y)
    prior[:], alpha[:] = [0.8, 0.1, 0.1], 100
    same = candide.MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


def test_text_pipeline() -> None:
    texts = ["win a prize now", "free prize win", "meeting at noon", "lunch meeting tomorrow"]
    pipeline = make_pipeline(CountVectorizer(), candide.MultinomialNB()).fit(texts, ["spam", "spam", "ham", "ham"])
    assert pipeline.predict(["free win", "noon lunch"]).tolist() == ["spam", "ham"]


def test_binned_pipeline() -> None:
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="uniform")
    assert make_pipeline(bins, candide.CategoricalNB()).fit(X, y).score(X, y) > 0.9


def test_ordinal_pipeline() -> None:
    """OrdinalEncoder may write NaN for the unknown and the missing, and candide leaves them out."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    pipeline = make_pipeline(encoder, candide.CategoricalNB())
    pipeline.fit(np.array([["a"], ["b"], ["b"], [None]], dtype=object), [0, 1, 1, 0])
    np.testing.assert_allclose(pipeline.predict_proba(np.array([["c"], [None]], dtype=object))[0], [0.5, 0.5])


def test_grid_search(model: Any) -> None:
    grid = {"var_smoothing": [1e-9, 1e-2]} if "var_smoothing" in model.get_params() else {"alpha": [0.0, 0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring="neg_log_loss", error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_calibration(model: Any) -> None:
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_cross_validation(model: Any) -> None:
    assert cross_val_predict(model, X, y, method="predict_log_proba").shape == (150, 3)
    assert np.isfinite(cross_val_score(model, X, y, error_score="raise")).all()


@pytest.mark.parametrize("wrap", [OneVsRestClassifier, OneVsOneClassifier])
def test_one_against_others(model: Any, wrap: Any) -> None:
    assert set(wrap(model).fit(X, y).predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting(voting: str) -> None:
    members = [("gaussian", candide.GaussianNB()), ("poisson", candide.PoissonNB())]
    assert VotingClassifier(members, voting=voting).fit(X, y).score(X, y) > 0.9


def test_bagging(model: Any) -> None:
    bag = BaggingClassifier(model, n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(bag.predict_proba(X).sum(axis=1), 1)


def test_metadata_routing(model: Any) -> None:
    """Weights reach the model through a search and a pipeline, for fit and for score."""
    weight = (np.arange(150) % 3).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(asked)
        assert pipeline.fit(X, y, sample_weight=weight)[-1].class_count_.sum() == weight.sum()
        name = "var_smoothing" if "var_smoothing" in model.get_params() else "alpha"
        grid = {name: [1e-3]}
        search = GridSearchCV(asked, grid, error_score="raise").fit(X, y, sample_weight=weight)
        assert search.best_estimator_.class_count_.sum() == weight.sum()


def test_metadata_routing_of_partial_fit(model: Any) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        requests = model.set_partial_fit_request(classes=True, sample_weight=False).get_metadata_routing()
        assert requests.consumes("partial_fit", ["classes", "sample_weight"]) == {"classes"}


def test_html(model: Any) -> None:
    name = type(model).__name__
    assert name in model._repr_html_()
    assert name in model.fit(X, y)._repr_html_()
    assert repr(model).startswith(name)


def test_sklearn_checks_fitted_state(model: Any) -> None:
    from sklearn.utils.validation import check_is_fitted

    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(X, y))


def test_class_prior_attributes_need_fitting(model: Any) -> None:
    """Attributes that end in _ do not exist before fit, so hasattr tells."""
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "class_count_")
    assert hasattr(model.fit(X, y), "classes_")
