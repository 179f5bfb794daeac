"""Gamma prior of a rate of events."""

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
    log_rising,
    observations,
    out,
    summaries,
    tails,
)


@dataclass(frozen=True, repr=False, eq=False)
class Gamma(Readable):
    """Gamma prior of a rate λ of events per row.

    It is equivalent to ``shape`` events observed in ``rate`` rows.

    Parameters
    ----------
    shape, rate : float or array, default 1.0
        Parameters of the Gamma distribution; its mean is shape / rate.

    Examples
    --------
    >>> Gamma(1, 1).posterior(events=5, exposure=2)
    Gamma(shape=6, rate=3)
    >>> Gamma(1, 1).posterior(events=5, exposure=2).mean()
    2.0
    """

    shape: float | Floats = 1.0
    rate: float | Floats = 1.0

    @property
    def is_proper(self) -> bool:
        """Whether the density integrates to 1."""
        return bool((np.asarray(self.shape) > 0).all() and (np.asarray(self.rate) > 0).all())

    def posterior(self, events: Any, exposure: Any) -> Gamma:
        """Return the posterior after ``events`` in ``exposure`` rows."""
        events, exposure = summaries(self, events=events, exposure=exposure)
        return Gamma(events + self.shape, exposure + self.rate)

    def learn(self, values: Any) -> Gamma:
        """Return the posterior after counts of events, one per row."""
        seen = observations(values)
        if (seen < 0).any():
            raise ParameterError(f"values contain {seen.min():g}; expected counts of 0 or more")
        return self.posterior(seen.sum(), len(seen))

    def mean(self) -> Any:
        """Return the mean, shape / rate; infinite if the rate is 0."""
        return out(_over(np.asarray(self.shape), self.rate))

    def mode(self) -> Any:
        """Return the mode, (shape - 1) / rate; 0 if the shape is at most 1."""
        above = np.maximum(np.asarray(self.shape) - 1.0, 0.0)
        return out(np.where(above > 0, _over(above, self.rate), 0.0))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Return the equal-tailed credible interval of λ; both ends are 0 if the shape is 0."""
        from scipy.special import gammaincinv

        shape, rate = np.broadcast_arrays(np.asarray(self.shape, dtype=np.float64), np.asarray(self.rate))
        low, high = (
            np.where(shape > 0, gammaincinv(np.where(shape > 0, shape, 1.0), tail), 0.0) for tail in tails(level)
        )
        return out(np.where(rate > 0, _over(low, rate), 0.0)), out(_over(high, rate))

    def log_marginal_likelihood(self, events: Any, exposure: Any) -> Any:
        """Return the log marginal likelihood of counts with this sum in this many rows, without the term Σ log x!."""
        check_proper(self)
        events, exposure = summaries(self, events=events, exposure=exposure)
        none = self.shape * np.log1p(exposure / self.rate)
        return out(log_rising(self.shape, events) - none - events * np.log(self.rate + exposure))

    def predictive(self) -> Any:
        """Return the distribution of the count of the next row, ``scipy.stats.nbinom(shape, rate / (rate + 1))``."""
        from scipy.stats import nbinom

        check_proper(self)
        return nbinom(self.shape, self.rate / (np.asarray(self.rate) + 1.0))

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """Return ``n`` draws of λ."""
        check_proper(self)
        shape = draws(n, np.shape(self.shape), np.shape(self.rate))
        return np.asarray(generator(random_state).gamma(self.shape, 1 / np.asarray(self.rate), shape))


def _over(part: Floats, whole: Any) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.asarray(whole) > 0, part / np.asarray(whole), np.inf))
