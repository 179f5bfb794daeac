"""Priors of normal distributions: of the mean, and of mean and variance together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..lazy import dataclass
from .base import (
    Readable,
    check_proper,
    check_shapes,
    draws,
    generator,
    log_rising,
    observations,
    out,
    parameter,
    summaries,
    tails,
)

LOG_2PI = float(np.log(2 * np.pi))


class MeanVariance(NamedTuple):
    """A pair of results: one for the mean of a normal distribution, one for its variance."""

    mean: Any
    variance: Any


@dataclass(frozen=True, repr=False, eq=False)
class Normal(Readable):
    """Normal prior of a mean μ, for observations with a known variance.

    Parameters
    ----------
    location, variance : float or array
        Mean and variance of μ.
    noise : float or array, default 1.0
        The known variance of the observations.

    Examples
    --------
    >>> posterior = Normal(location=0, variance=4, noise=1).posterior(mean=2.5, weight=4)
    >>> posterior
    Normal(location=2.35294117647, variance=0.235294117647, noise=1)
    >>> [round(end, 3) for end in posterior.interval(0.95)]
    [1.402, 3.304]
    """

    location: float | Floats = 0.0
    variance: float | Floats = 1.0
    noise: float | Floats = 1.0

    least: ClassVar[Mapping[str, float]] = {"location": -np.inf}

    def __post_init__(self) -> None:
        self._check_parameters(above=True)
        check_shapes(self)

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        return True

    @property
    def strength(self) -> Any:
        """Number of observations to which the prior is equivalent: noise / variance."""
        return out(np.asarray(self.noise) / self.variance)

    def posterior(self, mean: Any, weight: Any) -> Normal:
        """Return the posterior after ``weight`` observations with this mean."""
        mean, weight = summaries(self, mean=mean, weight=weight)
        strength = self.strength + weight
        location = self.location + (mean - self.location) * (weight / strength)
        return Normal(location, self.noise / strength, self.noise)

    def learn(self, values: Any) -> Normal:
        """Return the posterior after observations."""
        seen = observations(values)
        return self.posterior(seen.mean() if len(seen) else 0.0, len(seen))

    def mean(self) -> Any:
        """Return the mean of μ."""
        return self.location

    def mode(self) -> Any:
        """Return the mode of μ, which is its mean."""
        return self.location

    def predictive(self) -> Any:
        """Return the distribution of the next observation, a ``scipy.stats.norm`` with variance + noise."""
        from scipy.stats import norm

        return norm(self.location, np.sqrt(np.asarray(self.variance) + self.noise))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the equal-tailed credible interval of μ."""
        from scipy.special import ndtri

        return tuple(out(self.location + ndtri(tail) * np.sqrt(self.variance)) for tail in tails(level))

    def log_marginal_likelihood(self, mean: Any, weight: Any, scatter: Any) -> Any:
        """Return the log marginal likelihood of observations with this mean and sum of squared deviations from it."""
        mean, weight, scatter = summaries(self, mean=mean, weight=weight, scatter=scatter)
        growth = 1 + weight / self.strength
        away = weight * (mean - self.location) ** 2 / growth
        return out(-0.5 * (weight * (LOG_2PI + np.log(self.noise)) + np.log(growth) + (scatter + away) / self.noise))

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """Return ``n`` draws of μ."""
        shape = draws(n, np.shape(self.location), np.shape(self.variance))
        return np.asarray(generator(random_state).normal(self.location, np.sqrt(self.variance), shape))


