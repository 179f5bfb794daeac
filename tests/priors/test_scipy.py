"""Means, modes, intervals and draws are those of SciPy's distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln
from tiers import every

from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

MEAN_VARIANCE = NormalInverseGamma(2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True)
class Marginal:
    """One parameter of a prior and SciPy's distribution of it."""

    name: str
    prior: Any
    part: Callable[[Any], Any]  # from a result of the prior, what is about this parameter
    theirs: Any


def itself(result: Any) -> Any:
    """The whole result."""
    return result


def second_share(result: Any) -> Any:
    """The share of the second outcome, last axis; or the ends of its interval."""
    return tuple(end[1] for end in result) if isinstance(result, tuple) else result[..., 1]


MARGINALS = [
    Marginal("beta", Beta(1.5, 4.0), itself, stats.beta(1.5, 4)),
    Marginal("beta-sparse", Beta(0.05, 0.02), itself, stats.beta(0.05, 0.02)),
    Marginal("dirichlet", Dirichlet([1.0, 2.5, 4.0]), second_share, stats.beta(2.5, 5)),
    Marginal("dirichlet-sparse", Dirichlet([0.001, 0.002, 0.003]), second_share, stats.beta(0.002, 0.004)),
    Marginal("gamma", Gamma(3.0, 0.5), itself, stats.gamma(3, scale=2)),
    Marginal("gamma-sparse", Gamma(0.1, 0.5), itself, stats.gamma(0.1, scale=2)),
    Marginal("normal", Normal(-1.0, 4.0, 9.0), itself, stats.norm(-1, 2)),
    Marginal("mean", MEAN_VARIANCE, lambda pair: pair.mean, stats.t(8, 2, np.sqrt(6 / 4 / 3))),
    Marginal("variance", MEAN_VARIANCE, lambda pair: pair.variance, stats.invgamma(4, scale=6)),
]
all_marginals = pytest.mark.parametrize("marginal", MARGINALS, ids=lambda marginal: marginal.name)


@all_marginals
def test_mean(marginal: Marginal) -> None:
    assert marginal.part(marginal.prior.mean()) == pytest.approx(marginal.theirs.mean(), rel=1e-12)


@all_marginals
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999])
def test_interval(marginal: Marginal, level: float) -> None:
    ours = marginal.part(marginal.prior.interval(level))
    np.testing.assert_allclose(ours, marginal.theirs.interval(level), rtol=1e-9, atol=1e-300)


@all_marginals
def test_draws(marginal: Marginal) -> None:
    """Mean and variance of the draws lie within five standard errors of SciPy's."""
    draws = marginal.part(marginal.prior.sample(20_000, random_state=7))
    assert draws.shape == (20_000,)
    assert np.isfinite(draws).all()
    mean, variance, kurtosis = marginal.theirs.stats("mvk")
    assert draws.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 20_000))
    if np.isfinite(kurtosis):
        assert draws.var() == pytest.approx(variance, abs=5 * variance * np.sqrt((kurtosis + 2) / 20_000))


