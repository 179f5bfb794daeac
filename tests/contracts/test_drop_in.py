"""The five that share a name with scikit-learn's give the same numbers, to 1e-10."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_array
from tiers import every, late

import candide

datasets = late("sklearn.datasets")

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]
DATA = ["iris", "digits", "breast_cancer", "wine"]
SHARED = [
    "classes_", "class_count_", "class_prior_", "class_log_prior_", "feature_count_", "feature_log_prob_",
    "feature_all_", "category_count_", "n_categories_", "theta_", "var_", "epsilon_", "n_features_in_",
]  # fmt: skip
VERBS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba"]


@functools.cache
def rows_of(data: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 600 rows of a data set."""
    X, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    return X[:600], y[:600]


def rows_for(name: str, data: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set; in whole numbers where the model wants categories."""
    X, y = rows_of(data)
    if name != "CategoricalNB":
        return X, y
    return np.floor((X - X.min(axis=0)) / (np.ptp(X, axis=0) + 1e-9) * 8).astype(int), y


def equal(ours: Any, other: Any) -> None:
    if isinstance(other, list):
        assert len(ours) == len(other)
        for a, b in zip(ours, other, strict=True):
            equal(a, b)
    else:
        np.testing.assert_allclose(ours, other, rtol=1e-10, atol=1e-10)


def check_same(ours: Any, other: Any, X: Any) -> None:
    """Every shared attribute and every verb."""
    for attribute in SHARED:
        if hasattr(other, attribute):
            equal(getattr(ours, attribute), getattr(other, attribute))
    for verb in VERBS:
        equal(getattr(ours, verb)(X), getattr(other, verb)(X))
    agreed = ours.predict(X) == other.predict(X)
    # Rounding may tip a tie either way, and nothing else may.
    top = np.sort(other.predict_joint_log_proba(X[~agreed]), axis=1)[:, -2:] if not agreed.all() else np.zeros((0, 2))
    np.testing.assert_allclose(top[:, 0], top[:, 1], rtol=1e-10)


def both(name: str, X: Any, y: Any, weight: Any = None, **options: Any) -> None:
    models = [getattr(room, name)(**options).fit(X, y, sample_weight=weight) for room in (candide, theirs)]
    check_same(*models, X)


@every("name", NAMES)
@every("data", DATA)
def test_defaults(name: str, data: str) -> None:
    both(name, *rows_for(name, data))


@every("name", NAMES[1:])
@every("data", DATA)
def test_weights(name: str, data: str) -> None:
    X, y = rows_for(name, data)
    both(name, X, y, np.random.default_rng(0).random(len(y)))


@every("data", DATA)
def test_weights_gaussian(data: str) -> None:
    """Without the floor, which scikit-learn takes from the rows without their weights."""
    X, y = rows_of(data)
    varied = np.min([X[y == c].var(axis=0) for c in np.unique(y)], axis=0) > 0
    both("GaussianNB", X[:, varied], y, np.random.default_rng(0).random(len(y)), var_smoothing=0)


def alphas(n_features: int) -> list[Any]:
    return [0.01, 1, 7.5, np.linspace(0.1, 3, n_features)]


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "GaussianNB": [{"var_smoothing": 1e-3}, {"var_smoothing": 1.0}],
    "BernoulliNB": [{"binarize": 3.0}, {"binarize": 0.5, "alpha": 0.1}],
    "MultinomialNB": [{"force_alpha": False}],
    "ComplementNB": [{"norm": True}, {"norm": True, "alpha": 0.3}],
    "CategoricalNB": [{"min_categories": 12}, {"min_categories": 9, "alpha": 0.2}],
}


@every("name,options", [(name, options) for name in NAMES for options in OPTIONS[name]])
@every("data", DATA)
def test_own_parameters(name: str, options: dict[str, Any], data: str) -> None:
    both(name, *rows_for(name, data), **options)


@pytest.mark.parametrize("name", NAMES[1:])
@every("data", DATA)
def test_alpha(name: str, data: str) -> None:
    X, y = rows_for(name, data)
    for alpha in alphas(X.shape[1]):
        if np.ndim(alpha) == 0 or name in ("MultinomialNB", "ComplementNB"):  # the others take one number, or fail
            both(name, X, y, alpha=alpha)


@every("name", NAMES)
@every("data", DATA)
def test_given_prior(name: str, data: str) -> None:
    X, y = rows_for(name, data)
    prior = np.arange(1.0, len(np.unique(y)) + 1)
    both(name, X, y, **{"priors" if name == "GaussianNB" else "class_prior": prior / prior.sum()})


@every("name", NAMES[1:])
@every("data", DATA)
def test_uniform_prior(name: str, data: str) -> None:
    both(name, *rows_for(name, data), fit_prior=False)


@every("name", NAMES)
@every("data", DATA)
def test_one_class(name: str, data: str) -> None:
    X, y = rows_for(name, data)
    both(name, X, np.zeros_like(y))


@pytest.mark.parametrize("name", NAMES[1:])
@every("data", DATA)
@every("weighted", [False, True])
def test_partial_fit(name: str, data: str, weighted: bool) -> None:
    """GaussianNB's is a trap (6), tested there. Codes of later batches do not exceed those of the first."""
    X, y = rows_for(name, data)
    order = np.random.default_rng(0).permutation(len(y))
    if name == "CategoricalNB":
        X = np.vstack([X.max(axis=0), X[order]])
        y = np.concatenate([y[:1], y[order]])
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    models = [getattr(room, name)() for room in (candide, theirs)]
    options = {"min_categories": 8} if name == "CategoricalNB" else {}
    for model in models:
        model.set_params(**options)
        for begin in range(0, len(y), 67):
            part = slice(begin, begin + 67)
            model.partial_fit(X[part], y[part], np.unique(y), None if weight is None else weight[part])
    check_same(*models, X)


@every("name", NAMES[1:4])
@every("weighted", [False, True])
def test_sparse(name: str, weighted: bool) -> None:
    X, y = rows_of("digits")
    both(name, csr_array(X), y, np.random.default_rng(0).random(len(y)) if weighted else None)


@every("name", NAMES)
def test_text_labels(name: str) -> None:
    X, y = rows_for(name, "iris")
    ours, other = (getattr(room, name)().fit(X, np.array(["b", "c", "a"])[y]) for room in (candide, theirs))
    np.testing.assert_array_equal(ours.classes_, other.classes_)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    assert ours.predict(X).dtype == other.predict(X).dtype
    assert ours.score(X, y.astype(str)) == other.score(X, y.astype(str))


@every("name", NAMES)
@every("verb", ["__init__", "fit", "partial_fit", "predict", *VERBS, "score"])
def test_signatures(name: str, verb: str) -> None:
    """Shared parameters have the same names, kinds and defaults, in the same order; ours come after."""
    ours, other = (dict(inspect.signature(getattr(getattr(r, name), verb)).parameters) for r in (candide, theirs))
    shared = [p for p in ours if p in other]
    assert shared == [p for p in other if p in ours]
    assert set(other) <= set(ours)
    for parameter in other:
        assert ours[parameter].kind == other[parameter].kind
        if (verb, parameter) in (("fit", "y"), ("score", "y")):
            assert ours[parameter].default is None  # X may hold the labels: chunks, or a source
        elif (verb, parameter) in (("__init__", "alpha"), ("__init__", "var_smoothing")):
            assert ours[parameter].default is None  # the same number, unless estimate="mle"
        else:
            assert ours[parameter].default == other[parameter].default


@every("name", NAMES)
def test_every_public_name_is_there(name: str) -> None:
    X, y = rows_for(name, "iris")
    ours, other = (getattr(room, name)().fit(X, y) for room in (candide, theirs))
    absent = [n for n in dir(other) if not n.startswith("_") and not hasattr(ours, n)]
    assert not absent
