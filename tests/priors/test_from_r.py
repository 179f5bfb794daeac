"""Intervals, evidence and predictions are R's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity.from_r import distribution
from scipy.special import gammaln

from candide.kernels.layouts import Array, Floats
from candide.priors import Beta, Gamma, NormalInverseGamma


def ends(name: str, level: float) -> tuple[dict[str, Array], Floats, Floats]:
    """R's arguments other than p, and its quantiles at both ends of an equal-tailed interval."""
    arguments, value = distribution(name)
    p = arguments.pop("p")
    low, high = (np.isclose(p, tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return {name: values[low] for name, values in arguments.items()}, value[low], value[high]


def assert_ends(ours: Any, low: Floats, high: Floats) -> None:
    np.testing.assert_allclose(ours[0], low, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours[1], high, rtol=1e-9, atol=1e-12)


both_levels = pytest.mark.parametrize("level", [0.95, 0.99])


@both_levels
def test_interval_of_a_share(level: float) -> None:
    at, low, high = ends("qbeta", level)
    assert_ends(Beta(at["shape1"], at["shape2"]).interval(level), low, high)


@both_levels
def test_interval_of_a_rate(level: float) -> None:
    at, low, high = ends("qgamma", level)
    assert_ends(Gamma(at["shape"], at["rate"]).interval(level), low, high)


@both_levels
def test_interval_of_a_mean(level: float) -> None:
    """With a scale of 1, Student's t."""
    at, low, high = ends("qt", level)
    half = at["df"] / 2
    assert_ends(NormalInverseGamma(0.0, 1.0, half, half).interval(level).mean, low, high)


@both_levels
def test_interval_of_a_variance(level: float) -> None:
    """One over a gamma variable, which turns the ends around."""
    at, low, high = ends("qgamma", level)
    assert_ends(NormalInverseGamma(0.0, 1.0, at["shape"], at["rate"]).interval(level).variance, 1 / high, 1 / low)


def test_evidence_of_a_share() -> None:
    """From every point of R's grid to every other that lies above it."""
    at, value = distribution("lbeta")
    on, off = (at[name] - at[name][:, None] for name in ("a", "b"))
    above = (on >= 0) & (off >= 0)
    ours = Beta(at["a"][:, None], at["b"][:, None]).log_marginal_likelihood(np.maximum(on, 0), np.maximum(off, 0))
    np.testing.assert_allclose(ours[above], (value - value[:, None])[above], rtol=1e-9, atol=1e-9)


def test_evidence_of_one_count() -> None:
    """The negative binomial, but for the factorial."""
    at, value = distribution("log_dnbinom")
    prior = Gamma(at["size"], at["prob"] / (1 - at["prob"]))
    np.testing.assert_allclose(
        prior.log_marginal_likelihood(at["x"], 1) - gammaln(at["x"] + 1), value, rtol=1e-9, atol=1e-10
    )


def test_evidence_of_one_measurement() -> None:
    """Student's t, with a scale of 1."""
    at, value = distribution("log_dt")
    prior = NormalInverseGamma(0.0, 1.0, at["df"] / 2, at["df"] / 4)
    np.testing.assert_allclose(prior.log_marginal_likelihood(at["x"], 1, 0), value, rtol=1e-9, atol=1e-10)
