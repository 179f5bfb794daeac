"""Missing values: trap 24."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import candide

NAN = float("nan")
BY_CELL = ["GaussianNB", "BernoulliNB", "CategoricalNB", "PoissonNB"]
X = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 1.0], [4.0, 1.0], [3.0, 5.0], [2.0, 0.0]])
y = np.array([0, 0, 0, 1, 1, 1])


def with_hole() -> np.ndarray:
    holed = X.copy()
    holed[1, 0] = NAN
    return holed


@pytest.mark.parametrize("name", BY_CELL)
def test_one_hole_costs_one_cell(name: str) -> None:
    """Trap 24: one NaN must kill neither the feature (River) nor the row (H2O)."""
    model = getattr(candide, name)()
    holed = model.fit(with_hole(), y).predict_joint_log_proba([[2.0, NAN], [NAN, 1.0]])
    assert np.isfinite(holed).all()
    # The column with the hole is learned from its other rows; the other column from all of them.
    for j, rows in ((0, [0, 2, 3, 4, 5]), (1, [0, 1, 2, 3, 4, 5])):
        alone = getattr(candide, name)(**_prior(name, [0.5, 0.5])).fit(X[rows][:, [j]], y[rows])
        value = [[2.0]] if j == 0 else [[1.0]]
        expected = alone.predict_joint_log_proba(value)
        if name != "GaussianNB":
            np.testing.assert_allclose(holed[j], expected[0], rtol=1e-12)


def test_one_hole_in_gaussian_moments() -> None:
    """Trap 24: mean and variance of the cells that are there."""
    model = candide.GaussianNB(var_smoothing=0).fit(with_hole(), y)
    np.testing.assert_allclose(model.theta_[0], [0.5, 4 / 3])
    np.testing.assert_allclose(model.var_[0], [0.25, X[:3, 1].var()])
    assert model.class_count_.tolist() == [3, 3]


@pytest.mark.parametrize("name", BY_CELL)
def test_row_of_holes_has_the_prior(name: str) -> None:
    """Trap 24: where nothing is known only the prior is left."""
    model = getattr(candide, name)().fit(X[1:], y[1:])
    np.testing.assert_allclose(model.predict_proba([[NAN, NAN]]), [[0.4, 0.6]])


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_missing_count_is_left_out(name: str) -> None:
    """Trap 24: a missing count is left out of the sum and of the length, as if it were 0."""
    model = getattr(candide, name)()
    found = model.fit(with_hole(), y).feature_log_prob_
    np.testing.assert_allclose(found, getattr(candide, name)().fit(np.nan_to_num(with_hole()), y).feature_log_prob_)
    np.testing.assert_allclose(model.predict_proba([[NAN, 2.0]]), model.predict_proba([[0.0, 2.0]]))


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB"])
@pytest.mark.parametrize("data", [X, with_hole()], ids=["whole", "holed"])
def test_sparse_zero_is_not_missing(name: str, data: Any) -> None:
    """Trap 24: what a sparse matrix does not store is 0; a stored NaN is missing."""
    dense, sparse = (getattr(candide, name)().fit(rows, y) for rows in (data, csr_array(data)))
    np.testing.assert_allclose(sparse.predict_proba(csr_array(data)), dense.predict_proba(data), rtol=1e-10)


def _prior(name: str, prior: list[float]) -> dict[str, Any]:
    return {"priors" if name == "GaussianNB" else "class_prior": prior}
