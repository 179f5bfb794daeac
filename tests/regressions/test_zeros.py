"""Zeros and infinities: traps 1 to 4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_array

import candide

from .theirs import assert_trapped

WORDS = np.array([[2, 1, 0, 0], [3, 0, 0, 0], [0, 1, 4, 0], [0, 2, 2, 0]])
LABELS = np.array([0, 0, 1, 1])
# Known to one class, to the other, to both classes (impossible in each), unheard of, and empty.
ROWS = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 0], [2, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
COUNTING = ["BernoulliNB", "MultinomialNB", "ComplementNB"]


def posterior(name: str, alpha: float, convert: Any = np.asarray) -> np.ndarray:
    return getattr(candide, name)(alpha=alpha).fit(convert(WORDS), LABELS).predict_proba(convert(ROWS))


@pytest.mark.parametrize("name", COUNTING)
def test_no_smoothing_gives_no_nan(name: str) -> None:
    """Trap 1: alpha=0 gives NaN in scikit-learn where every class is impossible."""
    found = posterior(name, 0.0)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    model = getattr(theirs, name)(alpha=0.0)
    assert_trapped(lambda: np.isnan(model.fit(WORDS, LABELS).predict_proba(ROWS)).any())


@pytest.mark.parametrize("name", COUNTING)
def test_no_smoothing_is_the_same_dense_and_sparse(name: str) -> None:
    """Trap 1: with alpha=0 dense and sparse rows disagree in scikit-learn."""
    np.testing.assert_allclose(posterior(name, 0.0, csr_array), posterior(name, 0.0), atol=1e-15)


@pytest.mark.parametrize("name", [*COUNTING, "CategoricalNB", "PoissonNB"])
def test_no_smoothing_is_the_limit(name: str) -> None:
    """Trap 1: where all classes are impossible, alpha=0 is the limit of small alphas."""
    options = {"beta": 0.0} if name == "PoissonNB" else {}
    kind = getattr(candide, name)
    rows = ROWS if name != "CategoricalNB" else ROWS[:, :3]
    words = WORDS if name != "CategoricalNB" else WORDS[:, :3]
    zero = kind(alpha=0.0, **options).fit(words, LABELS).predict_proba(rows)
    small = kind(alpha=1e-13, **options).fit(words, LABELS).predict_proba(rows)
    np.testing.assert_allclose(zero, small, atol=1e-9)


def test_absence_has_a_logarithm_of_its_own() -> None:
    """Trap 2: log(1 - exp(log φ)) is -inf, then NaN, once φ rounds to 1."""
    X, y, row = [[1, 1], [1, 0], [1, 1], [1, 0]], [0, 0, 1, 1], [[0, 1]]
    model = candide.BernoulliNB(alpha=1e-20).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(row), [[0.5, 0.5]])
    expected = np.log(0.5) + np.log(1e-20 / 2) + np.log(0.5)
    np.testing.assert_allclose(model.predict_joint_log_proba(row), [[expected, expected]], rtol=1e-12)
    assert_trapped(lambda: np.isnan(theirs.BernoulliNB(alpha=1e-20).fit(X, y).predict_proba(row)).any())


def test_class_never_seen_does_not_win_at_zero() -> None:
    """Trap 3: with given priors an unseen class gets mean 0 and almost no variance, and wins at 0."""
    X, y = np.array([[-1.0], [0.1], [1.0], [5.0], [6.0], [7.0]]), np.array([0, 0, 0, 1, 1, 1])
    options = {"priors": [0.4, 0.4, 0.2]}
    model = candide.GaussianNB(**options).partial_fit(X, y, classes=[0, 1, 2])
    assert model.predict([[0.0]]) == [0]
    other = theirs.GaussianNB(**options)
    assert_trapped(lambda: other.partial_fit(X, y, classes=[0, 1, 2]).predict_proba([[0.0]])[0, 2] > 0.999)


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"])
def test_class_never_seen_has_no_probability(name: str) -> None:
    """Trap 3: the logarithm of a prior of 0 is -inf, silently and without harm."""
    model = getattr(candide, name)().partial_fit(WORDS, LABELS, classes=[0, 1, 2])
    found = model.predict_proba(WORDS)
    assert model.class_log_prior_[2] == -np.inf
    assert (found[:, 2] == 0).all()
    np.testing.assert_allclose(found[:, :2], getattr(candide, name)().fit(WORDS, LABELS).predict_proba(WORDS))


def test_far_points_stay_in_order() -> None:
    """Trap 4: a floor under the density makes 40 standard deviations better than 30, and 60 undecided."""
    model = candide.GaussianNB(var_smoothing=0).fit([[-1.0], [1.0], [99.0], [101.0]], [0, 0, 1, 1])
    far = -np.array([[1.0], [10.0], [30.0], [40.0], [60.0], [1e3], [1e6]])
    assert (np.diff(model.predict_joint_log_proba(far), axis=0) < 0).all()
    assert (np.diff(model.predict_log_proba(far)[:, 1]) < 0).all()
    assert (model.predict(far) == 0).all()
