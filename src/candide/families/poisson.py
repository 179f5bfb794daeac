"""Counts of events: λ is the mean count within the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.base import LinearTable
from ..kernels.data import Array, Data, Dense, Floats, Positions, chunks
from ..priors import Gamma
from ..statistics import Counts
from .base import Batch, cell_positions
from .linear import LinearLikelihood, Score, factored, observe_counts, sparse_parts


@dataclass(frozen=True)
class Poisson:
    """Columns of independent counts with rates λ; the rate is the posterior mean under a Gamma prior."""

    prior: Gamma = Gamma(1.0, 1.0)

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "PoissonNB")

    def rates(self, statistics: Counts) -> Floats:
        """λ, ``(classes, columns)``."""
        return self.prior.mean(statistics.dense(), statistics.observed())

    def likelihood(self, statistics: Counts) -> PoissonLikelihood:
        sparse = not isinstance(statistics.total, np.ndarray) and statistics.missing is None
        if sparse and not np.ndim(self.prior.shape) and (statistics.rows + self.prior.rate > 0).all():
            return self._sparse(statistics)
        rate = self.rates(statistics)
        zero = rate <= 0
        # A rate of 0 is that of a vanishing prior: ε events in as many rows as were seen.
        shrinking = Gamma(1.0, self.prior.rate).mean(np.zeros_like(rate), statistics.observed())
        finite = Score(LinearTable(np.log(np.where(zero, shrinking, rate)), rate), -rate.sum(axis=1))
        limit = Score(LinearTable(np.where(zero, -1.0, 0.0)), np.zeros(len(rate))) if zero.any() else None
        return PoissonLikelihood(statistics, self, finite, limit)

    def _sparse(self, statistics: Counts) -> PoissonLikelihood:
        # log λ = log α - log(rows of the class) + [log(n + α) - log α where the class has events].
        alpha = float(self.prior.shape)
        by_column, pseudo, shape = sparse_parts(statistics.total, alpha)
        rows = statistics.rows + self.prior.rate
        log_alpha = np.log(alpha) if alpha > 0 else 0.0
        none, zeros = np.zeros(len(rows)), np.zeros(len(shape))
        table = factored(zeros + log_alpha, -np.log(rows), by_column, np.log(by_column.data + pseudo) - log_alpha)
        # A missing cell takes back its rate, which the base has subtracted.
        absent = factored(zeros, alpha / rows, by_column, by_column.data / rows[by_column.indices])
        events = np.asarray(statistics.total.sum(axis=1)).ravel() + alpha * len(shape)
        limit = None if alpha > 0 else Score(factored(zeros - 1.0, none, by_column, np.ones(by_column.nnz)), none)
        return PoissonLikelihood(statistics, self, Score(table, -events / rows, absent), limit)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * n_columns)


@dataclass(frozen=True)
class PoissonLikelihood(LinearLikelihood):
    """log p(x | class) = Σ x_j log λ_j - λ_j - log x_j!."""

    statistics: Counts
    family: Poisson
    finite: Score
    order: Score | None

    @cached_property
    def rate(self) -> Floats:
        """λ, ``(classes, columns)``."""
        return self.family.rates(self.statistics)

    def log_base(self, data: Data) -> Floats:
        from scipy.special import gammaln

        out = np.empty(data.n_rows)
        for begin, end, part in chunks(data, 4096):
            if isinstance(part, Dense):
                out[begin:end] = -np.nansum(gammaln(part.floats() + 1), axis=1)
            else:
                x = part.matrix().astype(np.float64)
                x.data = np.nan_to_num(gammaln(x.data + 1), nan=0.0)
                out[begin:end] = -np.asarray(x.sum(axis=1)).ravel()
        return out

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        return rng.poisson(self.rate[classes]).astype(np.float64)

    def parameters(self) -> dict[str, Array]:
        observed = np.broadcast_to(self.statistics.observed(), self.rate.shape)
        return {
            **cell_positions(*self.rate.shape),
            "count": observed.ravel(),
            "total": self.statistics.dense().ravel(),
            "rate": self.rate.ravel(),
        }
