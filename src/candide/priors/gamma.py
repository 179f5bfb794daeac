"""A rate of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.data import Floats
from .base import Readable, generator, observations, out, parameter, tails


@dataclass(frozen=True, repr=False)
class Gamma(Readable):
    """A Gamma distribution of a rate λ: as if ``shape`` events had been seen in ``rate`` rows.

    >>> Gamma(1, 1).posterior(events=5, exposure=2)
    Gamma(shape=6, rate=3)
    >>> Gamma(1, 1).posterior(events=5, exposure=2).mean()
    2.0
    """

    shape: float | Floats = 1.0
    rate: float | Floats = 1.0

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            object.__setattr__(self, name, parameter("Gamma", name, getattr(self, name)))

    @property
    def is_proper(self) -> bool:
        return bool((np.asarray(self.shape) > 0).all() and (np.asarray(self.rate) > 0).all())

    def posterior(self, events: Any, exposure: Any) -> Gamma:
        """After so many events in so many rows."""
        return Gamma(
            np.asarray(events, dtype=np.float64) + self.shape, np.asarray(exposure, dtype=np.float64) + self.rate
        )

    def learn(self, values: Any) -> Gamma:
        """After observed counts of events, one a row."""
        seen = observations(values)
        return self.posterior(seen.sum(), len(seen))

    def mean(self) -> Any:
        """shape / rate; infinite where nothing is known."""
        return out(_over(np.asarray(self.shape), self.rate))

    def mode(self) -> Any:
        """(shape - 1) / rate, and 0 where the shape is at most 1."""
        return out(_over(np.maximum(np.asarray(self.shape) - 1.0, 0.0), self.rate))

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """Quantiles of λ."""
        from scipy.special import gammaincinv

        shape, rate = np.broadcast_arrays(np.asarray(self.shape, dtype=np.float64), np.asarray(self.rate))
        low, high = (gammaincinv(shape, tail) for tail in tails(level))
        return out(np.where(rate > 0, _over(low, rate), 0.0)), out(_over(high, rate))

    def log_evidence(self, events: Any, exposure: Any) -> Any:
        """log p of counts with this sum in so many rows, but for their Σ log x!, which no parameter changes."""
        from scipy.special import gammaln

        after = self.posterior(events, exposure)
        before = gammaln(self.shape) - self.shape * np.log(self.rate)
        return out(gammaln(after.shape) - after.shape * np.log(after.rate) - before)

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """``n`` draws of λ."""
        shape = np.broadcast_shapes(np.shape(self.shape), np.shape(self.rate))
        return np.asarray(generator(random_state).gamma(self.shape, 1 / np.asarray(self.rate), (n, *shape)))


def _over(part: Floats, whole: Any) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.asarray(whole) > 0, part / np.asarray(whole), np.inf))
