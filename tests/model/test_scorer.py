"""Rows at the edge: probabilities of 0, densities without bound, scores that overflow."""

from __future__ import annotations

import numpy as np

from candide import GaussianNB, MultinomialNB, diagnostics


def test_powers_that_differ_by_rounding_tie() -> None:
    """0.1 + 0.2 is not 0.3, but as powers of ε they are the same."""
    model = MultinomialNB(alpha=0).fit([[1, 1, 0], [0, 0, 1]], [0, 1])
    nearly = MultinomialNB(alpha=1e-9).fit([[1, 1, 0], [0, 0, 1]], [0, 1])
    rows = [[0.1, 0.2, 0.3]]
    np.testing.assert_allclose(model.predict_proba(rows), nearly.predict_proba(rows), atol=1e-6)


def test_an_impossible_class_does_not_win_by_overflow() -> None:
    model = MultinomialNB(alpha=0).fit([[1, 9, 0], [50, 0, 50]], ["a", "b"])
    assert model.predict([[2, 1, 0], [1e308, 1, 0]]).tolist() == ["a", "a"]


def test_a_class_of_prior_zero_has_no_density() -> None:
    model = GaussianNB(var_smoothing=0, priors=[0, 1]).fit([[1.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    assert model.predict_joint_log_proba([[1.0]])[0, 0] == -np.inf
    assert np.isfinite(diagnostics.log_density(model, [[1.0]]))
    assert model.predict_proba([[1.0]]).tolist() == [[0.0, 1.0]]


def test_the_likelihood_of_rows_that_diverge_both_ways() -> None:
    """A distance from the point outgrows any density at it."""
    model = GaussianNB(var_smoothing=0).fit([[1.0], [1.0], [2.0]], [0, 0, 1])
    assert diagnostics.log_likelihood(model, [[1.0], [2.0]], [0, 1]) == np.inf
    assert diagnostics.log_likelihood(model, [[1.0], [2.0], [3.0]], [0, 1, 1]) == -np.inf


def test_the_likelihood_in_stretches_is_that_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2.0, (70_000, 3)), rng.integers(0, 2, 70_000)
    weight = rng.integers(0, 3, 70_000).astype(float)
    model = MultinomialNB().fit(X, y)
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    np.testing.assert_allclose(
        diagnostics.log_likelihood(model, X, y, weight),
        diagnostics.log_likelihood(model, X[copies], y[copies]),
        rtol=1e-12,
    )
