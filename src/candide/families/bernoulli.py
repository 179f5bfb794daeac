"""Presence or absence: φ is the probability that the column is on within the class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, Sparse
from ..kernels.tables import LinearTable
from ..lazy import dataclass
from ..priors import Beta, Estimate, LogProbability, above_zero, largest, log_of_wholes, log_share, pseudo_count
from ..statistics import Counts
from ..statistics.base import as_dense, remaining
from .base import (
    Batch,
    Plain,
    Scores,
    cell_positions,
    own_by_removal,
    own_by_weight,
    prior_of_column,
    put_own,
    replace_own,
    require_proper,
)
from .linear import LinearLikelihood, LinearTerm, factored, observe_counts

_UNIFORM = Beta(1.0, 1.0)


@dataclass(frozen=True)
class Bernoulli(Plain):
    """Columns that are on (above ``threshold``) or off. With ``threshold=None`` the cells must be 0 or 1 already."""

    prior: Beta = _UNIFORM
    threshold: float | None = 0.0
    estimate: Estimate = "mean"

    statistic: ClassVar[type[Counts]] = Counts
    separate: ClassVar[bool] = True

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        if self.threshold is None and as_dense(kernels.tally(*batch, threshold=1.0).total).any():
            raise InputError(
                "X contains values above 1, but BernoulliNB(binarize=None) expects only 0 and 1; pass binarize=0.0 or "
                "another threshold"
            )
        return observe_counts(batch, kernels, "BernoulliNB", self.threshold, presence=True)

    def only(self, j: int) -> Bernoulli:
        return replace(self, prior=prior_of_column(self.prior, j))

    def with_alpha(self, alpha: float | Floats) -> Bernoulli:
        return replace(self, prior=Beta(alpha, alpha))

    def log_on_off(self, statistics: Counts) -> tuple[LogProbability, LogProbability]:
        """Return log φ and log(1 - φ), ``(classes, columns)``, each from its own count."""
        return self._shares(*_on_off(statistics))

    def _shares(self, on: Floats, off: Floats) -> tuple[LogProbability, LogProbability]:
        return self._share(on, off, 0), self._share(on, off, 1)

    def _share(self, on: Floats, off: Floats, side: int) -> LogProbability:
        """Return log φ (side 0) or log(1 - φ)."""
        raw = (on + pseudo_count(self.prior.a, self.estimate), off + pseudo_count(self.prior.b, self.estimate))
        part_on, part_off = map(above_zero, raw)
        whole = part_on + part_off
        part = part_off if side else part_on
        cornered = whole <= 0
        if cornered.any():
            tops = largest(raw[0], raw[1]), largest(raw[1], raw[0])
            part = np.where(cornered, tops[side], part)
            whole = np.where(cornered, tops[0] * 1.0 + tops[1], whole)
        return log_share(part, whole, 2)

    def _shares_without(self, on: Floats, off: Floats, weight: float) -> tuple[LogProbability, LogProbability]:
        """Return log φ without a row of this weight that is on, and log(1 - φ) without one that is off."""
        if not weight:
            return self._shares(on, off)
        a, b = (pseudo_count(prior, self.estimate) for prior in (self.prior.a, self.prior.b))
        if min(np.min(a), np.min(b)) > 0:
            # No probability is 0, and the denominator is the weight of all other rows.
            log_whole = log_of_wholes(remaining(on + off, weight) + (a + b))
            parts = (np.log(remaining(count, weight) + pseudo) for count, pseudo in ((on, a), (off, b)))
            log_on, log_off = (LogProbability(part - log_whole, None) for part in parts)
            return log_on, log_off
        return self._share(remaining(on, weight), off, 0), self._share(on, remaining(off, weight), 1)

    def likelihood(self, statistics: Counts) -> BernoulliLikelihood:
        return self._without(statistics, 0.0)

    def _without(self, statistics: Counts, weight: float) -> BernoulliLikelihood:
        """Return the log probabilities of each class without a row of this weight; with 0, the likelihood itself."""
        dense = isinstance(statistics.total, np.ndarray) or statistics.missing is not None
        if dense or np.ndim(self.prior.a) or np.ndim(self.prior.b):
            return self._build(statistics, self._dense_term, *self._shares_without(*_on_off(statistics), weight))
        # All words that do not occur in a class have equal weights, so only words that occur are stored.
        by_column = statistics.total.tocsc()
        never = self._shares_without(np.zeros_like(statistics.rows), statistics.rows, weight)
        off = remaining(statistics.rows[by_column.indices], by_column.data)
        seen = self._shares_without(by_column.data, off, weight)

        return self._build(statistics, partial(self._sparse_term, by_column), *seen, *never)

    def _build(
        self, statistics: Counts, term: Callable[..., LinearTerm], *parts: LogProbability
    ) -> BernoulliLikelihood:
        limit = None
        if any(part.order is not None for part in parts):
            limit = term(*(np.zeros(p.finite.shape) if p.order is None else -p.order for p in parts))
        return BernoulliLikelihood(statistics, self, term(*(part.finite for part in parts)), limit)

    def _dense_term(self, on: Floats, off: Floats) -> LinearTerm:
        # The base is the score of a row with all columns off; a missing cell subtracts its log(1 - φ) again.
        off = np.broadcast_to(off, on.shape)
        table = LinearTable(np.ascontiguousarray(on - off), np.ascontiguousarray(-off))
        return LinearTerm(table, off.sum(axis=1), threshold=self.threshold)

    def _sparse_term(self, by_column: Any, on: Floats, off: Floats, never_on: Floats, never_off: Floats) -> LinearTerm:
        classes, (n_classes, n_columns) = by_column.indices, by_column.shape
        slope = never_on - never_off
        base = n_columns * never_off + np.bincount(classes, off - never_off[classes], minlength=n_classes)
        none = np.zeros(n_columns)
        absent = factored(none, -never_off, by_column, never_off[classes] - off)
        table = factored(none, slope, by_column, on - off - slope[classes])
        return LinearTerm(table, base, absent, self.threshold)

    def left_out(self, batch: Batch, statistics: Counts, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        def at_weight(part: Batch, weight: float) -> Scores:
            return self._without(statistics, weight).own(part.data, part.classes, kernels)

        def one_by_one(part: Batch) -> Scores:
            return own_by_removal(self, part, statistics, kernels)

        if self.threshold is None and not _on_or_off(batch.data):
            own = one_by_one(batch)
        elif batch.weight is None:
            finite, own = likelihood.scores_with_own(self._without(statistics, 1.0), batch, offset, kernels)
            return put_own(finite, likelihood.limits(batch.data, kernels), batch, own, offset, kernels)
        else:
            own = own_by_weight(batch, at_weight, one_by_one, batch.n_classes)
        return replace_own(likelihood, batch, own, offset, kernels)

    def posterior(self, statistics: Counts) -> Beta:
        on, off = _on_off(statistics)
        return self._proper_prior().posterior(on, np.broadcast_to(off, on.shape))

    def _proper_prior(self) -> Beta:
        """Return the prior of each cell; Jeffreys' prior where it is improper."""
        a, b = np.broadcast_arrays(self.prior.a, self.prior.b)
        proper = (a > 0) & (b > 0) & (self.estimate != "mle")
        return Beta(np.where(proper, a, 0.5), np.where(proper, b, 0.5))

    def log_marginal_likelihood(self, statistics: Counts) -> Floats:
        require_proper(self.estimate, self.prior)
        return np.asarray(self.prior.log_marginal_likelihood(*_on_off(statistics)).sum(axis=0))

    def score_variance(self, data: Data, statistics: Counts, kernels: Kernels) -> Floats:
        from scipy.special import polygamma

        after = self.posterior(statistics)
        both = polygamma(1, np.asarray(after.a) + after.b)
        on, off = polygamma(1, after.a) - both, polygamma(1, after.b) - both
        # A column without observations contributes 0 to the score, with variance 0.
        seen = statistics.observed().any(axis=0)
        return self._dense_term(on * seen, off * seen).of(data, 0.0, kernels)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * n_columns)


