"""The regression that goes on from scores: it ends where the slope is 0, and where others end."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from candide.stacking.refinement import OffsetLogisticRegression


def problem(n: int, d: int, n_classes: int, seed: int, *, offset: bool = True) -> OffsetLogisticRegression:
    rng = np.random.default_rng(seed)
    rows = csr_array(np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0))
    offsets = rng.normal(size=(n, n_classes)) if offset else np.zeros((n, n_classes))
    return OffsetLogisticRegression.of(rows, rng.integers(0, n_classes, n), rng.uniform(0.5, 2.0, n), offsets, 0.3)


def loss(of: OffsetLogisticRegression, point: np.ndarray) -> float:
    delta = point.reshape(of.rows.shape[1], -1)
    total = of.offset + of.rows @ delta
    own = total[np.arange(len(total)), of.classes]
    return float(of.weight @ (np.logaddexp.reduce(total, axis=1) - own)) + 0.5 * of.ridge * float((delta**2).sum())


@pytest.mark.parametrize("shape", [(30, 8, 3), (12, 40, 2), (25, 25, 5)])
def test_least_as_found_by_another_search(shape: tuple[int, int, int]) -> None:
    of = problem(*shape, seed=sum(shape))
    found = of.solve()
    start = np.zeros(found.size)
    other = minimize(lambda point: loss(of, point), start, method="L-BFGS-B", options={"maxfun": 10**6, "ftol": 1e-13})
    assert loss(of, found.ravel()) <= other.fun + 1e-5
    assert np.allclose(found.ravel(), other.x, atol=5e-3)


def test_as_scikit_learn_where_nothing_goes_before() -> None:
    of = problem(60, 10, 3, seed=1, offset=False)
    peer = LogisticRegression(C=1 / of.ridge, fit_intercept=False, tol=1e-10, max_iter=10_000)
    peer.fit(of.rows.toarray(), of.classes, of.weight)
    assert np.allclose(of.solve(), peer.coef_.T, atol=1e-4)


def test_a_row_of_weight_two_is_two_rows() -> None:
    of = problem(20, 6, 3, seed=2)
    twice = np.repeat(np.arange(20), 2)
    copies = OffsetLogisticRegression.of(
        of.rows[twice], of.classes[twice], of.weight[twice] / 2, of.offset[twice], of.ridge
    )
    assert np.allclose(of.solve(), copies.solve(), atol=1e-3)


def test_nothing_to_add_where_all_is_known() -> None:
    of = problem(20, 6, 3, seed=3)
    sure = np.zeros((20, 3))
    sure[np.arange(20), of.classes] = 50.0
    assert np.abs(OffsetLogisticRegression.of(of.rows, of.classes, of.weight, sure, of.ridge).solve()).max() < 1e-9


def test_rows_without_tokens_and_no_tokens_at_all() -> None:
    classes, weight = np.array([0, 1, 1]), np.ones(3)
    assert OffsetLogisticRegression.of(csr_array((3, 4)), classes, weight, np.zeros((3, 2)), 0.3).solve().shape == (
        4,
        2,
    )
    assert OffsetLogisticRegression.of(csr_array((3, 0)), classes, weight, np.zeros((3, 2)), 0.3).solve().shape == (
        0,
        2,
    )
