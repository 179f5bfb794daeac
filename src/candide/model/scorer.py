"""Ready to predict: a likelihood and a prior, and what to do where probabilities are 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families import Likelihood
from ..kernels import Kernels
from ..kernels.data import CHUNK_ROWS, Array, Floats


class Scorer:
    """Scores rows under every class. Holds parameters only; safe to share between threads."""

    def __init__(self, likelihood: Likelihood, offset: Floats) -> None:
        self.likelihood = likelihood
        self.offset = offset  # log prior of the classes

    def joint(self, data: Any, kernels: Kernels) -> Floats:
        """log p(x, class) up to a term common to all classes; -inf where it is 0."""
        if not self.likelihood.is_limit:
            return self.likelihood.scores(data, self.offset, kernels)
        out = np.empty((data.n_rows, len(self.offset)))
        for begin, end in _stretches(data.n_rows):
            part = data.rows(begin, end)
            scores = self.likelihood.scores(part, self.offset, kernels)
            for limit in reversed(self.likelihood.limits(part, kernels)):
                scores = np.where(limit == 0, scores, np.copysign(np.inf, limit))
            out[begin:end] = scores
        return out

    def posterior(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """p(class | x), or its logarithm. Rows that no class allows get the limit ε → 0."""
        scores = self._decisive(data, kernels)
        if kernels.normalise(scores, logarithm=logarithm):
            rows = np.flatnonzero(~np.isfinite(scores.max(axis=1)))
            scores[rows] = self._overflowed(data.take(rows), kernels, logarithm=logarithm)
        return scores

    def best(self, data: Any, kernels: Kernels) -> Array:
        """The position of the most probable class of each row; the first of equals."""
        if data.n_rows <= CHUNK_ROWS:
            return self._best(data, kernels)
        stretches = _stretches(data.n_rows)
        return np.concatenate([self._best(data.rows(begin, end), kernels) for begin, end in stretches])

    def _best(self, data: Any, kernels: Kernels) -> Array:
        scores = self._decisive(data, kernels)
        best, undecided = kernels.best(scores)
        if undecided:
            rows = np.flatnonzero(~np.isfinite(scores.max(axis=1)))
            best[rows] = self._overflowed(data.take(rows), kernels, logarithm=False).argmax(axis=1)
        return best

    def _decisive(self, data: Any, kernels: Kernels) -> Floats:
        """Scores in which every class that a limit rules out is -inf."""
        if not self.likelihood.is_limit:
            return self.likelihood.scores(data, self.offset, kernels)
        out = np.empty((data.n_rows, len(self.offset)))
        for begin, end in _stretches(data.n_rows):
            part = data.rows(begin, end)
            alive = np.broadcast_to(self.offset > -np.inf, (part.n_rows, len(self.offset)))
            for limit in self.likelihood.limits(part, kernels):
                alive = _leaders(limit, alive)
            out[begin:end] = np.where(alive, self.likelihood.scores(part, self.offset, kernels), -np.inf)
        return out

    def _overflowed(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """Rows so extreme that every score overflows: the scores times a tiny factor tell who is ahead."""
        scores = self.likelihood.shrunk(data, kernels)
        alive = np.broadcast_to(self.offset > -np.inf, scores.shape)
        scores = np.where(_leaders(scores, alive), self.offset, -np.inf)
        kernels.normalise(scores, logarithm=logarithm)
        return scores


def _leaders(scores: Floats, alive: Array) -> Array:
    top = np.where(alive, scores, -np.inf).max(axis=1, keepdims=True)
    return np.asarray(alive & (scores >= top))


def _stretches(n_rows: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + CHUNK_ROWS, n_rows)) for begin in range(0, n_rows, CHUNK_ROWS)]