@all_marginals
def test_draws_follow_the_seed(marginal: Marginal) -> None:
    first, again = (marginal.part(marginal.prior.sample(5, random_state=3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = marginal.part(marginal.prior.sample(5, np.random.default_rng(3)))
    np.testing.assert_array_equal(first, other)
    assert marginal.part(marginal.prior.sample(5, np.random.RandomState(3))).shape == (5,)


def test_shares_are_drawn_whole() -> None:
    draws = Dirichlet(np.array([[1.0, 2.0, 3.0], [1e-4, 1e-4, 1e-4]])).sample(50, random_state=0)
    assert draws.shape == (50, 2, 3)
    np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=1e-12)


def best_on_grid(log_density: Callable[[Floats], Floats], grid: Floats) -> float:
    return float(grid[np.argmax(log_density(grid))])


@every("a,b", [(1.5, 4.0), (8.0, 1.2), (2.0, 1.0), (1.0, 3.0)])
def test_mode_of_a_share(a: float, b: float) -> None:
    grid = np.linspace(0, 1, 10_001)
    assert Beta(a, b).mode() == pytest.approx(best_on_grid(stats.beta(a, b).logpdf, grid), abs=1e-4)


@every("shape", [0.5, 1.0, 1.5, 7.0])
def test_mode_of_a_rate(shape: float) -> None:
    grid = np.linspace(1e-9, 10, 100_001)
    assert Gamma(shape, 2).mode() == pytest.approx(best_on_grid(stats.gamma(shape, scale=0.5).logpdf, grid), abs=1e-4)


def test_mode_of_mean_and_variance_is_joint() -> None:
    """The density of the pair is largest there, not that of the variance alone."""
    mode = MEAN_VARIANCE.mode()
    grid = np.linspace(0.2, 4, 100_001)

    def log_density(variance: Floats) -> Floats:
        return stats.invgamma.logpdf(variance, 4, scale=6) + stats.norm.logpdf(2.0, 2.0, np.sqrt(variance / 3))

    assert mode.mean == 2.0
    assert mode.variance == pytest.approx(best_on_grid(log_density, grid), abs=1e-4)
    assert mode.variance < stats.invgamma(4, scale=6).mean()


@every(
    "prior,values",
    [
        (Beta(0.7, 2.0), [1, 0, 0, 1, 1]),
        (Gamma(0.7, 2.0), [3, 0, 5]),
        (Normal(1.0, 2.0, 3.0), [0.5, -2.0, 4.0]),
        (MEAN_VARIANCE, [0.5, -2.0, 4.0]),
    ],
)
def test_predictions_one_after_the_other_are_the_evidence(prior: Any, values: list[float]) -> None:
    found, belief = 0.0, prior
    for value in values:
        ahead = belief.predictive()
        found += getattr(ahead, "logpdf", getattr(ahead, "logpmf", None))(value)
        belief = belief.learn([value])
    n, mean, scatter = len(values), np.mean(values), np.var(values) * len(values)
    summary = {"Beta": (sum(values), n - sum(values)), "Gamma": (sum(values), n)}
    marginal_likelihood = prior.log_marginal_likelihood(*summary.get(type(prior).__name__, (mean, n, scatter)))
    if isinstance(prior, Gamma):
        marginal_likelihood -= gammaln(np.array(values) + 1).sum()
    assert found == pytest.approx(marginal_likelihood, rel=1e-12)


def test_the_next_draws_of_several_outcomes() -> None:
    prior = Dirichlet([[0.5, 1.0, 2.5], [2.0, 2.0, 2.0]])
    np.testing.assert_allclose(prior.predictive().logpmf([0, 0, 1]), np.log(prior.mean()[:, 2]))
    coefficient = np.log(30.0)  # of the orders in which two, one and two come
    marginal_likelihood = prior.log_marginal_likelihood([[2, 1, 2]] * 2)
    np.testing.assert_allclose(prior.predictive(5).logpmf([2, 1, 2]), marginal_likelihood + coefficient)


def test_strength_of_a_known_variance() -> None:
    assert Normal(1.0, 2.0, 3.0).strength == 1.5


@every("n", [1e8, 1e12, 1e16])
def test_evidence_keeps_its_digits(n: float) -> None:
    """Strong beliefs and few data, few beliefs and many data, and both."""
    close = {"rel": 1e-13, "abs": 1e-13}
    assert Beta(n, n).log_marginal_likelihood(1, 1) == pytest.approx(np.log(0.25 * 2 * n / (2 * n + 1)), **close)
    assert Beta(1, 1).log_marginal_likelihood(n, 0) == pytest.approx(-np.log1p(n), **close)
    assert Beta(n, 1).log_marginal_likelihood(n, 0) == pytest.approx(-np.log(2), rel=1e-7)
    assert Dirichlet([n, n, n]).log_marginal_likelihood([1, 0, 1]) == pytest.approx(2 * np.log(1 / 3), abs=1e-8)
    assert Dirichlet([1, 1, n]).log_marginal_likelihood([0, 1, 0]) == pytest.approx(-np.log(n + 2), **close)
    assert Dirichlet([1, n]).log_marginal_likelihood([2, 5]) == pytest.approx(
        Beta(1, n).log_marginal_likelihood(2, 5), **close
    )
    assert Gamma(n, n).log_marginal_likelihood(1, 1) == pytest.approx(-1.0, abs=1e-7)
    assert NormalInverseGamma(0, 1, n, n).log_marginal_likelihood(0, 1, 0) == pytest.approx(
        -0.5 * np.log(4 * np.pi), abs=1e-7
    )
