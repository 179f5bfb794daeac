"""A posterior is a prior: learning in steps, and the evidence as a product of predictions and as an integral."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import dblquad, quad, trapezoid

from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

from .distributions import KINDS, Kind, assert_close, by_name

all_kinds = pytest.mark.parametrize("kind", KINDS, ids=by_name)


@all_kinds
@given(data=st.data())
def test_learning_in_two_steps_is_learning_at_once(kind: Kind, data: Any) -> None:
    prior, first, second = data.draw(kind.priors), data.draw(kind.values), data.draw(kind.values)
    assert_close(prior.learn(first).learn(second), prior.learn(np.concatenate([first, second])))


@all_kinds
@given(data=st.data())
def test_learning_is_the_posterior_of_the_summary(kind: Kind, data: Any) -> None:
    prior, values = data.draw(kind.priors), data.draw(kind.values)
    assert_close(prior.learn(values), prior.posterior(*kind.learned(*kind.summary(values))))
    assert_close(prior.learn([]), prior)


@all_kinds
@given(data=st.data())
def test_missing_observations_say_nothing(kind: Kind, data: Any) -> None:
    prior, values = data.draw(kind.priors), data.draw(kind.values)
    assert_close(prior.learn(np.append(values, np.nan)), prior.learn(values))


@all_kinds
@given(data=st.data())
def test_evidence_is_the_product_of_predictions(kind: Kind, data: Any) -> None:
    """Each observation predicted from those before it, by SciPy's predictive distribution."""
    prior, values = data.draw(kind.priors), data.draw(kind.values)
    predicted = sum(kind.log_predictive(prior.learn(values[:i]), x) for i, x in enumerate(values))
    assert prior.log_marginal_likelihood(*kind.summary(values)) == pytest.approx(predicted, rel=1e-9, abs=1e-9)


def integral(density: Any, low: float, high: float) -> float:
    return float(quad(density, low, high, epsabs=0, epsrel=1e-10, limit=200)[0])


def test_evidence_of_a_share_is_an_integral() -> None:
    whole = integral(lambda p: stats.beta.pdf(p, 1.5, 2.5) * p**7 * (1 - p) ** 3, 0, 1)
    assert Beta(1.5, 2.5).log_marginal_likelihood(7, 3) == pytest.approx(np.log(whole), rel=1e-8)


def test_evidence_of_shares_is_an_integral() -> None:
    def density(q: float, p: float) -> float:
        r = max(1 - p - q, 0.0)
        return float(stats.dirichlet.pdf([p, q, 1 - p - q], [2, 1, 3]) * p**2 * q * r**3) if r > 1e-12 else 0.0

    whole = dblquad(density, 1e-9, 1 - 1e-9, lambda p: 1e-12, lambda p: 1 - p - 1e-12, epsrel=1e-6)[0]
    assert Dirichlet([2, 1, 3]).log_marginal_likelihood([2, 1, 3]) == pytest.approx(np.log(whole), rel=1e-5)


def test_evidence_of_a_rate_is_an_integral() -> None:
    whole = integral(lambda rate: stats.gamma.pdf(rate, 1.5, scale=1 / 0.7) * rate**11 * np.exp(-4 * rate), 0, 40)
    assert Gamma(1.5, 0.7).log_marginal_likelihood(11, 4) == pytest.approx(np.log(whole), rel=1e-8)


def test_evidence_of_a_mean_is_an_integral() -> None:
    values = np.array([0.5, 2.0, 3.5])
    whole = integral(
        lambda m: stats.norm.pdf(m, 1, np.sqrt(2)) * stats.norm.pdf(values, m, np.sqrt(0.5)).prod(), -10, 10
    )
    marginal_likelihood = Normal(1, 2, 0.5).log_marginal_likelihood(2.0, 3, ((values - 2) ** 2).sum())
    assert marginal_likelihood == pytest.approx(np.log(whole), rel=1e-8)


def test_evidence_of_mean_and_variance_is_an_integral() -> None:
    """On a grid in log σ² and in standard deviations of μ."""
    values = np.array([0.5, 2.0, 3.5])
    log_variance, away = np.linspace(-6, 12, 1201)[:, None], np.linspace(-12, 12, 801)
    variance = np.exp(log_variance)
    mean = 1.0 + away * np.sqrt(variance)
    belief = stats.invgamma.pdf(variance, 2, scale=1.5) * stats.norm.pdf(away, 0, 1 / np.sqrt(0.8))
    scatter = ((values - mean[..., None]) ** 2).sum(axis=2)
    density = belief * np.exp(-scatter / (2 * variance)) / (2 * np.pi * variance) ** 1.5
    whole = trapezoid(trapezoid(density, away, axis=1) * variance[:, 0], log_variance[:, 0])
    marginal_likelihood = NormalInverseGamma(1, 0.8, 2, 1.5).log_marginal_likelihood(2.0, 3, ((values - 2) ** 2).sum())
    assert marginal_likelihood == pytest.approx(np.log(whole), rel=1e-8)


def test_many_columns_at_once() -> None:
    """Arrays give the numbers of single priors side by side."""
    on, off = np.array([[3.0, 0.0], [1.0, 5.0]]), np.array([[1.0, 4.0], [0.0, 2.0]])
    both = Beta([0.5, 2.0], 1.0)
    single = np.array(
        [[Beta([0.5, 2.0][j], 1).log_marginal_likelihood(on[i, j], off[i, j]) for j in (0, 1)] for i in (0, 1)]
    )
    np.testing.assert_allclose(both.log_marginal_likelihood(on, off), single, rtol=1e-12)
    np.testing.assert_allclose(both.posterior(on, off).mean(), (on + both.a) / (on + off + both.a + 1), rtol=1e-12)
