"""Priors of probabilities: Dirichlet for several outcomes, Beta for two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..lazy import dataclass
from .base import (
    Readable,
    check_proper,
    draws,
    generator,
    log_run,
    observations,
    out,
    parts_of,
    summaries,
    tails,
)

# Up to this value, the difference of two log-beta functions is accurate to eleven digits, and ten times as fast.
_MODERATE = 1e5


@dataclass(frozen=True, repr=False, eq=False)
class Dirichlet(Readable):
    """Dirichlet prior of the probabilities θ of several outcomes.

    The posterior adds the observed counts to the pseudo-counts. Its mean, (count + α) / (total + Σα), is additive
    (Laplace) smoothing.

    Parameters
    ----------
    concentration : float or array, default 1.0
        Pseudo-counts α: one per outcome (the last axis), or one for all outcomes.

    Examples
    --------
    >>> posterior = Dirichlet([1, 1, 1]).posterior([3, 1, 0])
    >>> posterior
    Dirichlet(concentration=[4, 2, 1])
    >>> posterior.mean().round(3), posterior.mode()
    (array([0.571, 0.286, 0.143]), array([0.75, 0.25, 0.  ]))
    """

    concentration: float | Floats = 1.0

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        return bool((np.asarray(self.concentration) > 0).all())

    def posterior(self, count: Any) -> Dirichlet:
        """Return the posterior after ``count`` observations of each outcome."""
        return Dirichlet(self._counted(count) + self.concentration)

    def _counted(self, count: Any) -> Floats:
        (count,) = summaries(self, count=count)
        ends = np.shape(self.concentration)[-1:], count.shape[-1:]
        if ends[0] and ends[0] != ends[1]:
            raise ParameterError(
                f"count has shape {count.shape} for {ends[0][0]} outcomes; pass one number per outcome"
            )
        return np.atleast_1d(count)

    def learn(self, values: Any) -> Dirichlet:
        """Return the posterior after observations, each the position (0, 1, …) of an outcome."""
        seen, n = observations(values), self._cells().shape[-1]
        strange = seen[~np.isin(seen, np.arange(n))]
        if len(strange):
            raise ParameterError(f"values contain {strange[0]:g}; expected positions of outcomes, 0 to {n - 1}")
        return self.posterior(np.bincount(seen.astype(np.int64), minlength=n))

    def mean(self) -> Floats:
        """Return the mean, α / Σα; equal shares if all α are 0."""
        return _shares(self._cells())

    def mode(self) -> Floats:
        """Return the mode, (α - 1) / Σ(α - 1).

        Outcomes with α ≤ 1 have probability 0. If all α are at most 1, the outcomes with the largest α share it
        equally, because the density is largest on the boundary.
        """
        return _shares(parts_of(self._cells() - 1.0))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return equal-tailed credible intervals of each probability, whose marginal distribution is Beta."""
        cells = self._cells()
        return Beta(cells, np.maximum(cells.sum(axis=-1, keepdims=True) - cells, 0.0)).interval(level)

    def log_marginal_likelihood(self, count: Any) -> Any:
        """Return the log marginal likelihood of a sequence with ``count`` observations of each outcome."""
        check_proper(self)
        alpha, count = np.broadcast_arrays(self.concentration, self._counted(count))
        # All observations of the first outcome, then of the second, and so on, each given the previous outcomes.
        others = _sums_before(alpha + count) + _sums_before(alpha[..., ::-1])[..., ::-1]
        return out(log_run(alpha, others, count).sum(axis=-1))

    def predictive(self, n: int = 1) -> Any:
        """Return the distribution of the counts of the next ``n`` draws, a ``scipy.stats.dirichlet_multinomial``."""
        from scipy.stats import dirichlet_multinomial

        check_proper(self)
        return dirichlet_multinomial(self._cells(), *draws(n))

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """Return ``n`` draws of θ."""
        check_proper(self)
        cells, rng = self._cells(), generator(random_state)
        shape = draws(n, cells.shape)
        # Gamma(α) is Gamma(α + 1) · U^(1/α); in logarithms, because for a small α all cells would be 0.
        logs = np.log(rng.standard_gamma(cells + 1.0, shape)) - rng.standard_exponential(shape) / cells
        return _shares(np.exp(logs - logs.max(axis=-1, keepdims=True)))

    def _cells(self) -> Floats:
        if np.ndim(self.concentration) == 0:
            raise ParameterError(
                f"{self!r} does not specify the number of outcomes; pass one pseudo-count per outcome, such as "
                "Dirichlet([1, 1])"
            )
        return np.asarray(self.concentration)


