"""What is believed before data: pseudo-counts and their posterior means, with the textbook's 0/0 as a limit.

A probability of exactly 0 is kept as a power of ε, and ε goes to 0 from above: ``log p = finite - order · log(1/ε)``.
So a row that every class calls impossible is still decided, by the class that is impossible least often, and the result
is the limit of smoothing as the pseudo-count goes to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .kernels.data import Floats


class LogProbability(NamedTuple):
    """``finite - order · log(1/ε)``. ``order`` is None where no probability is 0."""

    finite: Floats
    order: Floats | None

    def value(self) -> Floats:
        """The logarithm itself: -inf where the probability is 0."""
        return self.finite if self.order is None else np.where(self.order > 0, -np.inf, self.finite)


@dataclass(frozen=True)
class Dirichlet:
    """A Dirichlet prior (for two outcomes: a Beta): pseudo-counts added to every cell.

    ``log_mean`` is the posterior mean, (count + α) / (total + Σα). That is Laplace's smoothing, and scikit-learn's.

    >>> Dirichlet(1.0).log_mean(np.array([[3.0, 0.0]]), np.array([[3.0]]), 2)
    LogProbability(finite=array([[-0.22314355, -1.60943791]]), order=None)
    """

    concentration: float | Floats

    def total(self, n_cells: int) -> float | Floats:
        """The sum of the pseudo-counts over cells; per class where they differ by class."""
        alpha = self.concentration
        return alpha * n_cells if np.ndim(alpha) == 0 else np.asarray(alpha).sum(axis=-1, keepdims=True)

    def log_mean(self, count: Floats, total: Floats, n_cells: int) -> LogProbability:
        """Log of the posterior mean of each cell; ``total`` is the sum of the counts it competes with."""
        return log_share(count + self.concentration, total + self.total(n_cells), n_cells)


def log_share(part: Floats, whole: Floats, n_cells: int) -> LogProbability:
    """``log(part / whole)``; 0/0 is an even share, 0/positive a power of ε."""
    zero = part <= 0
    if not zero.any():
        return LogProbability(np.log(part) - np.log(whole), None)
    empty = np.broadcast_to(whole <= 0, part.shape)
    finite = np.log(np.where(zero, 1.0, part)) - np.log(np.where(whole <= 0, 1.0, whole))
    finite = np.where(empty, -np.log(n_cells), finite)
    order = np.where(zero & ~empty, 1.0, 0.0)
    return LogProbability(finite, order if order.any() else None)


@dataclass(frozen=True)
class Gamma:
    """A Gamma prior on a rate: ``shape`` events in ``rate`` rows.

    >>> Gamma(1.0, 1.0).mean(np.array([5.0]), np.array([2.0]))
    array([2.])
    """

    shape: float | Floats
    rate: float

    def mean(self, events: Floats, exposure: Floats) -> Floats:
        """Posterior mean (events + shape) / (exposure + rate). A cell that was never observed, and has no prior
        either, takes the rate of all classes together; without any observation, 1.
        """
        part, whole = events + self.shape, np.broadcast_to(exposure + self.rate, events.shape)
        pooled_part, pooled_whole = part.sum(axis=0), whole.sum(axis=0)
        fallback = np.divide(pooled_part, pooled_whole, out=np.ones_like(pooled_part), where=pooled_whole > 0)
        fallback = np.broadcast_to(fallback, part.shape)
        return np.asarray(np.divide(part, whole, out=fallback.copy(), where=whole > 0))
