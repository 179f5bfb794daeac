"""Shares of several outcomes, and of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..kernels.layouts import Floats
from ..lazy_dataclass import dataclass
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

# So far the difference of two logarithms of the beta function has eleven digits, and is ten times as fast.
_MODERATE = 1e5


@dataclass(frozen=True, repr=False, eq=False)
class Dirichlet(Readable):
    """A Dirichlet distribution of shares θ: pseudo-counts, one per outcome (the last axis), or one for all outcomes.

    The posterior adds the counts. Its mean, (count + α) / (total + Σα), is Laplace's smoothing.

    >>> posterior = Dirichlet([1, 1, 1]).posterior([3, 1, 0])
    >>> posterior
    Dirichlet(concentration=[4, 2, 1])
    >>> posterior.mean().round(3), posterior.mode()
    (array([0.571, 0.286, 0.143]), array([0.75, 0.25, 0.  ]))
    """

    concentration: float | Floats = 1.0

    @property
    def is_proper(self) -> bool:
        return bool((np.asarray(self.concentration) > 0).all())

    def posterior(self, count: Any) -> Dirichlet:
        """After so many observations of each outcome."""
        return Dirichlet(self._counted(count) + self.concentration)

    def _counted(self, count: Any) -> Floats:
        (count,) = summaries(self, count=count)
        ends = np.shape(self.concentration)[-1:], count.shape[-1:]
        if ends[0] and ends[0] != ends[1]:
            raise ParameterError(
                f"count has shape {count.shape} for {ends[0][0]} outcomes; give one number for each outcome"
            )
        return np.atleast_1d(count)

    def learn(self, values: Any) -> Dirichlet:
        """After observations, each the position (0, 1, …) of an outcome."""
        seen, n = observations(values), self._cells().shape[-1]
        strange = seen[~np.isin(seen, np.arange(n))]
        if len(strange):
            raise ParameterError(f"values hold {strange[0]:g}; each must be the position of an outcome, 0 to {n - 1}")
        return self.posterior(np.bincount(seen.astype(np.int64), minlength=n))

    def mean(self) -> Floats:
        """α / Σα; even shares where all α are 0."""
        return _shares(self._cells())

    def mode(self) -> Floats:
        """(α - 1) / Σ(α - 1). Outcomes with α ≤ 1 have none of it; if that is true of all, those with the largest α
        share it: the density is largest on the border.
        """
        return _shares(parts_of(self._cells() - 1.0))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Of each share by itself, which follows a Beta distribution."""
        cells = self._cells()
        return Beta(cells, np.maximum(cells.sum(axis=-1, keepdims=True) - cells, 0.0)).interval(level)

    def log_marginal_likelihood(self, count: Any) -> Any:
        """log p of a sequence of observations, of which ``count`` are of each outcome."""
        check_proper(self)
        alpha, count = np.broadcast_arrays(self.concentration, self._counted(count))
        # A run of the first outcome, then one of the second, and so on, each among all that was counted before it.
        others = _sums_before(alpha + count) + _sums_before(alpha[..., ::-1])[..., ::-1]
        return out(log_run(alpha, others, count).sum(axis=-1))

    def predictive(self, n: int = 1) -> Any:
        """The counts of the next ``n`` draws: ``scipy.stats.dirichlet_multinomial``, which is Pólya's distribution."""
        from scipy.stats import dirichlet_multinomial

        check_proper(self)
        return dirichlet_multinomial(self._cells(), *draws(n))

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """``n`` draws of the shares."""
        check_proper(self)
        cells, rng = self._cells(), generator(random_state)
        shape = draws(n, cells.shape)
        # Gamma(α) is Gamma(α + 1) · U^(1/α); in logarithms, because for a small α all cells would be 0.
        logs = np.log(rng.standard_gamma(cells + 1.0, shape)) - rng.standard_exponential(shape) / cells
        return _shares(np.exp(logs - logs.max(axis=-1, keepdims=True)))

    def _cells(self) -> Floats:
        if np.ndim(self.concentration) == 0:
            raise ParameterError(
                f"{self!r} does not say how many outcomes there are; give one pseudo-count each: Dirichlet([1, 1])"
            )
        return np.asarray(self.concentration)


