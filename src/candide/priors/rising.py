"""Ratios of gamma functions that keep their digits where the functions themselves are huge."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.layouts import Floats

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
