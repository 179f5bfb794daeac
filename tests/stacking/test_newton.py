"""Newton's steps end where the slope is 0, or points out of the bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from candide.stacking import weights as mixture
from candide.stacking.newton import minimize_nonnegative
from candide.stacking.weights import fit_weights


@pytest.mark.parametrize("seed", range(5))
def test_a_bent_function_with_bounds(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(40, 8)), np.sign(rng.normal(size=40))

    def function(x):
        z = b * (A @ x)
        return float(np.logaddexp(0, -z).sum() + 0.05 * x @ x), -A.T @ (b / (1 + np.exp(z))) + 0.1 * x

    def curvature(x):
        p = 1 / (1 + np.exp(-(A @ x)))
        return (A.T * (p * (1 - p))) @ A + 0.1 * np.eye(8)

    found = minimize_nonnegative(function, curvature, np.zeros(8), 6)
    slope = function(found)[1]
    assert (found[:6] >= 0).all()
    assert (found[:6] == 0).any()
    np.testing.assert_allclose(slope[6:], 0, atol=1e-8)
    np.testing.assert_allclose(slope[:6][found[:6] > 0], 0, atol=1e-8)
    assert (slope[:6][found[:6] == 0] >= 0).all()
    bounds = [(0, None)] * 6 + [(None, None)] * 2
    other = minimize(function, np.zeros(8), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
    assert function(found)[0] <= other.fun + 1e-9


@pytest.mark.parametrize("n_rows", [60, 2000])
def test_both_searches_find_the_same_weights(monkeypatch, n_rows):
    """Few rows at once, and many by way of some of them."""
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 4, n_rows)
    views = rng.normal(size=(6, n_rows, 4)) + np.eye(4)[classes] * np.array([2, 1, 0, 0.5, 0, 0.1])[:, None, None]
    given = views, classes, rng.integers(1, 3, n_rows).astype(float), np.full(6, 0.5), np.zeros(6)
    newton = fit_weights(*given, by_class=False)
    monkeypatch.setattr(mixture, "_FEW_VIEWS", 0)
    other = fit_weights(*given, by_class=False)
    np.testing.assert_allclose(newton.weight, other.weight, atol=1e-5)
    np.testing.assert_allclose(newton.bias, other.bias, atol=1e-5)