def _sums_before(parts: Floats) -> Floats:
    """Return the sum of all earlier cells without the cancellation of a subtraction."""
    return np.asarray(np.cumsum(np.roll(parts, 1, axis=-1) * (np.arange(parts.shape[-1]) > 0), axis=-1))


def _shares(parts: Floats) -> Floats:
    """Return parts divided by their total over the last axis; 0/0 is an equal share."""
    whole = parts.sum(axis=-1, keepdims=True)
    even = np.full(parts.shape, 1.0 / parts.shape[-1])
    return np.asarray(np.divide(parts, whole, out=even, where=whole > 0))


@dataclass(frozen=True, repr=False, eq=False)
class Beta(Readable):
    """Beta prior of a probability φ.

    Parameters
    ----------
    a, b : float or array, default 1.0
        Pseudo-counts of ones and of zeros.

    Examples
    --------
    >>> Beta(1, 1).posterior(on=7, off=3)
    Beta(a=8, b=4)
    >>> Beta(1, 1).posterior(on=7, off=3).mode()
    0.7
    """

    a: float | Floats = 1.0
    b: float | Floats = 1.0

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        return bool((np.asarray(self.a) > 0).all() and (np.asarray(self.b) > 0).all())

    def posterior(self, on: Any, off: Any) -> Beta:
        """Return the posterior after ``on`` ones and ``off`` zeros."""
        on, off = summaries(self, on=on, off=off)
        return Beta(on + self.a, off + self.b)

    def learn(self, values: Any) -> Beta:
        """Return the posterior after observations, each 0 or 1."""
        seen = observations(values)
        if not np.isin(seen, (0.0, 1.0)).all():
            raise ParameterError(f"values contain {seen[~np.isin(seen, (0.0, 1.0))][0]:g}; expected 0 or 1")
        return self.posterior(seen.sum(), len(seen) - seen.sum())

    def mean(self) -> Any:
        """Return the mean, a / (a + b); ½ if both are 0."""
        return out(self._both().mean()[..., 0])

    def mode(self) -> Any:
        """Return the mode, (a - 1) / (a + b - 2); 0 or 1 if a or b is at most 1, ½ if both ends are equally dense."""
        return out(self._both().mode()[..., 0])

    def _both(self) -> Dirichlet:
        return Dirichlet(np.stack(np.broadcast_arrays(self.a, self.b), axis=-1))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the equal-tailed credible interval of φ; if ``a`` or ``b`` is 0, both ends are 0 or 1."""
        from scipy.special import betaincinv

        a, b = np.broadcast_arrays(np.asarray(self.a, dtype=np.float64), np.asarray(self.b, dtype=np.float64))
        proper = (a > 0) & (b > 0)
        safe_a, safe_b = np.where(proper, a, 1.0), np.where(proper, b, 1.0)
        low, high = (betaincinv(safe_a, safe_b, tail) for tail in tails(level))
        return out(np.where(proper, low, np.where(a > 0, 1.0, 0.0))), out(
            np.where(proper, high, np.where(b > 0, 0.0, 1.0))
        )

    def log_marginal_likelihood(self, on: Any, off: Any) -> Any:
        """Return the log marginal likelihood of a sequence of ``on`` ones and ``off`` zeros."""
        from scipy.special import betaln

        check_proper(self)
        on, off = summaries(self, on=on, off=off)
        if (on + off + self.a + self.b).max() < _MODERATE:
            return out(betaln(self.a + on, self.b + off) - betaln(self.a, self.b))
        return out(log_run(self.a, self.b, on) + log_run(self.b, self.a + on, off))

    def predictive(self) -> Any:
        """Return the distribution of the next observation, a ``scipy.stats.bernoulli``."""
        from scipy.stats import bernoulli

        return bernoulli(self.mean())

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """Return ``n`` draws of φ."""
        check_proper(self)
        shape = draws(n, np.shape(self.a), np.shape(self.b))
        return np.asarray(generator(random_state).beta(self.a, self.b, shape))
