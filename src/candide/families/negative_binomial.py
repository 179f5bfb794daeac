"""Counts of events whose rates are not known but drawn: the predictive distribution of the Poisson."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions
from ..kernels.tables import LinearTable
from ..lazy_dataclass import dataclass
from ..statistics import Counts
from .base import Batch, Scores
from .poisson import Poisson, PoissonLikelihood
from .score_terms import LogGamma, ScoreTerms, TermLikelihood
from .tokens import log_factorials, row_sums


@dataclass(frozen=True)
class NegativeBinomialLikelihood(TermLikelihood):
    """log p(x | class) = Σ log Γ(a + x) / Γ(a) x! + a log(b / (b + 1)) - x log(b + 1), with a events in b rows."""

    statistics: Counts
    family: Poisson

    @cached_property
    def start(self) -> Floats:
        """a, ``(classes, columns)``."""
        return np.ascontiguousarray(self.statistics.dense() + self.family.prior.shape)

    @cached_property
    def exposure(self) -> Floats:
        """b, ``(classes, columns)``."""
        return np.broadcast_to(self.statistics.observed() + self.family.prior.rate, self.start.shape)

    @cached_property
    def rate(self) -> Floats:
        """The mean of λ, ``(classes, columns)``."""
        return np.asarray(self.start / self.exposure)

    @cached_property
    def _none(self) -> Floats:
        """log p(0) of each cell."""
        return np.asarray(-self.start * np.log1p(1 / self.exposure))

    @cached_property
    def terms(self) -> ScoreTerms:
        return ScoreTerms((LogGamma(self.start, self._slope.weights, self._none),))

    @cached_property
    def _slope(self) -> LinearTable:
        return LinearTable(-np.log1p(self.exposure), -self._none)

    @cached_property
    def _plain(self) -> PoissonLikelihood:
        """The likelihood at the mean rates."""
        likelihood: PoissonLikelihood = replace(self.family, estimate="mean").likelihood(self.statistics)
        return likelihood

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        base = self._none.sum(axis=1) + offset
        rising = kernels.rising_scores(data, self.start, np.zeros(len(base)))
        return np.asarray(rising + kernels.linear_scores(data, self._slope, base, None))

    def left_out(self, batch: Batch, kernels: Kernels) -> Scores:
        """Every row under its own class, with the row taken out; all cells of a class have been seen as often."""
        shape, length, total = self.family.prior.shape, row_sums(batch.data), self.statistics.dense()
        events, exposure = self.family.own_left(batch, self.statistics, float(shape), length)
        own = kernels.own_rising_scores(batch.data, batch.classes, batch.weight, total, shape)
        return Scores(own - events * np.log1p(1 / exposure) - length * np.log1p(exposure))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self._plain.shrunk(data, kernels)

    def log_base(self, data: Data) -> Floats:
        return -log_factorials(data)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        """Rows of counts, each with rates of its own drawn from the posterior."""
        drawn = rng.gamma(self.start[classes], 1 / self.exposure[classes])
        return rng.poisson(drawn).astype(np.float64)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self.rate)

    def parameters(self) -> dict[str, Array]:
        return self._plain.parameters()