def _on_off(statistics: Counts) -> tuple[Floats, Floats]:
    on = statistics.dense()
    return on, remaining(statistics.observed(), on)


def _on_or_off(data: Data) -> bool:
    """Return whether all cells are 0 or 1."""
    x = np.asarray(data.values) if isinstance(data, Sparse) else data.floats()
    return bool(((x == 0) | (x == 1) | (x != x)).all())


@dataclass(frozen=True)
class BernoulliLikelihood(LinearLikelihood):
    """log p(x | class) = Σ over columns of log φ where on, log(1 - φ) where off."""

    statistics: Counts
    family: Bernoulli
    finite: LinearTerm
    order: LinearTerm | None

    def probability(self) -> Floats:
        """Return φ, ``(classes, columns)``."""
        return np.exp(self.family.log_on_off(self.statistics)[0].value())

    @property
    def _level(self) -> float:
        """Return a value above the threshold."""
        threshold = self.family.threshold
        return 1.0 if threshold is None else max(1.0, np.floor(threshold) + 1.0)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        on = self.probability()[classes]
        return np.where(rng.random(on.shape) < on, self._level, 0.0)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.where(posterior @ self.probability() > 0.5, self._level, 0.0)

    def parameters(self) -> dict[str, Array]:
        cells = cell_positions(*self.statistics.total.shape)
        return {
            **cells,
            "value": np.ones(len(cells["class"]), dtype=np.int64),
            "count": self.statistics.dense().ravel(),
            "probability": self.probability().ravel(),
        }
