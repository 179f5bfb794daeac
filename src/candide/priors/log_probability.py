"""Shares of a whole, with the textbook's 0/0 as a limit.

A probability of exactly 0 is kept as a power of ε, and ε goes to 0 from above: ``log p = finite - order · log(1/ε)``.
So a row that every class calls impossible is still decided, by the class that is impossible least often, and the result
is the limit of smoothing as the pseudo-count goes to 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from .base import Estimate


class LogProbability(NamedTuple):
    """``finite - order · log(1/ε)``. ``order`` is None where no probability is 0."""

    finite: Floats
    order: Floats | None

    def value(self) -> Floats:
        """The logarithm itself: -inf where the probability is 0."""
        return self.finite if self.order is None else np.where(self.order > 0, -np.inf, self.finite)


def pseudo_count(concentration: float | Floats, estimate: Estimate) -> float | Floats:
    """What an estimate adds to each count: the mean (which is the predictive) α, the mode α - 1, the MLE nothing."""
    if estimate == "mle":
        return 0.0 if np.ndim(concentration) == 0 else np.zeros_like(concentration)
    return concentration - 1.0 if estimate == "map" else concentration


def log_of_wholes(whole: Floats) -> Floats:
    """Logarithms, ``(classes, columns)`` or one column for all: those that every row observed have the same whole."""
    same = whole.ndim == 2 and whole.shape[1] > 1 and bool((whole == whole[:, :1]).all())
    return np.asarray(np.log(whole[:, :1] if same else whole))


def log_share(part: Floats, whole: Floats, n_cells: int) -> LogProbability:
    """``log(part / whole)``; 0/0 is an even share, 0/positive a power of ε."""
    if not part.size:
        return LogProbability(part, None)
    zero = part <= 0
    if not zero.any():
        return LogProbability(np.log(part) - log_of_wholes(whole), None)
    empty = np.broadcast_to(whole <= 0, part.shape)
    finite = np.log(np.where(zero, 1.0, part)) - np.log(np.where(whole <= 0, 1.0, whole))
    finite = np.where(empty, -np.log(n_cells), finite)
    order = np.where(zero & ~empty, 1.0, 0.0)
    return LogProbability(finite, order if order.any() else None)


def parts_of(raw: Floats) -> Floats:
    """Parts of a whole from counts with pseudo-counts, cells last. What lies below 0 has no share.

    Without any part above 0 the mode of a Dirichlet lies in a corner: that of the largest cell; equals share it.
    """
    part = above_zero(raw)
    if (raw < 0).any():
        cornered = part.sum(axis=-1, keepdims=True) <= 0
        part = np.where(cornered, largest(raw, raw.max(axis=-1, keepdims=True)), part)
    return part


# Modes subtract 1 from sums of weights: what is left of two that should be equal is rounding.
_ROUNDING = 1e-12


def above_zero(raw: Floats) -> Floats:
    """``raw`` where it lies above 0, else 0; beside values below 0, rounding is 0 too."""
    return np.asarray(np.where(raw > _ROUNDING, raw, 0.0) if (raw < 0).any() else raw)


def largest(raw: Floats, top: Floats) -> Array:
    """Which cells are the largest, up to rounding."""
    return np.asarray(raw >= top - _ROUNDING)


# log Γ(z) = (z - ½) log z - z + ½ log 2π + Σ of these over z, z³, z⁵, …: to the last digit from 15 on.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_LARGE = 15.0
_HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))


def log_rising(start: Any, steps: Any) -> Floats:
    """log Γ(start + steps) / Γ(start), which keeps its digits where the two are large and close."""
    from scipy.special import betaln, gammaln

    start, steps = np.broadcast_arrays(start, steps)
    some = np.where(steps > 0, steps, 1.0)
    return np.asarray(np.where(steps > 0, gammaln(some) - betaln(start, some), 0.0))


def log_run(hits: Any, others: Any, steps: Any) -> Floats:
    """log Γ(hits + steps) Γ(hits + others) / (Γ(hits) Γ(hits + others + steps)): that ``steps`` draws from Pólya's urn,
    in which each hit makes the next more likely, all hit.

    Stirling's formula for all four, put together by hand, so that the huge terms cancel before they are computed.
    """
    hits, others, steps = (np.asarray(part, dtype=np.float64) for part in (hits, others, steps))
    whole = hits + others
    # (hits + steps) · whole / (hits · (whole + steps)) lies above 1 by so much.
    log_p = (hits - 0.5) * np.log1p(others / hits * (steps / (whole + steps)))
    log_p = log_p - steps * np.log1p(others / (hits + steps)) - others * np.log1p(steps / whole)
    return np.asarray(log_p + _rest(hits + steps) - _rest(hits) + _rest(whole) - _rest(whole + steps))


def _rest(z: Floats) -> Floats:
    """log Γ(z) without the large terms of Stirling's formula."""
    from scipy.special import gammaln

    small, large = np.minimum(z, _LARGE), np.maximum(z, _LARGE)
    exact = gammaln(small) - (small - 0.5) * np.log(small) + small - _HALF_LOG_2PI
    series = np.polynomial.polynomial.polyval(1 / large**2, _STIRLING) / large
    return np.where(z < _LARGE, exact, series)
