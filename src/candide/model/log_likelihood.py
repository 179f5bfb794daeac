"""The log-likelihood of rows with their classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Floats, Positions, chunks

if TYPE_CHECKING:
    from .classifier import Classifier


def log_likelihood(model: Classifier, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
    """Σ log p(x, class) over rows."""
    if weight is not None:
        # A row of weight 0 is not there: 0 · (-inf) counts as 0.
        kept = np.flatnonzero(weight > 0)
        data, classes, weight = data.take(kept), classes[kept], weight[kept]
    parts = [_log_likelihood(model, *part, kernels) for part in _row_ranges(data, classes, weight)]
    # Terms that outgrow all others are added apart; the first that does not cancel decides.
    *diverging, finite = np.sum(parts, axis=0)
    left = [term for term in diverging if term]
    return float(np.copysign(np.inf, left[0]) if left else finite)


def _log_likelihood(
    model: Classifier, data: Any, classes: Positions, weight: Floats | float, kernels: Kernels
) -> list[float]:
    """Sums over rows of the coefficients of diverging terms, and last of the finite rest."""
    own = np.arange(data.n_rows), classes
    scores = model.likelihood.scores(data, model.scorer.offset, kernels)[own]
    finite = plus_base(scores, model.likelihood.log_base(data))
    terms = [limit[own] for limit in model.likelihood.limits(data, kernels)]
    return [float((term * weight).sum()) for term in (*terms, finite)]


def plus_base(score: Floats, base: Floats) -> Floats:
    """``score + base``; a base of -inf (the factorial of a huge count) outgrows any score."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(base), -np.inf, score + base)


def _row_ranges(
    data: Any, classes: Positions, weight: Floats | None
) -> Iterator[tuple[Any, Positions, Floats | float]]:
    for begin, end, part in chunks(data):
        yield part, classes[begin:end], 1.0 if weight is None else weight[begin:end]
