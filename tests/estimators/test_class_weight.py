"""class_weight multiplies the prior of a class and leaves the counts alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import ParameterError

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (60, 3)).astype(float)
y = np.repeat([0, 1, 2], [40, 15, 5])


def given(name: str, prior: Any) -> Any:
    return getattr(candide, name)(**{"priors" if name == "GaussianNB" else "class_prior": prior}).fit(X, y)


@every("name", NAMES)
def test_balanced_is_a_uniform_prior(name: str) -> None:
    balanced = getattr(candide, name)(class_weight="balanced").fit(X, y)
    uniform = given(name, np.full(3, 1 / 3))
    np.testing.assert_allclose(balanced.predict_proba(X), uniform.predict_proba(X), rtol=1e-10)
    np.testing.assert_allclose(
        diagnostics.log_density(balanced, X), diagnostics.log_density(uniform, X), rtol=1e-10, atol=1e-14
    )


@every("name", NAMES)
def test_weights_multiply_the_prior(name: str) -> None:
    model = getattr(candide, name)(class_weight={1: 4.0, 2: 0.5}).fit(X, y)
    prior = np.array([40, 15 * 4.0, 5 * 0.5])
    np.testing.assert_allclose(model.predict_proba(X), given(name, prior / prior.sum()).predict_proba(X), rtol=1e-10)


@every("name", NAMES)
def test_counts_stay_and_the_prior_is_weighted(name: str) -> None:
    model = getattr(candide, name)(class_weight={0: 9.0}).fit(X, y)
    assert model.class_count_.tolist() == [40, 15, 5]
    np.testing.assert_allclose(model.class_prior_, np.array([360, 15, 5]) / 380)


@every("name", NAMES)
def test_weights_that_leave_no_class_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=r"every class has probability.*positive weight"):
        getattr(candide, name)(class_weight=dict.fromkeys([0, 1, 2], 0.0)).fit(X, y)


@every("name", NAMES)
def test_weight_of_zero_excludes(name: str) -> None:
    model = getattr(candide, name)(class_weight={0: 0.0}).fit(X, y)
    assert 0 not in model.predict(X)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 0], 0)


@every("name", NAMES)
def test_balanced_follows_the_stream(name: str) -> None:
    """The balance is struck when asked, over all rows seen by then."""
    model = getattr(candide, name)(class_weight="balanced")
    for i in np.array_split(RANDOM.permutation(60), 6):
        model.partial_fit(X[i], y[i])
    whole = getattr(candide, name)(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


@every("name", NAMES)
def test_samples_follow_the_weighted_prior(name: str) -> None:
    labels = getattr(candide, name)(class_weight="balanced").fit(X, y).sample(3000, random_state=0)[1]
    np.testing.assert_allclose(np.bincount(labels) / 3000, 1 / 3, atol=0.04)
