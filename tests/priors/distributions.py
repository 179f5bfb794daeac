"""Every prior with SciPy's distribution of its parameters, the observations it learns from, and their summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln

from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma


def moments(values: Floats) -> tuple[float, int, float]:
    """Mean, number, and sum of squared deviations."""
    mean = values.mean() if len(values) else 0.0
    return float(mean), len(values), float(((values - mean) ** 2).sum())


def on_off(values: Floats) -> tuple[float, float]:
    """How many are 1, and how many 0."""
    return float(values.sum()), float(len(values) - values.sum())


def counts(values: Floats) -> tuple[Floats]:
    """How often each of three outcomes is there."""
    return (np.bincount(values.astype(int), minlength=3).astype(float),)


@dataclass(frozen=True)
class Kind:
    """One kind of prior and its data."""

    name: str
    priors: st.SearchStrategy[Any]
    value: st.SearchStrategy[float]
    summary: Callable[[Floats], tuple[Any, ...]]
    learned: Callable[..., tuple[Any, ...]]  # what of the summary ``posterior`` takes
    log_predictive: Callable[[Any, float], float]  # of the next observation, by SciPy

    @property
    def values(self) -> st.SearchStrategy[Floats]:
        """Some observations, perhaps none."""
        return st.lists(self.value, max_size=12).map(lambda drawn: np.array(drawn, dtype=float))


def all_of(*summary: Any) -> tuple[Any, ...]:
    """The summary as it is."""
    return summary


def _student(prior: NormalInverseGamma, x: float) -> float:
    scale = np.sqrt(prior.scale * (prior.strength + 1) / (prior.shape * prior.strength))
    return float(stats.t.logpdf(x, 2 * prior.shape, prior.location, scale))


def _negative_binomial(prior: Gamma, x: float) -> float:
    """Without the factorial, which the evidence leaves out."""
    return float(stats.nbinom.logpmf(x, prior.shape, prior.rate / (prior.rate + 1)) + gammaln(x + 1))


def _normal(prior: Normal, x: float) -> float:
    return float(stats.norm.logpdf(x, prior.location, np.sqrt(prior.variance + prior.noise)))


POSITIVE = st.sampled_from([0.1, 0.5, 1.0, 1.75, 3.0, 20.0])
LOCATION = st.sampled_from([-3.0, 0.0, 0.5, 100.0])
MEASURE = st.integers(-32, 32).map(lambda quarters: quarters / 4)
KINDS = [
    Kind("beta", st.builds(Beta, POSITIVE, POSITIVE), st.sampled_from([0.0, 1.0]), on_off, all_of,
         lambda prior, x: float(stats.betabinom.logpmf(x, 1, prior.a, prior.b))),
    Kind("dirichlet", st.builds(Dirichlet, st.lists(POSITIVE, min_size=3, max_size=3)),
         st.sampled_from([0.0, 1.0, 2.0]), counts, all_of,
         lambda prior, x: float(stats.dirichlet_multinomial.logpmf(counts(np.array([x]))[0], prior.concentration, 1))),
    Kind("gamma", st.builds(Gamma, POSITIVE, POSITIVE), st.sampled_from([0.0, 1.0, 2.0, 7.0]),
         lambda values: (float(values.sum()), len(values)), all_of, _negative_binomial),
    Kind("normal", st.builds(Normal, LOCATION, POSITIVE, POSITIVE), MEASURE, moments,
         lambda mean, weight, scatter: (mean, weight), _normal),
    Kind("normal-inverse-gamma", st.builds(NormalInverseGamma, LOCATION, POSITIVE, POSITIVE, POSITIVE), MEASURE,
         moments, all_of, _student),
]  # fmt: skip


def by_name(kind: Kind) -> str:
    """The id of a parametrised test."""
    return kind.name


def parameters(prior: Any) -> dict[str, Any]:
    """The numbers of a prior by name."""
    return {name: np.asarray(value) for name, value in vars(prior).items()}


def assert_close(a: Any, b: Any) -> None:
    """Two priors of one kind with the same numbers, to rounding."""
    assert type(a) is type(b)
    for name, value in parameters(a).items():
        np.testing.assert_allclose(value, parameters(b)[name], rtol=1e-11, atol=1e-9, err_msg=name)
