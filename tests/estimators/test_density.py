"""log p(x) and log p(data) against scipy's distributions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from scipy.special import logsumexp
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import InputError

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (40, 3)).astype(float)
y = RANDOM.integers(0, 3, 40)
NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"]


def gaussian(model: Any) -> np.ndarray:
    return stats.norm.logpdf(X[:, None, :], model.theta_, np.sqrt(model.var_)).sum(axis=2)


def bernoulli(model: Any) -> np.ndarray:
    return stats.bernoulli.logpmf((X > 0)[:, None, :], np.exp(model.feature_log_prob_)).sum(axis=2)


def multinomial(model: Any) -> np.ndarray:
    shares = np.exp(model.feature_log_prob_)
    return np.array([[stats.multinomial.logpmf(row, row.sum(), share) for share in shares] for row in X.astype(int)])


def categorical(model: Any) -> np.ndarray:
    return sum(model.feature_log_prob_[j][:, X[:, j].astype(int)].T for j in range(3))


def poisson(model: Any) -> np.ndarray:
    return stats.poisson.logpmf(X[:, None, :], model.rate_).sum(axis=2)


EXPECTED = dict(zip(NAMES, [gaussian, bernoulli, multinomial, categorical, poisson], strict=True))


def joint(model: Any) -> np.ndarray:
    """log p(x, class) by scipy."""
    return EXPECTED[type(model).__name__](model) + np.log(model.class_prior_)


@every("name", NAMES)
def test_log_density(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    np.testing.assert_allclose(
        diagnostics.log_density(model, X), logsumexp(joint(model), axis=1), rtol=1e-10, atol=1e-14
    )


@every("name", NAMES)
def test_log_likelihood(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    expected = joint(model)[np.arange(40), y]
    assert diagnostics.log_likelihood(model, X, y) == pytest.approx(expected.sum(), rel=1e-10)
    weight = RANDOM.random(40)
    assert diagnostics.log_likelihood(model, X, y, sample_weight=weight) == pytest.approx(expected @ weight, rel=1e-10)


@every("name", ["GaussianNB", "BernoulliNB", "MultinomialNB", "PoissonNB"])
def test_sparse_rows_have_the_same_density(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    np.testing.assert_allclose(
        diagnostics.log_density(model, csr_array(X)), diagnostics.log_density(model, X), rtol=1e-12
    )
    assert diagnostics.log_likelihood(model, csr_array(X), y) == pytest.approx(
        diagnostics.log_likelihood(model, X, y), rel=1e-12
    )


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB"])
def test_probabilities_of_all_rows_sum_to_one(name: str) -> None:
    values = (0, 1) if name == "BernoulliNB" else range(4)
    model = getattr(candide, name)().fit(X, y)
    assert np.exp(diagnostics.log_density(model, list(product(values, repeat=3)))).sum() == pytest.approx(1)


def test_probabilities_of_all_texts_of_a_length_sum_to_one() -> None:
    model = candide.MultinomialNB().fit(X, y)
    rows = [row for row in product(range(6), repeat=3) if sum(row) == 5]
    assert np.exp(diagnostics.log_density(model, rows)).sum() == pytest.approx(1)


def test_probabilities_of_all_counts_sum_to_one() -> None:
    model = candide.PoissonNB().fit(X[:, :1], y)
    assert np.exp(diagnostics.log_density(model, np.arange(100)[:, None])).sum() == pytest.approx(1)


@every("name", ["GaussianNB", "BernoulliNB", "CategoricalNB", "PoissonNB"])
def test_missing_cells_are_summed_out(name: str) -> None:
    """p(x) with a hole is p of the other columns."""
    model, alone = getattr(candide, name)().fit(X, y), getattr(candide, name)().fit(X[:, :2], y)
    if name == "GaussianNB":
        model, alone = (candide.GaussianNB(var_smoothing=0).fit(rows, y) for rows in (X, X[:, :2]))
    holed = X.copy()
    holed[:, 2] = np.nan
    np.testing.assert_allclose(
        diagnostics.log_density(model, holed), diagnostics.log_density(alone, X[:, :2]), rtol=1e-10
    )


def test_maximum_likelihood_is_the_maximum() -> None:
    """No smoothed model gives the training rows a larger likelihood than alpha=0."""
    best = diagnostics.log_likelihood(candide.BernoulliNB(alpha=0).fit(X, y), X, y)
    assert all(
        diagnostics.log_likelihood(candide.BernoulliNB(alpha=a).fit(X, y), X, y) < best for a in (0.01, 0.5, 1.0, 5.0)
    )


def test_impossible_row_has_no_density() -> None:
    model = candide.BernoulliNB(alpha=0).fit([[1, 0], [1, 1]], [0, 1])
    np.testing.assert_array_equal(diagnostics.log_density(model, [[0, 0], [1, 0]]), [-np.inf, np.log(0.5)])
    assert diagnostics.log_likelihood(model, [[0, 0], [1, 0]], [0, 0]) == -np.inf
    assert diagnostics.log_likelihood(model, [[0, 0], [1, 0]], [0, 0], sample_weight=[0, 1]) == np.log(0.5)


@every("name", NAMES)
def test_likelihood_of_an_unknown_class(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    with pytest.raises(InputError, match=r"class 7 in y is unknown to the model; expected one of \[0, 1, 2\]; drop"):
        diagnostics.log_likelihood(model, X[:1], [7])
