"""Variances: traps 5 to 8.

Trap 8 (Weka rounds values to a precision that depends on the data) is Weka's alone; what it breaks, that merged models
equal one trained on all rows, is tested here too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_array

import candide

from .theirs import assert_trapped


def rows(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 3)), random.integers(0, 3, n)


def parameters(model: Any) -> np.ndarray:
    return np.stack([model.theta_, model.var_])


@pytest.mark.parametrize("convert", [np.asarray, csr_array, lambda X: X.astype(np.float32)])
def test_large_offset_keeps_the_variance(convert: Any) -> None:
    """Trap 5: E[x²] - E[x]² loses all digits when the mean is large."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [8.0]]) + 2.0**23
    model = candide.GaussianNB(var_smoothing=0).fit(convert(X), [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.var_, [[2 / 3], [14 / 3]], rtol=1e-12)


def test_large_offset_in_chunks_keeps_the_variance() -> None:
    """Trap 5: neither do chunks lose digits."""
    X, y = rows()
    whole = candide.GaussianNB(var_smoothing=0).fit(X, y)
    model = candide.GaussianNB(var_smoothing=0)
    for part in range(0, 60, 7):
        model.partial_fit(X[part : part + 7] + 1e8, y[part : part + 7])
    np.testing.assert_allclose(model.var_, whole.var_, rtol=1e-6)


def test_chunks_in_any_order_have_one_floor() -> None:
    """Trap 6: partial_fit takes the new batch's floor away, though the old one was added."""
    X, y = rows()
    X[y == 0, 0] = 1.0
    parts = [(X[:20] * 100, y[:20]), (X[20:], y[20:])]

    def trained(kind: Any, order: int) -> np.ndarray:
        model = kind(var_smoothing=1e-2)
        for part in parts[::order]:
            model.partial_fit(*part, classes=[0, 1, 2])
        return parameters(model)

    def whole(kind: Any) -> np.ndarray:
        return parameters(kind(var_smoothing=1e-2).fit(np.vstack([parts[0][0], parts[1][0]]), y))

    np.testing.assert_allclose(trained(candide.GaussianNB, 1), whole(candide.GaussianNB), rtol=1e-12)
    np.testing.assert_allclose(trained(candide.GaussianNB, -1), whole(candide.GaussianNB), rtol=1e-12)
    kind = theirs.GaussianNB
    assert_trapped(lambda: not np.allclose(trained(kind, 1), whole(kind), rtol=1e-3))


def test_row_by_row_equals_fit_where_a_column_is_constant() -> None:
    """Trap 6: row by row the floor is 0 in scikit-learn, and a constant column gives NaN."""
    X, y = np.array([[1.0, 0.0], [1.0, 2.0], [3.0, 5.0], [4.0, 7.0]]), [0, 0, 1, 1]

    def trained(kind: Any) -> Any:
        model = kind()
        for row, label in zip(X, y, strict=True):
            model.partial_fit([row], [label], classes=[0, 1])
        return model

    whole = candide.GaussianNB().fit(X, y)
    np.testing.assert_allclose(trained(candide.GaussianNB).var_, whole.var_, rtol=1e-12)
    np.testing.assert_allclose(trained(candide.GaussianNB).predict_proba(X), whole.predict_proba(X), atol=1e-12)
    assert_trapped(lambda: np.isnan(trained(theirs.GaussianNB).predict_proba(X)).any())


def test_small_variance_survives_a_large_floor() -> None:
    """Trap 6: adding and removing a large floor erases small variances."""
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 2)) * [2.5e-5, 1e4]
    y = np.arange(40) % 2
    model = candide.GaussianNB().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    exact = np.array([X[y == c, 0].var() for c in (0, 1)])
    np.testing.assert_allclose(model.set_params(var_smoothing=0).partial_fit(X, y).var_[:, 0], exact, rtol=1e-12)


def test_floor_can_be_switched_off() -> None:
    """Trap 7: one column of scale 1e6 makes a perfect column of scale 1e-3 useless; var_smoothing=0 mends it."""
    random = np.random.default_rng(2)
    y = np.arange(200) % 2
    X = np.column_stack([(y - 0.5) * 1e-3 + random.normal(size=200) * 1e-5, random.normal(size=200) * 1e6])
    assert candide.GaussianNB(var_smoothing=0).fit(X, y).score(X, y) == 1.0
    assert_trapped(lambda: theirs.GaussianNB().fit(X, y).score(X, y) < 0.7)


@pytest.mark.parametrize("smoothing", [0, 1e-9])
def test_constant_data_leave_the_prior(smoothing: float) -> None:
    """Trap 7: if all columns are constant the floor is 0, and scikit-learn gives NaN."""
    X, y = np.full((3, 2), 7.0), [0, 0, 1]
    model = candide.GaussianNB(var_smoothing=smoothing).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[7.0, 7.0], [8.0, 7.0]]), [[2 / 3, 1 / 3]] * 2)
    assert_trapped(lambda: np.isnan(theirs.GaussianNB().fit(X, y).predict_proba(X)).any())


def test_constant_class_is_a_point() -> None:
    """Trap 7: without a floor a class of equal values takes its own point, and nothing else."""
    model = candide.GaussianNB(var_smoothing=0).fit([[1.0], [1.0], [0.0], [2.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[1.0], [1.001]]), [[1, 0], [0, 1]])


def test_merged_equals_refitted() -> None:
    """Trap 8: merging rounded estimators is not training on all rows."""
    X, y = rows(3)
    parts = [candide.GaussianNB().fit(X[i::4] * [1, 1e-6, 1e6], y[i::4]) for i in range(4)]
    whole = candide.GaussianNB().fit(X * [1, 1e-6, 1e6], y)
    np.testing.assert_allclose(parameters(candide.merge(parts)), parameters(whole), rtol=1e-9)
