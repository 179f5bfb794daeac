"""Types and accumulators: traps 11 to 14."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_array
from tiers import every

import candide
from candide import NaiveBayes
from candide.exceptions import InputError

from .theirs import assert_trapped

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]


@pytest.mark.parametrize("name", NAMES)
def test_counts_pass_the_end_of_float32(name: str) -> None:
    """Trap 11: a float32 model stops counting at 16,777,216."""

    def counted(kind: Any) -> float:
        X, y = np.array([[1.0], [2.0]], dtype=np.float32), [0, 1]
        model = kind().partial_fit(X, y, classes=[0, 1], sample_weight=[2.0**24, 1.0])
        return float(model.partial_fit(X[:1], [0]).class_count_[0])

    assert counted(getattr(candide, name)) == 2**24 + 1
    if name == "GaussianNB":
        assert_trapped(lambda: counted(theirs.GaussianNB) == 2**24)


def test_float32_rows_have_float64_variances() -> None:
    """Trap 11: float32 arithmetic at an offset of 1e6 puts the variance off by half a percent."""
    X = (np.random.default_rng(0).normal(size=(1000, 1)) + 1e6).astype(np.float32)
    y = np.zeros(1000)
    exact = X.astype(np.float64).var(axis=0)

    def error(kind: Any) -> float:
        return float(np.abs(kind(var_smoothing=0).fit(X, y).var_[0] / exact - 1).max())

    assert error(candide.GaussianNB) < 1e-9
    assert_trapped(lambda: error(theirs.GaussianNB) > 1e-4)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "PoissonNB"])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_sums_of_int64_do_not_turn_negative(name: str, convert: Any) -> None:
    """Trap 12: int64 sums wrap around in scikit-learn unless there are weights."""
    X = convert(np.full((4, 2), 2**62, dtype=np.int64))
    assert (getattr(candide, name)().fit(X, [0, 0, 0, 1]).feature_count_[0] == 3 * 2.0**62).all()
    if name == "MultinomialNB" and convert is np.asarray:
        assert_trapped(lambda: (theirs.MultinomialNB().fit(X, [0, 0, 0, 1]).feature_count_ < 0).any())


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "u8"])
def test_sums_of_narrow_integers_do_not_wrap(dtype: str) -> None:
    """Trap 12: nor do those of any other width."""
    X = np.full((1000, 1), np.iinfo(dtype).max, dtype=dtype)
    found = candide.MultinomialNB().fit(X, np.zeros(1000)).feature_count_[0, 0]
    assert found == pytest.approx(1000 * float(np.iinfo(dtype).max), rel=1e-15)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "PoissonNB", "GaussianNB"])
def test_sums_beyond_the_largest_double_are_refused(name: str) -> None:
    """Trap 12: sums at 1e308 become infinite."""
    X = np.full((4, 2), 1.5e308)
    with pytest.raises(InputError, match="large"):
        getattr(candide, name)().fit(X, [0, 0, 1, 1])
    assert_trapped(lambda: np.isinf(theirs.MultinomialNB().fit(X, [0, 0, 1, 1]).feature_count_).any())


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_more_cells_than_int32_counts(name: str) -> None:
    """Trap 13: classes × columns beyond 2^31 overflows a 32-bit index, and a dense table."""
    n = 70_000
    X = csr_array((np.ones(n), (np.arange(n), np.arange(n) % 40_000)), shape=(n, 40_000))
    tracemalloc.start()
    model = getattr(candide, name)().fit(X, np.arange(n))
    found = model.predict(X[[39_999, 12]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.tolist() == [39_999, 12]
    assert peak < 200e6


@pytest.mark.parametrize("name", NAMES)
@every("scale", [1e-9, 1e-30, 1e30])
def test_only_proportions_of_weights_matter(name: str, scale: float) -> None:
    """Trap 14: GaussianNB takes a class of weight below 1e-8 for empty."""
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [5.0, 3.0], [7.0, 5.0]]), [0, 0, 1, 1]
    # Pseudo-counts are weights too.
    alpha = {} if name == "GaussianNB" else {"alpha": 0}
    alpha |= {"beta": 0} if name == "PoissonNB" else {}
    kind = getattr(candide, name)
    scaled = kind(**alpha).fit(X, y, sample_weight=np.full(4, scale))
    np.testing.assert_allclose(scaled.predict_proba(X), kind(**alpha).fit(X, y).predict_proba(X), atol=1e-9)


def test_tiny_weights_have_a_mean() -> None:
    """Trap 14: with weights of 1e-9 scikit-learn leaves the mean at 0."""
    X, y, weight = np.array([[5.0], [7.0]]), [0, 0], [1e-9, 1e-9]
    assert candide.GaussianNB().partial_fit(X, y, sample_weight=weight).theta_ == 6
    model = theirs.GaussianNB()
    assert_trapped(lambda: (model.partial_fit(X, y, classes=[0, 1], sample_weight=weight).theta_[0] == 0).all())


@pytest.mark.parametrize("name", NAMES)
def test_negative_weights_are_refused(name: str) -> None:
    """Trap 14: negative weights give NaN without an error."""
    X, y, weight = [[1.0], [2.0], [3.0]], [0, 1, 1], [1.0, 1.0, -2.0]
    with pytest.raises(InputError, match=r"-2\.0 at row 2"):
        getattr(candide, name)().fit(X, y, weight)
    assert_trapped(lambda: np.isnan(theirs.GaussianNB().fit(X, y, weight).predict_proba(X)).any())


def test_dates_in_arrays_without_column_names() -> None:
    """A date makes several columns of the model, but it is one column of the input."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01", "s") + rng.integers(0, 300, 80).astype("timedelta64[D]")
    frame = pd.DataFrame({"age": rng.normal(40.0, 9.0, 80), "signup": days, "job": rng.choice(list("xyz"), 80)})
    y = np.where(frame["age"] > 40.0, "a", "b")
    array = frame.to_numpy(dtype=object)
    model, named = NaiveBayes().fit(array, y), NaiveBayes().fit(frame, y)
    assert model.n_features_in_ == named.n_features_in_ == 3
    np.testing.assert_allclose(model.predict_proba(array), named.predict_proba(frame), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="X has 2 features, but NaiveBayes is expecting 3"):
        model.predict(array[:, :2])
