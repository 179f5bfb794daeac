"""Memory and time: traps 25 to 28. Memory is what Python and NumPy allocate; nothing here is timed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_array, random_array

import candide
from candide import diagnostics

from .theirs import assert_trapped


def peak(call: Callable[[], object]) -> int:
    """Bytes that Python and NumPy held at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def sparse_rows(n_rows: int, n_columns: int, density: float) -> csr_array:
    random = np.random.default_rng(0)
    return csr_array(
        random_array((n_rows, n_columns), density=density, random_state=random, data_sampler=random.random)
    )


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
def test_classes_are_not_one_hot(name: str) -> None:
    """Trap 25: a one-hot table of rows × classes took 176 MB for an X of 1.2 MB."""
    X, y = sparse_rows(10_000, 200, 0.02), np.arange(10_000) % 1_000
    one_hot = 10_000 * 1_000 * 8
    assert peak(lambda: getattr(candide, name)().fit(X, y)) < one_hot / 8
    if name == "MultinomialNB":
        assert_trapped(lambda: peak(lambda: theirs.MultinomialNB().fit(X, y)) > one_hot)


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "CategoricalNB"])
def test_probabilities_need_no_second_table(name: str) -> None:
    """Trap 25: predict_proba took five times the size of its result."""
    X, y = np.random.default_rng(0).integers(0, 3, (20_000, 4)), np.arange(20_000) % 200
    model = getattr(candide, name)().fit(X, y)
    result = 20_000 * 200 * 8
    assert peak(lambda: model.predict_proba(X)) < 1.2 * result
    assert peak(lambda: model.predict(X[:5_000])) < 1.2 * result / 4


MODELS = [candide.BernoulliNB(), candide.MultinomialNB(), candide.ComplementNB(), candide.PoissonNB()]
UNSMOOTHED = [candide.MultinomialNB(estimate="mle"), candide.PoissonNB(estimate="mle")]


@pytest.mark.parametrize("model", [*MODELS, *UNSMOOTHED], ids=str)
def test_only_observed_cells_are_stored(model: Any) -> None:
    """Traps 26 and 28: 10,000 classes × 100,000 columns is 8 GB, of which almost all is empty."""
    X, y = sparse_rows(20_000, 100_000, 1e-4), np.arange(20_000) % 10_000

    def train_and_predict() -> None:
        model.fit(X, y).predict(X[:100])

    assert peak(train_and_predict) < 150e6


@pytest.mark.parametrize(
    "name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
)
def test_learning_does_not_derive_parameters(name: str) -> None:
    """Trap 27: logarithms of all parameters are made when someone asks, not at each partial_fit."""
    model = getattr(candide, name)()
    for _ in range(3):
        model.partial_fit([[1, 2], [2, 0]], [0, 1])
    assert not {"likelihood", "scorer"} & set(vars(model.model_.classifier))
    model.predict([[1, 2]])
    assert {"likelihood", "scorer"} <= set(vars(model.model_.classifier))


def test_a_large_code_is_one_value_among_many() -> None:
    """A range of 400 million codes has a share for each, and is never written out."""
    X, y = np.array([[3], [400_000_000], [3], [7]]), np.array([0, 0, 1, 1])

    def ask() -> None:
        model = candide.CategoricalNB(alpha="evidence").fit(X, y)
        model.predict(X)
        assert np.isfinite(diagnostics.log_marginal_likelihood(model))
        assert diagnostics.intervals(model)["value"].tolist() == [3, 7, 400_000_000] * 2

    assert peak(ask) < 1e6


@pytest.mark.parametrize(
    "settings",
    [{}, pytest.param({"estimate": "map", "alpha": 0.5}, marks=pytest.mark.slow)],
    ids=["mean", "map"],
)
def test_weighted_rows_left_out_of_many_categories(settings: dict[str, Any]) -> None:
    """Every row has a weight of its own, and a table of values for each row would take 160 MB."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.integers(0, 2_000, (10_000, 1)), np.arange(10_000) % 2, rng.random(10_000) + 0.1
    model = candide.CategoricalNB(**settings).fit(X, y, weight)
    assert peak(lambda: model.leave_one_out(X, y, weight)) < 80e6