@dataclass(frozen=True, repr=False, eq=False)
class NormalInverseGamma(Readable):
    """Normal-inverse-gamma prior of a mean μ and a variance σ².

    σ² is inverse-gamma(shape, scale), and μ given σ² is normal around ``location`` with variance σ² / ``strength``.

    Parameters
    ----------
    location : float or array, default 0.0
        Mean of μ.
    strength : float or array, default 1.0
        Number of observations to which the prior of μ is equivalent.
    shape, scale : float or array, default 1.0
        Parameters of the inverse-gamma distribution; the prior of σ² is equivalent to 2 · shape observations.

    Examples
    --------
    >>> prior = NormalInverseGamma(location=0, strength=1, shape=1, scale=1)
    >>> posterior = prior.posterior(mean=2.0, weight=3, scatter=2.0)
    >>> posterior
    NormalInverseGamma(location=1.5, strength=4, shape=2.5, scale=3.5)
    >>> posterior.mode()
    MeanVariance(mean=1.5, variance=0.875)
    """

    location: float | Floats = 0.0
    strength: float | Floats = 1.0
    shape: float | Floats = 1.0
    scale: float | Floats = 1.0

    # A shape of -½ with strength and scale 0 is the reference prior 1/σ², under which intervals are the classical ones.
    least: ClassVar[Mapping[str, float]] = {"location": -np.inf, "shape": -0.5}

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        return all(bool((np.asarray(part) > 0).all()) for part in (self.strength, self.shape, self.scale))

    def posterior(self, mean: Any, weight: Any, scatter: Any) -> NormalInverseGamma:
        """Return the posterior after ``weight`` observations with this mean and sum of squared deviations from it."""
        return NormalInverseGamma(*self.updated(*summaries(self, mean=mean, weight=weight, scatter=scatter)))

    def updated(self, mean: Floats, weight: Floats, scatter: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the parameters of the posterior without checking the summaries."""
        strength = np.asarray(self.strength + weight)
        share = np.divide(weight, strength, out=np.zeros(strength.shape), where=strength > 0)
        away = mean - self.location
        scale = self.scale + 0.5 * (scatter + self.strength * share * away * away)
        # Without a prior mean, the posterior mean is exactly the mean of the data.
        location = np.where(
            np.asarray(self.strength) > 0, self.location + away * share, np.where(weight > 0, mean, self.location)
        )
        return location, strength, self.shape + 0.5 * weight, scale

    def learn(self, values: Any) -> NormalInverseGamma:
        """Return the posterior after observations."""
        seen = observations(values)
        mean = seen.mean() if len(seen) else 0.0
        return self.posterior(mean, len(seen), ((seen - mean) ** 2).sum())

    def mean(self) -> MeanVariance:
        """Return the means of μ and σ²; the latter is infinite if the shape is at most 1."""
        return MeanVariance(self.location, _ratio(self.scale, np.asarray(self.shape) - 1.0))

    def mode(self) -> MeanVariance:
        """Return the mode of the joint density, where σ² = scale / (shape + 3/2)."""
        return MeanVariance(self.location, _ratio(self.scale, np.asarray(self.shape) + 1.5))

    def interval(self, level: float = 0.95) -> MeanVariance:
        """Return equal-tailed credible intervals ``(low, high)`` of μ (Student's t) and σ² (inverse-gamma)."""
        from scipy.special import gammainccinv, stdtrit

        shape, strength = np.asarray(self.shape, dtype=np.float64), np.asarray(self.strength, dtype=np.float64)
        safe = np.where(shape > 0, shape, 1.0)
        known = (shape > 0) & (strength > 0)
        spread = np.sqrt(np.asarray(self.scale) / safe / np.where(known, strength, 1.0))
        away = np.where(known, stdtrit(2 * safe, tails(level)[1]) * spread, np.inf)
        # The upper tail of the inverse is the lower one of the gamma distribution.
        low, high = (self.scale / np.maximum(gammainccinv(safe, tail), 1e-300) for tail in tails(level))
        low, high = np.where(shape > 0, low, 0.0), np.where(shape > 0, high, np.inf)
        return MeanVariance((out(self.location - away), out(self.location + away)), (out(low), out(high)))

    def log_marginal_likelihood(self, mean: Any, weight: Any, scatter: Any) -> Any:
        """Return the log marginal likelihood of observations with this mean and sum of squared deviations from it."""
        check_proper(self)
        after = self.posterior(mean, weight, scatter)
        half = 0.5 * np.asarray(weight, dtype=np.float64)
        growth = (np.asarray(after.scale) - self.scale) / self.scale
        spread = self.shape * np.log1p(growth) + half * np.log(2 * np.pi * np.asarray(after.scale))
        return out(log_rising(self.shape, half) - spread - 0.5 * np.log1p(2 * half / self.strength))

    def predictive(self) -> Any:
        """Return the distribution of the next observation, a ``scipy.stats.t`` with 2 · shape degrees of freedom."""
        from scipy.stats import t

        check_proper(self)
        spread = np.asarray(self.scale) / self.shape * (1 + 1 / np.asarray(self.strength))
        return t(2 * np.asarray(self.shape), self.location, np.sqrt(spread))

    def sample(self, n: int = 1, random_state: Any = None) -> MeanVariance:
        """Return ``n`` draws of (μ, σ²)."""
        check_proper(self)
        rng = generator(random_state)
        shape = draws(n, *map(np.shape, (self.location, self.strength, self.shape, self.scale)))
        variance = self.scale / rng.standard_gamma(self.shape, shape)
        return MeanVariance(self.location + rng.standard_normal(shape) * np.sqrt(variance / self.strength), variance)


def _ratio(part: Any, whole: Floats) -> Any:
    return out(
        np.divide(part, whole, out=np.full(np.broadcast_shapes(np.shape(part), whole.shape), np.inf), where=whole > 0)
    )


@dataclass(frozen=True, repr=False, eq=False)
class NormalInverseWishart(Readable):
    """Normal-inverse-Wishart prior of a mean vector μ and a covariance matrix Σ.

    Σ is inverse-Wishart(degrees, scale), and μ given Σ is normal around ``location`` with covariance Σ / ``strength``.
    Arrays may have leading axes, for example one distribution per class.

    Parameters
    ----------
    location : array of shape (..., d)
        Mean of μ.
    strength : float or array, default 1.0
        Number of observations to which the prior of μ is equivalent.
    degrees : float or array, default 1.0
        Degrees of freedom.
    scale : array of shape (..., d, d)
        Scale matrix.

    Examples
    --------
    >>> prior = NormalInverseWishart(location=[0, 0], strength=1, degrees=3, scale=np.eye(2))
    >>> posterior = prior.posterior(mean=[2, 0], weight=3, scatter=[[2, 1], [1, 2]])
    >>> posterior.location, posterior.degrees
    (array([1.5, 0. ]), 6.0)
    >>> posterior.scale
    array([[6., 1.],
           [1., 3.]])
    """

    location: Any
    strength: float | Floats = 1.0
    degrees: float | Floats = 1.0
    scale: Any = 1.0

    # Strength 0, degrees -1 and scale 0 are the reference prior, under which intervals are the classical ones.
    least: ClassVar[Mapping[str, float]] = {"location": -np.inf, "degrees": -1.0, "scale": -np.inf}

    def __post_init__(self) -> None:
        self._check_parameters()
        d = np.shape(self.location)[-1:]
        if not d or np.shape(self.scale)[-2:] != d * 2:
            raise ParameterError(
                f"location and scale of a NormalInverseWishart have shapes {np.shape(self.location)} and "
                f"{np.shape(self.scale)}; expected d numbers and a d × d matrix"
            )
        # Make the matrix exactly symmetric, because rounding errors differ on both sides of the diagonal.
        even = 0.5 * (np.asarray(self.scale) + np.swapaxes(self.scale, -1, -2))
        if not np.allclose(self.scale, even, rtol=1e-9, atol=1e-9 * float(np.abs(even).max())):
            raise ParameterError("scale of a NormalInverseWishart is not symmetric; expected a covariance matrix")
        object.__setattr__(self, "scale", parameter("NormalInverseWishart", "scale", even, least=-np.inf))

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return int(np.shape(self.location)[-1])

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        if not ((np.asarray(self.strength) > 0).all() and (np.asarray(self.degrees) > self.n_columns - 1).all()):
            return False
        return bool((np.linalg.eigvalsh(self.scale) > 0).all())

    def posterior(self, mean: Any, weight: Any, scatter: Any) -> NormalInverseWishart:
        """Return the posterior after ``weight`` observations with this mean and this sum of (x - mean)(x - mean)ᵀ."""
        mean, weight, scatter = (np.asarray(part, dtype=np.float64) for part in (mean, weight, scatter))
        strength = np.asarray(self.strength + weight)
        share = np.divide(weight, strength, out=np.zeros(strength.shape), where=strength > 0)
        away = mean - self.location
        pull = (self.strength * share)[..., None, None] * away[..., :, None] * away[..., None, :]
        # Without a prior mean, the posterior mean is exactly the mean of the data.
        bare = np.where(weight[..., None] > 0, mean, self.location)
        location = np.where(np.asarray(self.strength)[..., None] > 0, self.location + away * share[..., None], bare)
        return NormalInverseWishart(location, strength, self.degrees + weight, self.scale + scatter + pull)

    def learn(self, values: Any) -> NormalInverseWishart:
        """Return the posterior after observations, one per row; rows with a missing cell are ignored."""
        rows = np.asarray(values, dtype=np.float64).reshape(-1, self.n_columns)
        rows = rows[~np.isnan(rows).any(axis=1)]
        mean = rows.mean(axis=0) if len(rows) else np.zeros(self.n_columns)
        return self.posterior(mean, len(rows), (rows - mean).T @ (rows - mean))

    def mean(self) -> MeanVariance:
        """Return the means of μ and Σ; the latter is infinite for at most d + 1 degrees of freedom."""
        return MeanVariance(self.location, self._over(np.asarray(self.degrees) - self.n_columns - 1.0))

    def mode(self) -> MeanVariance:
        """Return the mode of the joint density, where Σ = scale / (degrees + d + 2)."""
        return MeanVariance(self.location, self._over(np.asarray(self.degrees) + self.n_columns + 2.0))

    def _over(self, divisor: Floats) -> Floats:
        whole = np.where(divisor > 0, divisor, 1.0)[..., None, None]
        return np.where(divisor[..., None, None] > 0, self.scale / whole, np.inf)

    def columns(self) -> NormalInverseGamma:
        """Return the marginal distribution of the mean and variance of each column."""
        shape = 0.5 * (np.asarray(self.degrees) - self.n_columns + 1.0)
        diagonal = np.diagonal(self.scale, axis1=-2, axis2=-1)
        strength = np.asarray(self.strength)[..., None]
        return NormalInverseGamma(self.location, strength, np.maximum(shape, -0.5)[..., None], 0.5 * diagonal)

    def interval(self, level: float = 0.95) -> MeanVariance:
        """Return equal-tailed credible intervals ``(low, high)`` of each mean and each variance."""
        return self.columns().interval(level)

    def log_marginal_likelihood(self, mean: Any, weight: Any, scatter: Any) -> Any:
        """Return the log marginal likelihood of observations with this mean and sum of (x - mean)(x - mean)ᵀ."""
        from scipy.special import multigammaln

        check_proper(self)
        after, d, n = self.posterior(mean, weight, scatter), self.n_columns, np.asarray(weight, dtype=np.float64)
        halves = 0.5 * np.asarray(self.degrees), 0.5 * np.asarray(after.degrees)
        before, then = (half * np.linalg.slogdet(p.scale)[1] for half, p in zip(halves, (self, after), strict=True))
        gammas = np.vectorize(multigammaln)(halves[1], d) - np.vectorize(multigammaln)(halves[0], d)
        pull = 0.5 * d * np.log1p(n / np.asarray(self.strength))
        return out(gammas + before - then - 0.5 * n * d * np.log(np.pi) - pull)

    def predictive(self) -> Any:
        """Return the distribution of the next observation, a ``scipy.stats.multivariate_t``."""
        from scipy.stats import multivariate_t

        check_proper(self)
        freedom = float(self.degrees) - self.n_columns + 1.0
        return multivariate_t(self.location, self.scale * (1 + 1 / np.asarray(self.strength)) / freedom, freedom)

    def sample(self, n: int = 1, random_state: Any = None) -> MeanVariance:
        """Return ``n`` draws of (μ, Σ)."""
        from scipy.stats import invwishart

        check_proper(self)
        (size,), rng, d = draws(n), generator(random_state), self.n_columns
        covariance = np.reshape(invwishart(self.degrees, self.scale).rvs(size, rng), (size, d, d))
        roots = np.linalg.cholesky(covariance)
        noise = np.einsum("nij,nj->ni", roots, rng.standard_normal((size, d)))
        return MeanVariance(self.location + noise / np.sqrt(self.strength), covariance)
