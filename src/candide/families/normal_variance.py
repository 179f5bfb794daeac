"""How uncertain a row's normal score is, because mean and variance are."""

from __future__ import annotations

import numpy as np

from ..kernels.layouts import Array, Data, Floats, Positions, chunks
from ..priors import Normal, NormalInverseGamma
from .base import CELLS


def score_variance(data: Data, posterior: NormalInverseGamma | Normal, seen: Array) -> Floats:
    """Posterior variance of log p(x | class), ``(rows, classes)``; infinite where a class has too few rows to say.

    Only columns that somebody has ``seen`` count: another tells the classes nothing, and that much is certain.
    """
    location = np.asarray(posterior.location)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = _known(posterior) if isinstance(posterior, Normal) else _unknown(posterior)
    out = np.empty((data.n_rows, len(location)))
    for begin, end, part in chunks(data, max(1, CELLS // location.size)):
        square = (part.floats()[:, None, :] - location) ** 2
        with np.errstate(invalid="ignore"):
            cells = terms[0] + terms[1] * square + terms[2] * square**2
        counted = np.where(np.isnan(cells), np.inf, cells)
        out[begin:end] = np.where(np.isnan(square) | ~seen, 0.0, counted).sum(axis=2)
    return out


def score_covariance(
    data: Data, of: Positions, against: Positions, posterior: NormalInverseGamma, seen: Array
) -> Floats:
    """Posterior covariance of log p(x | class) for two classes that have one variance, ``(rows,)``.

    ¼ψ'(a) - (d² + e²) / 4b + d² e² a / 4b², with d and e the distances from the two locations.
    """
    from scipy.special import polygamma

    location, a, b = np.asarray(posterior.location), np.asarray(posterior.shape)[0], np.asarray(posterior.scale)[0]
    out = np.empty(data.n_rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        for begin, end, part in chunks(data):
            x = part.floats()
            first, second = ((x - location[classes[begin:end]]) ** 2 for classes in (of, against))
            cells = 0.25 * (polygamma(1, np.maximum(a, 0.0)) - (first + second) / b + first * second * a / b**2)
            out[begin:end] = np.where(np.isnan(x) | ~seen, 0.0, cells).sum(axis=1)
    return out


def _unknown(posterior: NormalInverseGamma) -> tuple[Floats, Floats, Floats]:
    """¼ψ'(a) + 1/2κ², then the factors of d² and d⁴, d = x - m, for 1/σ² ~ Gamma(a, b) and μ ~ N(m, σ²/κ)."""
    from scipy.special import polygamma

    a, b, k = np.maximum(posterior.shape, 0.0), np.asarray(posterior.scale), np.asarray(posterior.strength)
    return 0.25 * polygamma(1, a) + 0.5 / k**2, a / (b * k) - 0.5 / b, 0.25 * a / b**2


def _known(posterior: Normal) -> tuple[Floats, Floats, Floats]:
    """Var of (x - μ)² / 2σ² for μ ~ N(m, v): v² / 2σ⁴ + d² v / σ⁴."""
    ratio = np.asarray(posterior.variance) / np.asarray(posterior.noise)
    return 0.5 * ratio**2, ratio / np.asarray(posterior.noise), np.zeros_like(ratio)
