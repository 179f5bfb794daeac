"""Likelihoods are densities: they sum or integrate to one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import tries

from candide import MultinomialNB, PoissonNB, diagnostics

from .models import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL, POISSON, SEEN, TEXTS, Kind, by_name
from .strategies import rows

ALPHAS = st.sampled_from([0.0, 1e-10, 0.5, 1.0, 30.0])
few = tries(25)


def fitted(data: Any, kind: Kind, n_columns: int, **parameters: Any) -> Any:
    """A model of some rows."""
    table = data.draw(rows(kind, n_columns=n_columns))
    return kind.fit(table.X, table.y, table.weight, **parameters)


def mass(model: Any, X: Any) -> float:
    """The probability of all the given rows together."""
    return float(np.exp(diagnostics.log_density(model, X)).sum())


@given(data=st.data(), alpha=ALPHAS)
def test_bernoulli_sums_to_one(data: Any, alpha: float) -> None:
    """Over both values of each column, and over all rows there can be."""
    model = fitted(data, BERNOULLI, 3, alpha=alpha)
    on, off = model.model_.classifier.bound_spec.family.log_on_off(model.model_.classifier.state.statistics)
    np.testing.assert_allclose(np.exp(on.value()) + np.exp(off.value()), 1.0, rtol=1e-12)
    assert mass(model, np.array(list(product([0.0, 1.0], repeat=3)))) == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("kind", [CATEGORICAL, TEXTS], ids=by_name)
@given(data=st.data(), alpha=ALPHAS, least=st.sampled_from([None, 7]))
def test_categories_sum_to_one(kind: Kind, data: Any, alpha: float, least: int | None) -> None:
    """Over the values of each column, and over all rows there can be."""
    model = fitted(data, kind, 2, alpha=alpha, min_categories=least)
    for log_share in model.feature_log_prob_:
        np.testing.assert_allclose(np.exp(log_share).sum(axis=1), 1.0, rtol=1e-12)
    # A column nobody observed has no value to be asked about; made-up categories of texts have no name.
    if all(len(values) == n for values, n in zip(model.categories_, model.n_categories_, strict=True)):
        space = np.array(list(product(*model.categories_)), dtype=object)
        assert mass(model, space) == pytest.approx(1.0, rel=1e-10)


@given(data=st.data(), alpha=ALPHAS)
def test_the_reserved_category_takes_the_rest(data: Any, alpha: float) -> None:
    """With unseen="smooth" the values seen and one unseen sum to one."""
    model = fitted(data, SEEN, 2, alpha=alpha)
    # A column nobody observed has room for a value that has no name.
    if all(len(values) for values in model.categories_):
        space = np.array(list(product(*([*values.tolist(), 99] for values in model.categories_))))
        assert mass(model, space) == pytest.approx(1.0, rel=1e-10)


@given(data=st.data(), alpha=ALPHAS, length=st.integers(0, 6))
def test_multinomial_sums_to_one(data: Any, alpha: float, length: int) -> None:
    """Over the shares, and over all rows of one length, the coefficient included."""
    model: MultinomialNB = fitted(data, MULTINOMIAL, 3, alpha=alpha)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1.0, rtol=1e-12)
    space = [row for row in product(range(length + 1), repeat=3) if sum(row) == length]
    assert mass(model, np.array(space, dtype=np.float64)) == pytest.approx(1.0, rel=1e-10)


@given(data=st.data(), prior=st.sampled_from([(0.0, 0.0), (1.0, 1.0), (2.5, 0.5)]))
def test_poisson_sums_to_one(data: Any, prior: tuple[float, float]) -> None:
    """Over all counts that have a probability to speak of."""
    model: PoissonNB = fitted(data, POISSON, 2, alpha=prior[0], beta=prior[1])
    counts = np.arange(60.0)
    space = np.array(list(product(counts, counts)))
    assert mass(model, space) == pytest.approx(1.0, rel=1e-9)


@few
@given(data=st.data(), smoothing=st.sampled_from([0.01, 0.5]))
def test_gaussian_integrates_to_one(data: Any, smoothing: float) -> None:
    """Over a grid that reaches far beyond the data."""
    model = fitted(data, GAUSSIAN, 1, var_smoothing=smoothing)
    if not model.epsilon_ > 0:
        return
    spread = np.sqrt(model.var_.max())
    width = np.sqrt(model.var_.min()) / 8
    grid = np.arange(model.theta_.min() - 9 * spread, model.theta_.max() + 9 * spread, width)
    assert mass(model, grid[:, None]) * width == pytest.approx(1.0, rel=1e-8)


@pytest.mark.parametrize("kind", [GAUSSIAN, BERNOULLI, MULTINOMIAL, CATEGORICAL, TEXTS, POISSON], ids=by_name)
@given(data=st.data())
def test_log_likelihood_is_the_sum_of_joint_densities(kind: Kind, data: Any) -> None:
    """Over classes, exp of log p(x, class) is exp of log_density; over rows, log_likelihood adds them."""
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y)
    X = kind.encode(table.X)
    alone = [np.array([diagnostics.log_likelihood(model, row[None], [label]) for label in model.classes_]) for row in X]
    np.testing.assert_allclose(
        np.logaddexp.reduce(alone, axis=1), diagnostics.log_density(model, X), rtol=1e-9, atol=1e-9
    )
    place = [model.classes_.tolist().index(label) for label in table.y]
    whole = sum(row[j] for row, j in zip(alone, place, strict=True))
    assert diagnostics.log_likelihood(model, X, table.y) == pytest.approx(whole, rel=1e-9)
