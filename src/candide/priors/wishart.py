"""A mean vector and a covariance matrix, neither of them known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..lazy_dataclass import dataclass
from .base import Readable, check_proper, draws, generator, out, parameter
from .normal import MeanVariance, NormalInverseGamma


@dataclass(frozen=True, repr=False, eq=False)
class NormalInverseWishart(Readable):
    """A mean μ and a covariance Σ together: Σ is inverse-Wishart with ``degrees`` degrees of freedom and matrix
    ``scale``, μ normal around ``location`` with covariance Σ / ``strength``.

    Of d columns, locations have d numbers and scales d × d, after the axes of strengths and degrees: there may be a
    distribution for each of several classes.

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

    def __post_init__(self) -> None:
        # Strength 0, degrees -1 and scale 0 are the reference prior, under which intervals are the classical ones.
        for name, least in {"location": -np.inf, "strength": 0.0, "degrees": -1.0, "scale": -np.inf}.items():
            value = parameter("NormalInverseWishart", name, getattr(self, name), least=least)
            object.__setattr__(self, name, value)
        d = np.shape(self.location)[-1:]
        if not d or np.shape(self.scale)[-2:] != d * 2:
            raise ParameterError(
                f"location and scale of a NormalInverseWishart have shapes {np.shape(self.location)} and "
                f"{np.shape(self.scale)}; give d numbers and a d × d matrix"
            )
        # Sums of products differ by rounding on either side of the diagonal.
        even = 0.5 * (np.asarray(self.scale) + np.swapaxes(self.scale, -1, -2))
        if not np.allclose(self.scale, even, rtol=1e-9, atol=1e-9 * float(np.abs(even).max())):
            raise ParameterError("scale of a NormalInverseWishart is not symmetric; give a matrix of (co)variances")
        object.__setattr__(self, "scale", parameter("NormalInverseWishart", "scale", even, least=-np.inf))

    @property
    def n_columns(self) -> int:
        """How many numbers a mean has."""
        return int(np.shape(self.location)[-1])

    @property
    def is_proper(self) -> bool:
        if not ((np.asarray(self.strength) > 0).all() and (np.asarray(self.degrees) > self.n_columns - 1).all()):
            return False
        return bool((np.linalg.eigvalsh(self.scale) > 0).all())

    def posterior(self, mean: Any, weight: Any, scatter: Any) -> NormalInverseWishart:
        """After ``weight`` observations with this mean and this sum of (x - mean)(x - mean)ᵀ."""
        mean, weight, scatter = (np.asarray(part, dtype=np.float64) for part in (mean, weight, scatter))
        strength = np.asarray(self.strength + weight)
        share = np.divide(weight, strength, out=np.zeros(strength.shape), where=strength > 0)
        away = mean - self.location
        pull = (self.strength * share)[..., None, None] * away[..., :, None] * away[..., None, :]
        # Without a prior mean the posterior's is the data's, to the last digit.
        bare = np.where(weight[..., None] > 0, mean, self.location)
        location = np.where(np.asarray(self.strength)[..., None] > 0, self.location + away * share[..., None], bare)
        return NormalInverseWishart(location, strength, self.degrees + weight, self.scale + scatter + pull)

    def learn(self, values: Any) -> NormalInverseWishart:
        """After observations, one in each row; those with a missing number say nothing."""
        rows = np.asarray(values, dtype=np.float64).reshape(-1, self.n_columns)
        rows = rows[~np.isnan(rows).any(axis=1)]
        mean = rows.mean(axis=0) if len(rows) else np.zeros(self.n_columns)
        return self.posterior(mean, len(rows), (rows - mean).T @ (rows - mean))

    def mean(self) -> MeanVariance:
        """Means of μ and of Σ; the latter is infinite for at most d + 1 degrees."""
        return MeanVariance(self.location, self._over(np.asarray(self.degrees) - self.n_columns - 1.0))

    def mode(self) -> MeanVariance:
        """Where the joint density is largest: Σ = scale / (degrees + d + 2)."""
        return MeanVariance(self.location, self._over(np.asarray(self.degrees) + self.n_columns + 2.0))

    def _over(self, divisor: Floats) -> Floats:
        whole = np.where(divisor > 0, divisor, 1.0)[..., None, None]
        return np.where(divisor[..., None, None] > 0, self.scale / whole, np.inf)

    def columns(self) -> NormalInverseGamma:
        """Each column's mean and variance without the others."""
        shape = 0.5 * (np.asarray(self.degrees) - self.n_columns + 1.0)
        diagonal = np.diagonal(self.scale, axis1=-2, axis2=-1)
        strength = np.asarray(self.strength)[..., None]
        return NormalInverseGamma(self.location, strength, np.maximum(shape, -0.5)[..., None], 0.5 * diagonal)

    def interval(self, level: float = 0.95) -> MeanVariance:
        """``(low, high)`` of each mean and of each variance."""
        return self.columns().interval(level)

    def log_evidence(self, mean: Any, weight: Any, scatter: Any) -> Any:
        """log p of observations with this mean and this sum of (x - mean)(x - mean)ᵀ."""
        from scipy.special import multigammaln

        check_proper(self)
        after, d, n = self.posterior(mean, weight, scatter), self.n_columns, np.asarray(weight, dtype=np.float64)
        halves = 0.5 * np.asarray(self.degrees), 0.5 * np.asarray(after.degrees)
        before, then = (half * np.linalg.slogdet(p.scale)[1] for half, p in zip(halves, (self, after), strict=True))
        gammas = np.vectorize(multigammaln)(halves[1], d) - np.vectorize(multigammaln)(halves[0], d)
        pull = 0.5 * d * np.log1p(n / np.asarray(self.strength))
        return out(gammas + before - then - 0.5 * n * d * np.log(np.pi) - pull)

    def predictive(self) -> Any:
        """The next observation: ``scipy.stats.multivariate_t``, with degrees - d + 1 degrees of freedom."""
        from scipy.stats import multivariate_t

        check_proper(self)
        freedom = float(self.degrees) - self.n_columns + 1.0
        return multivariate_t(self.location, self.scale * (1 + 1 / np.asarray(self.strength)) / freedom, freedom)

    def sample(self, n: int = 1, random_state: Any = None) -> MeanVariance:
        """``n`` draws of (μ, Σ)."""
        from scipy.stats import invwishart

        check_proper(self)
        (size,), rng, d = draws(n), generator(random_state), self.n_columns
        covariance = np.reshape(invwishart(self.degrees, self.scale).rvs(size, rng), (size, d, d))
        roots = np.linalg.cholesky(covariance)
        noise = np.einsum("nij,nj->ni", roots, rng.standard_normal((size, d)))
        return MeanVariance(self.location + noise / np.sqrt(self.strength), covariance)
