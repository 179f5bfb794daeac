"""Counts of events: λ is the mean count within the class."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions
from ..kernels.tables import LinearTable, LogSums
from ..lazy import dataclass
from ..priors import Estimate, Gamma, pseudo_count
from ..statistics import Counts
from ..statistics.base import remaining
from .base import (
    Batch,
    Plain,
    Scores,
    cell_positions,
    own_by_removal,
    prior_of_column,
    put_own,
    replace_own,
    require_proper,
)
from .linear import (
    LinearLikelihood,
    LinearTerm,
    factored,
    log_factorials,
    observe_counts,
    own_tokens_left,
    row_sums,
    scores_and_log_sums,
    sparse_parts,
)
from .score_terms import LogGamma, ScoreTerms, TermLikelihood

_JEFFREYS = Gamma(0.5, 0.0)


class Overall(NamedTuple):
    """Sums of the columns over all classes, which stay fixed while rows are left out."""

    rate: Floats  # 1 for columns without observed cells
    shrinking: Floats  # derivative of the rate by ε events, for columns without events


_UNUSED_OVERALL = Overall(np.ones(1), np.ones(1))


@dataclass(frozen=True)
class Poisson(Plain):
    """Columns of independent counts with rates λ.

    A class without observations of a column and without prior exposure uses the rate of all classes together.
    """

    prior: Gamma = Gamma(1.0, 1.0)
    estimate: Estimate = "mean"
    overall: Overall | None = None

    statistic: ClassVar[type[Counts]] = Counts
    separate: ClassVar[bool] = True

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "PoissonNB")

    def resolve(self, statistics: Counts) -> Poisson:
        # With prior exposure in all columns, the overall rate is not needed.
        if self.overall is not None or np.min(self._prior_exposure) > 0:
            return self
        part, whole = self._sum_of_parts(statistics)
        n_classes = np.full_like(part, len(statistics.rows))
        return replace(self, overall=Overall(_over(part, whole), _over(n_classes, whole)))

    def _sum_of_parts(self, statistics: Counts) -> tuple[Floats, Floats]:
        """Return ``parts`` summed over the classes."""
        pseudo, n_classes = pseudo_count(self.prior.shape, self.estimate), len(statistics.rows)
        if np.min(pseudo) < 0:
            # Negative pseudo-counts are added to the counts of each class separately, and the result is clipped at 0.
            part, whole = np.broadcast_arrays(*self.parts(statistics))
            return part.sum(axis=0), whole.sum(axis=0)
        one = statistics.together()
        part = one.dense()[0] + _all_classes(pseudo, n_classes)
        whole = one.observed()[0] + _all_classes(self._prior_exposure, n_classes)
        return part, np.broadcast_to(whole, part.shape)

    def only(self, j: int) -> Poisson:
        overall = None if self.overall is None else Overall(*(part[[j]] for part in self.overall))
        return replace(self, prior=prior_of_column(self.prior, j), overall=overall)

    def with_alpha(self, alpha: float | Floats) -> Poisson:
        return replace(self, prior=Gamma(alpha, self.prior.rate), overall=None)

    def most_alpha(self, statistics: Counts) -> Floats:
        # The shape of the prior is a number of events, which ``rate`` rows with the mean count contain.
        mean = _over(statistics.dense(), np.broadcast_to(statistics.observed(), statistics.total.shape), 0.0)
        return np.asarray(np.maximum(super().most_alpha(statistics), 10.0 * mean.max(axis=0) * self.prior.rate))

    def parts(self, statistics: Counts) -> tuple[Floats, Floats]:
        """Return events and exposure, including those of the prior; their ratio is the rate."""
        events = statistics.dense() + pseudo_count(self.prior.shape, self.estimate)
        return np.maximum(events, 0.0), statistics.observed() + self._prior_exposure

    @property
    def _prior_exposure(self) -> float | Floats:
        return 0.0 if self.estimate == "mle" else self.prior.rate

    def rates(self, statistics: Counts) -> Floats:
        """λ, ``(classes, columns)``."""
        part, whole = np.broadcast_arrays(*self.parts(statistics))
        return _over(part, whole, self._overall(statistics).rate)

    def _overall(self, statistics: Counts) -> Overall:
        return self.resolve(statistics).overall or _UNUSED_OVERALL

    def likelihood(self, statistics: Counts) -> Any:
        if self.estimate == "predictive":
            return NegativeBinomialLikelihood(statistics, self)
        pseudo = self._scalar()
        sparse = not isinstance(statistics.total, np.ndarray) and statistics.missing is None
        if sparse and pseudo is not None and (statistics.rows + self._prior_exposure > 0).all():
            return self._sparse(statistics, pseudo)
        rate = self.rates(statistics)
        zero = rate <= 0
        # A rate of 0 is the limit of a vanishing prior: ε events in the observed rows.
        whole = np.broadcast_to(self.parts(statistics)[1], rate.shape)
        shrinking = _over(np.ones_like(rate), whole, self._overall(statistics).shrinking)
        finite = LinearTerm(LinearTable(np.log(np.where(zero, shrinking, rate)), rate), -rate.sum(axis=1))
        limit = LinearTerm(LinearTable(np.where(zero, -1.0, 0.0)), np.zeros(len(rate))) if zero.any() else None
        return PoissonLikelihood(statistics, self, finite, limit)

    def _scalar(self) -> float | None:
        """Return the pseudo-count if it is non-negative and all columns have the same prior, else None."""
        pseudo = pseudo_count(self.prior.shape, self.estimate)
        return None if np.ndim(pseudo) or np.ndim(self.prior.rate) or float(pseudo) < 0 else float(pseudo)

    def _sparse(self, statistics: Counts, alpha: float) -> PoissonLikelihood:
        # log λ = log α - log(rows of the class) + [log(n + α) - log α where the class has events].
        by_column, pseudo, shape = sparse_parts(statistics.total, alpha)
        rows = np.asarray(statistics.rows + self._prior_exposure)
        log_alpha = np.log(alpha) if alpha > 0 else 0.0
        none, zeros = np.zeros(len(rows)), np.zeros(len(shape))
        table = factored(zeros + log_alpha, -np.log(rows), by_column, np.log(by_column.data + pseudo) - log_alpha)
        # For a missing cell, add back its rate, which is subtracted in the base.
        absent = factored(zeros, alpha / rows, by_column, by_column.data / rows[by_column.indices])
        events = np.asarray(statistics.total.sum(axis=1)).ravel() + alpha * len(shape)
        limit = None if alpha > 0 else LinearTerm(factored(zeros - 1.0, none, by_column, np.ones(by_column.nnz)), none)
        return PoissonLikelihood(statistics, self, LinearTerm(table, -events / rows, absent), limit)

    def left_out(self, batch: Batch, statistics: Counts, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        pseudo = self._scalar()
        if pseudo is None or statistics.missing is not None:
            own = own_by_removal(self, batch, statistics, kernels)
        elif self.estimate == "predictive":
            own = likelihood.left_out(batch, kernels)
        else:
            finite, sums = scores_and_log_sums(likelihood.finite, offset, batch, statistics.total, pseudo, kernels)
            own = self._own(batch, statistics, pseudo, sums, kernels)
            return put_own(finite, likelihood.limits(batch.data, kernels), batch, own, offset, kernels)
        return replace_own(likelihood, batch, own, offset, kernels)

    def _own(self, batch: Batch, statistics: Counts, pseudo: float, log_sums: LogSums, kernels: Kernels) -> Scores:
        """Return Σ x log λ' - λ' under each row's own class, with λ' = (events - w x) / (rows - w)."""
        sums, zeros, length = log_sums
        events, exposure = self.own_left(batch, statistics, pseudo, length)
        rest = np.flatnonzero(exposure <= 0)
        exposure[rest] = 1.0
        finite = sums - length * np.log(exposure) - events / exposure
        limit = -zeros
        if len(rest):
            alone = own_by_removal(self, batch.take(rest), statistics, kernels)
            finite[rest], limit[rest] = alone.finite, alone.limits[0] if alone.limits else 0.0
        return Scores(finite, (limit,))

    def own_left(self, batch: Batch, statistics: Counts, pseudo: float, length: Floats) -> tuple[Floats, Floats]:
        """Return the events of all columns, and the exposure, of each row's class without the row, prior included."""
        if batch.weight is None:
            exposure = (remaining(statistics.rows, 1.0) + self._prior_exposure)[batch.classes]
        else:
            exposure = remaining(statistics.rows[batch.classes], batch.weight) + self._prior_exposure
        return own_tokens_left(batch, statistics.total, pseudo, length), exposure

    def posterior(self, statistics: Counts) -> Gamma:
        shape = np.asarray(self.prior.shape)
        # Without events and pseudo-counts, the shape is that of Jeffreys' prior, ½; the prior exposure is unchanged.
        prior = _JEFFREYS if self.estimate == "mle" else Gamma(np.where(shape > 0, shape, 0.5), self.prior.rate)
        events, exposure = np.broadcast_arrays(statistics.dense(), statistics.observed())
        return prior.posterior(events, exposure)

    def log_marginal_likelihood(self, statistics: Counts) -> Floats:
        require_proper(self.estimate, self.prior)
        return np.asarray(self.prior.log_marginal_likelihood(statistics.dense(), statistics.observed()).sum(axis=0))

    def score_variance(self, data: Data, statistics: Counts, kernels: Kernels) -> Floats:
        """Var[x log λ - λ] = x² ψ'(a) - 2x / b + a / b² for λ ~ Gamma(a, b)."""
        from scipy.special import polygamma

        after = self.posterior(statistics)
        shape, rate = np.asarray(after.shape), np.asarray(after.rate)
        # A column without observations contributes 0 to the score, with variance 0.
        seen = statistics.observed().any(axis=0)
        rate = np.where(seen, rate, 1.0)
        square, slope, constant = (part * seen for part in (polygamma(1, shape), -2.0 / rate, shape / rate**2))
        x = data.floats()
        known, filled = ~np.isnan(x), np.nan_to_num(x, nan=0.0)
        return np.asarray(filled**2 @ square.T + filled @ slope.T + known @ constant.T)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * n_columns)


