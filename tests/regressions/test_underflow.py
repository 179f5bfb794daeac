"""Underflow and normalisation: traps 9 and 10."""

from __future__ import annotations

import numpy as np
import pytest

import candide


@pytest.mark.parametrize(
    "name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
)
@pytest.mark.parametrize("n_columns", [400, 5_000])
def test_many_columns_do_not_underflow(name: str, n_columns: int) -> None:
    """Trap 9: products of densities are 0 at 400 columns, and then NaN."""
    random = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = random.integers(0, 2, (20, n_columns)).astype(float) + y[:, None]
    model = getattr(candide, name)().fit(X, y)
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    if name not in ("MultinomialNB", "ComplementNB"):
        assert model.score(X, y) == 1


def test_enormous_scores_are_normalised() -> None:
    """Trap 9: exponents of scores in the thousands need their maximum subtracted first."""
    model = candide.MultinomialNB().fit([[9, 1], [1, 9]], [0, 1])
    np.testing.assert_array_equal(
        model.predict_proba([[10**9, 0], [0, 10**9], [10**9, 10**9]]), [[1, 0], [0, 1], [0.5, 0.5]]
    )
    assert np.isfinite(model.predict_log_proba([[10**9, 0]])).all()


@pytest.mark.parametrize("value", [1e160, -1e160, 1e300])
def test_scores_that_overflow_are_still_decided(value: float) -> None:
    """Trap 9: squares beyond the largest double say who is ahead all the same."""
    model = candide.GaussianNB().fit([[-1.0], [1.0], [9.0], [31.0]], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[value]]), [[0, 1]])
    assert model.predict([[value]]) == [1]


def test_class_absent_from_a_batch_keeps_its_variance() -> None:
    """Trap 10: a class that a batch lacks must not get the floor once more with each call."""
    model = candide.GaussianNB(var_smoothing=0.1).partial_fit([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    for _ in range(50):
        model.partial_fit([[10.0], [12.0]], [1, 1])
    np.testing.assert_allclose(model.var_ - model.epsilon_, [[1.0], [1.0]], rtol=1e-12)
