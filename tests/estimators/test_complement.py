"""ComplementNB gives scores, and says so by name."""

from __future__ import annotations

import numpy as np
import pytest

from candide import ComplementNB, diagnostics
from candide.exceptions import CandideError, NotADensity

X = np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4], [1, 0, 2]])
y = np.array(["a", "a", "b", "c"])


@pytest.mark.parametrize("fitted", [False, True])
def test_densities_are_refused_by_name(fitted: bool) -> None:
    model = ComplementNB().fit(X, y) if fitted else ComplementNB()
    assert not hasattr(model, "sample")
    with pytest.raises(NotADensity, match=r"ComplementNB has no sample: .*not log probabilities.*use MultinomialNB"):
        _ = model.sample
    model.fit(X, y)
    with pytest.raises(
        NotADensity, match=r"ComplementNB has no log_density: .*not log probabilities.*use MultinomialNB"
    ):
        diagnostics.log_density(model, X)
    with pytest.raises(NotADensity, match="ComplementNB has no log_likelihood"):
        diagnostics.log_likelihood(model, X, y)
    assert issubclass(NotADensity, CandideError)
    assert issubclass(NotADensity, AttributeError)


def test_weights_by_hand() -> None:
    """The shares of a word among all other classes, smoothed; minus their logarithms."""
    model = ComplementNB().fit(X, y)
    others = X.sum(axis=0) - model.feature_count_ + 1
    expected = -np.log(others / others.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.feature_log_prob_, expected)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), X @ expected.T)
    assert model.feature_all_.tolist() == X.sum(axis=0).tolist()


def test_prior_takes_no_part() -> None:
    given = ComplementNB(class_prior=[0.9, 0.05, 0.05]).fit(X, y)
    np.testing.assert_array_equal(given.predict_proba(X), ComplementNB().fit(X, y).predict_proba(X))


def test_class_weight_adds_to_the_score() -> None:
    heavy = ComplementNB(class_weight={"b": np.e}).fit(X, y)
    found = heavy.predict_joint_log_proba(X) - ComplementNB().fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_allclose(found, np.tile([0, 1, 0], (4, 1)), atol=1e-12)