def _sums_before(parts: Floats) -> Floats:
    """The sum of all earlier cells, without the digits that a subtraction would lose."""
    return np.asarray(np.cumsum(np.roll(parts, 1, axis=-1) * (np.arange(parts.shape[-1]) > 0), axis=-1))


def _shares(parts: Floats) -> Floats:
    """Parts of a whole, cells last; 0/0 is an even share."""
    whole = parts.sum(axis=-1, keepdims=True)
    even = np.full(parts.shape, 1.0 / parts.shape[-1])
    return np.asarray(np.divide(parts, whole, out=even, where=whole > 0))


@dataclass(frozen=True, repr=False, eq=False)
class Beta(Readable):
    """A Beta distribution of a probability φ: ``a`` pseudo-counts of "on", ``b`` of "off".

    >>> Beta(1, 1).posterior(on=7, off=3)
    Beta(a=8, b=4)
    >>> Beta(1, 1).posterior(on=7, off=3).mode()
    0.7
    """

    a: float | Floats = 1.0
    b: float | Floats = 1.0

    @property
    def is_proper(self) -> bool:
        return bool((np.asarray(self.a) > 0).all() and (np.asarray(self.b) > 0).all())

    def posterior(self, on: Any, off: Any) -> Beta:
        """After so many observations of either outcome."""
        on, off = summaries(self, on=on, off=off)
        return Beta(on + self.a, off + self.b)

    def learn(self, values: Any) -> Beta:
        """After observations: true (1) or false (0)."""
        seen = observations(values)
        if not np.isin(seen, (0.0, 1.0)).all():
            raise ParameterError(f"values hold {seen[~np.isin(seen, (0.0, 1.0))][0]:g}; each must be 0 or 1")
        return self.posterior(seen.sum(), len(seen) - seen.sum())

    def mean(self) -> Any:
        """a / (a + b); ½ where both are 0."""
        return out(self._both().mean()[..., 0])

    def mode(self) -> Any:
        """(a - 1) / (a + b - 2); on the border where a or b is at most 1; ½ where both ends are alike."""
        return out(self._both().mode()[..., 0])

    def _both(self) -> Dirichlet:
        return Dirichlet(np.stack(np.broadcast_arrays(self.a, self.b), axis=-1))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Quantiles of φ; where there is no evidence for one outcome at all, the end itself."""
        from scipy.special import betaincinv

        a, b = np.broadcast_arrays(np.asarray(self.a, dtype=np.float64), np.asarray(self.b, dtype=np.float64))
        proper = (a > 0) & (b > 0)
        safe_a, safe_b = np.where(proper, a, 1.0), np.where(proper, b, 1.0)
        low, high = (betaincinv(safe_a, safe_b, tail) for tail in tails(level))
        return out(np.where(proper, low, np.where(a > 0, 1.0, 0.0))), out(
            np.where(proper, high, np.where(b > 0, 0.0, 1.0))
        )

    def log_marginal_likelihood(self, on: Any, off: Any) -> Any:
        """log p of a sequence of observations, of which so many are on and off."""
        from scipy.special import betaln

        check_proper(self)
        on, off = summaries(self, on=on, off=off)
        if (on + off + self.a + self.b).max() < _MODERATE:
            return out(betaln(self.a + on, self.b + off) - betaln(self.a, self.b))
        return out(log_run(self.a, self.b, on) + log_run(self.b, self.a + on, off))

    def predictive(self) -> Any:
        """Whether the next is on: ``scipy.stats.bernoulli`` at the mean."""
        from scipy.stats import bernoulli

        return bernoulli(self.mean())

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """``n`` draws of φ."""
        check_proper(self)
        shape = draws(n, np.shape(self.a), np.shape(self.b))
        return np.asarray(generator(random_state).beta(self.a, self.b, shape))