def _all_classes(values: float | Floats, n_classes: int) -> Any:
    """Return the sum of the values over all classes."""
    return np.sum(values, axis=0) if np.ndim(values) == 2 else np.multiply(values, n_classes)


def _over(part: Floats, whole: Floats, otherwise: float | Floats = 1.0) -> Floats:
    fallback = np.broadcast_to(np.asarray(otherwise, dtype=np.float64), part.shape).copy()
    return np.asarray(np.divide(part, whole, out=fallback, where=whole > 0))


@dataclass(frozen=True)
class PoissonLikelihood(LinearLikelihood):
    """log p(x | class) = Σ x_j log λ_j - λ_j - log x_j!."""

    statistics: Counts
    family: Poisson
    finite: LinearTerm
    order: LinearTerm | None

    @cached_property
    def rate(self) -> Floats:
        """λ, ``(classes, columns)``."""
        return self.family.rates(self.statistics)

    def log_base(self, data: Data) -> Floats:
        return -log_factorials(data)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        return rng.poisson(self.rate[classes]).astype(np.float64)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self.rate)

    def parameters(self) -> dict[str, Array]:
        observed = np.broadcast_to(self.statistics.observed(), self.rate.shape)
        return {
            **cell_positions(*self.rate.shape),
            "count": observed.ravel(),
            "total": self.statistics.dense().ravel(),
            "rate": self.rate.ravel(),
        }


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
        """Return log p(0) of each cell."""
        return np.asarray(-self.start * np.log1p(1 / self.exposure))

    @cached_property
    def terms(self) -> ScoreTerms:
        return ScoreTerms((LogGamma(self.start, self._slope.weights, self._none),))

    @cached_property
    def _slope(self) -> LinearTable:
        return LinearTable(-np.log1p(self.exposure), -self._none)

    @cached_property
    def _plain(self) -> PoissonLikelihood:
        """Return the Poisson likelihood with the mean rates."""
        likelihood: PoissonLikelihood = replace(self.family, estimate="mean").likelihood(self.statistics)
        return likelihood

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        base = self._none.sum(axis=1) + offset
        rising = kernels.rising_scores(data, self.start, np.zeros(len(base)))
        return np.asarray(rising + kernels.linear_scores(data, self._slope, base, None))

    def left_out(self, batch: Batch, kernels: Kernels) -> Scores:
        """Return the left-out score of each row under its own class, if all cells of a class have equal exposure."""
        shape, length, total = self.family.prior.shape, row_sums(batch.data), self.statistics.dense()
        events, exposure = self.family.own_left(batch, self.statistics, float(shape), length)
        own = kernels.own_rising_scores(batch.data, batch.classes, batch.weight, total, shape)
        return Scores(own - events * np.log1p(1 / exposure) - length * np.log1p(exposure))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self._plain.shrunk(data, kernels)

    def log_base(self, data: Data) -> Floats:
        return -log_factorials(data)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        """Draw rows of counts, each with rates drawn from the posterior."""
        drawn = rng.gamma(self.start[classes], 1 / self.exposure[classes])
        return rng.poisson(drawn).astype(np.float64)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self.rate)

    def parameters(self) -> dict[str, Array]:
        return self._plain.parameters()
