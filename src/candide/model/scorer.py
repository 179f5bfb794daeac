"""Scores of rows by a likelihood and a class prior, including probabilities of 0, and the log-likelihood of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families import Likelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions, chunks

if TYPE_CHECKING:
    from .classifier import Classifier


class Scorer:
    """Scores rows under every class. Contains only parameters, so threads may share it."""

    def __init__(self, likelihood: Likelihood, offset: Floats) -> None:
        self.likelihood = likelihood
        self.offset = offset  # log prior of the classes

    def joint(self, data: Any, kernels: Kernels) -> Floats:
        """Return log p(x, class) up to a term common to all classes; -inf if the probability is 0."""
        return self._resolved(data, kernels, with_infinities)

    def posterior(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """Return p(class | x), or its logarithm. Rows that are impossible in every class get the limit ε → 0."""
        scores = self._resolved(data, kernels, leaders_only)
        if kernels.normalize(scores, logarithm=logarithm):
            rows = np.flatnonzero(~np.isfinite(scores.max(axis=1)))
            scores[rows] = self._overflowed(data.take(rows), kernels, logarithm=logarithm)
        return scores

    def best(self, data: Any, kernels: Kernels) -> Array:
        """Return the position of the most probable class of each row, the first one in case of ties."""
        parts = [self._best(part, kernels) for _, _, part in chunks(data)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _best(self, data: Any, kernels: Kernels) -> Array:
        scores = self._resolved(data, kernels, leaders_only)
        best, undecided = kernels.best(scores)
        if undecided:
            rows = np.flatnonzero(~np.isfinite(scores.max(axis=1)))
            best[rows] = self._overflowed(data.take(rows), kernels, logarithm=False).argmax(axis=1)
        return best

    def _resolved(
        self, data: Any, kernels: Kernels, resolve: Callable[[Floats, list[Floats], Array], Floats]
    ) -> Floats:
        """Return scores in which limits are applied; usually there are none."""
        if not self.likelihood.is_limit:
            return self.likelihood.scores(data, self.offset, kernels)
        out = np.empty((data.n_rows, len(self.offset)))
        for begin, end, part in chunks(data):
            scores = self.likelihood.scores(part, self.offset, kernels)
            out[begin:end] = resolve(scores, self.likelihood.limits(part, kernels), self._possible)
        return out

    @property
    def _possible(self) -> Array:
        return np.asarray(self.offset > -np.inf)

    def _overflowed(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """Return rescaled scores for rows in which every score overflows."""
        shrunk = self.likelihood.shrunk(data, kernels)
        alive = _leaders(shrunk, _alive(shrunk, self.likelihood.limits(data, kernels), self._possible))
        scores = np.where(alive, self.offset, -np.inf)
        kernels.normalize(scores, logarithm=logarithm)
        return scores


def log_sum(joint: Floats) -> Floats:
    """Return log Σ exp over classes."""
    top = joint.max(axis=1, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe[:, 0] + np.log(np.exp(joint - safe).sum(axis=1)))


def leaders_only(scores: Floats, limits: list[Floats], possible: Array) -> Floats:
    """Set the scores of classes that a limit rules out to -inf."""
    return np.where(_alive(scores, limits, possible), scores, -np.inf)


def with_infinities(scores: Floats, limits: list[Floats], possible: Array) -> Floats:
    """Return scores with infinite densities and -inf for probabilities of 0; the dominant limit takes precedence."""
    for limit in reversed(limits):
        scores = np.where(limit == 0, scores, np.copysign(np.inf, limit))
    return np.where(possible, scores, -np.inf)


def _alive(scores: Floats, limits: list[Floats], possible: Array) -> Array:
    alive = np.broadcast_to(possible, scores.shape)
    for limit in limits:
        # Tolerance for rounding: 0.1 + 0.2 and 0.3 are the same power of ε.
        alive = _leaders(limit, alive, slack=1e-12)
    return alive


def _leaders(scores: Floats, alive: Array, slack: float = 0.0) -> Array:
    top = np.where(alive, scores, -np.inf).max(axis=1, keepdims=True)
    margin = slack * np.abs(np.where(np.isfinite(top), top, 0.0))
    with np.errstate(over="ignore"):
        return np.asarray(alive & (scores >= top - margin))


def log_likelihood(model: Classifier, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
    """Return Σ log p(x, class) over rows."""
    if weight is not None:
        # Rows of weight 0 are ignored: 0 · (-inf) counts as 0.
        kept = np.flatnonzero(weight > 0)
        data, classes, weight = data.take(kept), classes[kept], weight[kept]
    parts = [_log_likelihood(model, *part, kernels) for part in _row_ranges(data, classes, weight)]
    # Diverging terms are added separately; the first that does not cancel determines the result.
    *diverging, finite = np.sum(parts, axis=0)
    left = [term for term in diverging if term]
    return float(np.copysign(np.inf, left[0]) if left else finite)


def _log_likelihood(
    model: Classifier, data: Any, classes: Positions, weight: Floats | float, kernels: Kernels
) -> list[float]:
    """Return the sums over rows of the coefficients of diverging terms, followed by the finite part."""
    own = np.arange(data.n_rows), classes
    scores = model.likelihood.scores(data, model.scorer.offset, kernels)[own]
    finite = plus_base(scores, model.likelihood.log_base(data))
    terms = [limit[own] for limit in model.likelihood.limits(data, kernels)]
    return [float((term * weight).sum()) for term in (*terms, finite)]


def plus_base(score: Floats, base: Floats) -> Floats:
    """Return ``score + base``; the sum is -inf if the base is (the factorial of a huge count)."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(base), -np.inf, score + base)


def _row_ranges(
    data: Any, classes: Positions, weight: Floats | None
) -> Iterator[tuple[Any, Positions, Floats | float]]:
    for begin, end, part in chunks(data):
        yield part, classes[begin:end], 1.0 if weight is None else weight[begin:end]
