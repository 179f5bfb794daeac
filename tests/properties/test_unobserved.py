"""A column that nobody observed says nothing: under every estimate and prior, to every question."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tiers import every

from candide import BernoulliNB, CategoricalNB, GaussianNB, PoissonNB, diagnostics
from candide.kernels.layouts import Floats
from candide.priors import Normal, NormalInverseGamma

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [9, 7, 5])
X = RNG.normal([[0.0, 1.0]], 1.0, (21, 2)) + np.repeat([[0.0], [1.0], [2.0]], [9, 7, 5], axis=0)
X[3, 1] = np.nan
HOLES = np.full((21, 1), np.nan)

ESTIMATES: list[dict[str, Any]] = [
    {}, {"ddof": 1}, *({"estimate": estimate} for estimate in ("mle", "mean", "map", "predictive"))
]  # fmt: skip
BELIEFS: list[dict[str, Any]] = [
    {"parameter_prior": prior, "estimate": estimate}
    for prior in (NormalInverseGamma(), NormalInverseGamma(0.5, 0.7, 2.0, 3.0), Normal(0.5, 2.0, 3.0))
    for estimate in ("mean", "map", "predictive")
]
from_data = pytest.mark.parametrize("settings", ESTIMATES, ids=str)
all_settings = pytest.mark.parametrize("settings", ESTIMATES + BELIEFS, ids=str)
variances = pytest.mark.parametrize("variance", ["class", "shared"])


def pair(**settings: Any) -> tuple[GaussianNB, GaussianNB]:
    """The model of all columns, of which the last was never observed, and the model without that column."""
    whole, without = (GaussianNB(subsample=100_000, **settings) for _ in range(2))
    return whole.fit(np.hstack([X, HOLES]), Y), without.fit(X, Y)


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@all_settings
@variances
@pytest.mark.parametrize("value", [np.nan, 3.0], ids=["missing", "given"])
def test_it_moves_no_answer(settings: dict[str, Any], variance: str, value: float) -> None:
    whole, without = pair(**settings, variance=variance)
    asked = np.hstack([X, np.full((21, 1), value)])
    assert_same(whole.predict_proba(asked), without.predict_proba(X))
    for found, expected in zip(diagnostics.log_odds(whole, asked), diagnostics.log_odds(without, X), strict=True):
        assert_same(found, expected)
    assert not np.isnan(diagnostics.log_density(whole, asked)).any()


@all_settings
@variances
def test_it_moves_no_row_that_is_left_out(settings: dict[str, Any], variance: str) -> None:
    whole, without = pair(**settings, variance=variance)
    assert_same(whole.leave_one_out(np.hstack([X, HOLES]), Y), without.leave_one_out(X, Y))
    if settings not in ESTIMATES[:3]:
        assert_same(diagnostics.log_marginal_likelihood(whole), diagnostics.log_marginal_likelihood(without))


@from_data
@variances
@pytest.mark.parametrize("value", [np.nan, 3.0], ids=["missing", "given"])
def test_nothing_is_believed_of_it(settings: dict[str, Any], variance: str, value: float) -> None:
    """Where the data make the prior, there is none of this column, and no density either."""
    whole, without = pair(**settings, variance=variance)
    asked = np.hstack([X, np.full((21, 1), value)])
    assert_same(diagnostics.log_density(whole, asked), diagnostics.log_density(without, X))
    assert_same(diagnostics.typicality(whole, asked), diagnostics.typicality(without, X))
    assert np.isnan(whole.theta_[:, 2]).all()
    assert np.isnan(whole.var_[:, 2]).all()
    drawn, _ = whole.sample(5, random_state=0)
    assert np.isnan(drawn[:, 2]).all()
    assert np.isfinite(drawn[:, :2]).all()
    table = diagnostics.intervals(whole)
    ends = [table[name].reshape(3, 3)[:, 2] for name in ("mean_low", "mean_high", "variance_low", "variance_high")]
    for found, end in zip(ends, (-np.inf, np.inf, 0.0, np.inf), strict=True):
        assert (found == end).all()


@pytest.mark.parametrize("settings", BELIEFS, ids=str)
def test_what_is_believed_of_it_is_a_distribution(settings: dict[str, Any]) -> None:
    whole, _ = pair(**settings)
    assert np.isfinite(whole.theta_).all()
    assert (whole.var_ > 0).all()
    assert np.isfinite(whole.sample(5, random_state=0)[0]).all()


@pytest.mark.parametrize("settings", [*ESTIMATES[2:], *BELIEFS[:3]], ids=str)
def test_probabilities_are_calibrated_without_it(settings: dict[str, Any]) -> None:
    whole, without = pair(**settings, calibrate="temperature")
    assert_same(whole.predict_proba(np.hstack([X, HOLES])), without.predict_proba(X))


@pytest.mark.parametrize("make", [BernoulliNB, CategoricalNB, partial(CategoricalNB, unseen="smooth"), PoissonNB])
@every("settings", [{}, {"estimate": "mle"}, {"alpha": 0.0}])
def test_counts_that_nobody_made_are_no_doubt(make: Any, settings: dict[str, Any]) -> None:
    counts: Floats = RNG.poisson(2.0, (21, 2)).astype(float)
    whole, without = make(**settings).fit(np.hstack([counts, HOLES]), Y), make(**settings).fit(counts, Y)
    for value in (np.nan, 0.0, 3.0):
        found = diagnostics.log_odds(whole, np.hstack([counts, np.full((21, 1), value)]), of="a", against="b")
        assert_same(found.std, diagnostics.log_odds(without, counts, of="a", against="b").std)
