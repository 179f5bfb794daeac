"""Multinomial counts: each row is a number of draws of tokens with probabilities θ that depend on the class."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions
from ..kernels.tables import LinearTable, LogSums
from ..lazy import dataclass
from ..priors import Dirichlet, Estimate, LogProbability, log_rising, log_share, parts_of
from ..statistics import Counts
from .base import Batch, Scores, cell_positions, own_by_removal, put_own, replace_own, require_proper
from .linear import (
    LinearLikelihood,
    LinearTerm,
    TokenFamily,
    draw_tokens,
    factored,
    fill_tokens,
    log_coefficient,
    observe_counts,
    own_tokens_left,
    row_sums,
    scores_and_log_sums,
    sparse_parts,
    squared,
)
from .score_terms import LogGamma, RowTotal, ScoreTerms, TermLikelihood


@dataclass(frozen=True)
class Multinomial(TokenFamily):
    """Counts per row with probabilities θ. A missing count is excluded from the sum and from the row length."""

    prior: Dirichlet = Dirichlet(1.0)
    estimate: Estimate = "mean"

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "MultinomialNB")

    def log_shares(self, statistics: Counts) -> LogProbability:
        """log θ, ``(classes, columns)``."""
        part = parts_of(statistics.dense() + self.pseudo)
        return log_share(part, part.sum(axis=1, keepdims=True), part.shape[1])

    def likelihood(self, statistics: Counts) -> Any:
        if self.estimate == "predictive":
            return PolyaLikelihood(statistics, self)
        sparse = not isinstance(statistics.total, np.ndarray) and np.ndim(self.pseudo) < 2
        return self._sparse(statistics) if sparse and np.min(self.pseudo) >= 0 else self._dense(statistics)

    def _dense(self, statistics: Counts) -> MultinomialLikelihood:
        finite, order = self.log_shares(statistics)
        none = np.zeros(len(finite))
        limit = None if order is None else LinearTerm(LinearTable(-order), none)
        return MultinomialLikelihood(statistics, self, LinearTerm(LinearTable(finite), none), limit)

    def _sparse(self, statistics: Counts) -> MultinomialLikelihood:
        # log θ = log α_j - log(total of the class) + [log(n + α_j) - log α_j where the class has the word].
        by_column, pseudo, alpha = sparse_parts(statistics.total, self.pseudo)
        total = np.asarray(statistics.total.sum(axis=1)).ravel() + alpha.sum()
        empty, impossible = total <= 0, alpha <= 0
        slope = -np.log(np.where(empty, len(alpha), total))
        shared = np.log(np.where(impossible, 1.0, alpha))
        stored = np.log(by_column.data + pseudo) - np.log(np.where(pseudo <= 0, 1.0, pseudo))
        none = np.zeros(len(total))
        finite = LinearTerm(factored(shared, slope, by_column, stored), none)
        limit = None
        if impossible.any():
            # In a class without any words, all words have equal shares, and none is impossible.
            shared, slope = np.where(impossible, -1.0, 0.0), np.where(empty, 1.0, 0.0)
            order = factored(shared, slope, by_column, np.where(pseudo <= 0, 1.0, 0.0))
            limit = LinearTerm(order, none)
        return MultinomialLikelihood(statistics, self, finite, limit)

    def left_out(self, batch: Batch, statistics: Counts, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        if self.estimate == "predictive":
            own = likelihood.left_out(batch, kernels)
        elif np.min(self.pseudo) < 0:
            # The mode may be on the boundary, where the set of words with a positive share depends on the row.
            own = own_by_removal(self, batch, statistics, kernels)
        else:
            parts = batch, statistics.total, self.pseudo
            finite, sums = scores_and_log_sums(likelihood.finite, offset, *parts, kernels)
            limits = likelihood.limits(batch.data, kernels)
            return put_own(finite, limits, batch, self._own(batch, statistics, sums), offset, kernels)
        return replace_own(likelihood, batch, own, offset, kernels)

    def _own(self, batch: Batch, statistics: Counts, log_sums: LogSums) -> Scores:
        """Return Σ x log(count - w x + α) - n log(total - w n + Σα) under each row's own class."""
        n_columns = statistics.total.shape[1]
        sums, zeros, length = log_sums
        left = own_tokens_left(batch, statistics.total, self.pseudo, length)
        empty = np.flatnonzero(left <= 0)
        if len(empty):
            # If the class is empty without the row, all words have equal shares.
            left[empty], sums[empty], zeros[empty] = max(1, n_columns), 0.0, 0.0
        sums -= length * np.log(left, out=left)
        return Scores(sums, (-zeros,))

    def posterior(self, statistics: Counts) -> Dirichlet:
        prior = self.prior if self.estimate != "mle" and self.prior.is_proper else Dirichlet(0.5)
        return prior.posterior(statistics.dense())

    def log_marginal_likelihood(self, statistics: Counts) -> Floats:
        """Return the log marginal likelihood of each word against all others; their sum is not the total."""
        from scipy.special import betaln

        require_proper(self.estimate, self.prior)
        count = statistics.dense()
        alpha = np.broadcast_to(self.prior.concentration, count.shape)
        others = alpha.sum(axis=1, keepdims=True) - alpha
        if count.shape[1] == 1:
            return np.zeros(1)
        rest = np.maximum(count.sum(axis=1, keepdims=True) - count, 0.0)
        return np.asarray((betaln(alpha + count, others + rest) - betaln(alpha, others)).sum(axis=0))

    def total_log_marginal_likelihood(self, statistics: Counts) -> float:
        require_proper(self.estimate, self.prior)
        if np.ndim(self.prior.concentration):
            return float(np.sum(self.prior.log_marginal_likelihood(statistics.dense())))
        # With one pseudo-count for all words, words that do not occur in a class add 0.
        from scipy.special import gammaln

        alpha, total = self.prior.concentration, statistics.total
        count = total[total > 0] if isinstance(total, np.ndarray) else total.data
        whole, sums = alpha * total.shape[1], np.asarray(total.sum(axis=1)).ravel()
        return float((gammaln(alpha + count) - gammaln(alpha)).sum() + (gammaln(whole) - gammaln(whole + sums)).sum())

    def score_variance(self, data: Data, statistics: Counts, kernels: Kernels) -> Floats:
        from scipy.special import polygamma

        after = np.asarray(self.posterior(statistics).concentration)
        table = LinearTable(polygamma(1, after))
        length = row_sums(data)
        scores = kernels.linear_scores(squared(data), table, np.zeros(len(after)), None)
        return np.asarray(scores - np.outer(length**2, polygamma(1, after.sum(axis=1))))


@dataclass(frozen=True)
class MultinomialLikelihood(LinearLikelihood):
    """log p(x | class) = Σ x_j log θ_j, plus the multinomial coefficient in ``log_base``."""

    statistics: Counts
    family: Multinomial
    finite: LinearTerm
    order: LinearTerm | None

    def log_base(self, data: Data) -> Floats:
        return log_coefficient(data)

    def shares(self) -> Floats:
        """θ, ``(classes, columns)``."""
        share = np.exp(self.family.log_shares(self.statistics).value())
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def sample(self, classes: Positions, rng: np.random.Generator, length: int | Array = 100) -> Floats:
        """Return rows of counts with ``length`` tokens each, one number or one per row."""
        return draw_tokens(self.shares(), classes, rng, length)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return fill_tokens(data, posterior, self.shares())

    def parameters(self) -> dict[str, Array]:
        return {
            **cell_positions(*self.statistics.total.shape),
            "count": self.statistics.dense().ravel(),
            "probability": np.exp(self.family.log_shares(self.statistics).value()).ravel(),
        }


@dataclass(frozen=True)
class PolyaLikelihood(TermLikelihood):
    """log p(x | class) = log Γ(A) / Γ(A + n) + Σ log Γ(a_j + x_j) / Γ(a_j), the Dirichlet-multinomial distribution.

    a are counts plus pseudo-counts, and A is their sum.
    """

    statistics: Counts
    family: Multinomial

    @cached_property
    def start(self) -> Floats:
        """a, ``(classes, columns)``."""
        return np.ascontiguousarray(self.statistics.dense() + self.family.prior.concentration)

    @cached_property
    def whole(self) -> Floats:
        """A, ``(classes,)``."""
        return np.asarray(self.start.sum(axis=1))

    @cached_property
    def terms(self) -> ScoreTerms:
        return ScoreTerms((LogGamma(self.start), RowTotal(self.whole)))

    @cached_property
    def _plain(self) -> MultinomialLikelihood:
        """Return the multinomial likelihood with the mean shares."""
        return replace(self.family, estimate="mean")._dense(self.statistics)

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        scores = kernels.rising_scores(data, self.start, np.asarray(offset, dtype=np.float64))
        return np.asarray(scores - log_rising(self.whole, row_sums(data)[:, None]))

    def left_out(self, batch: Batch, kernels: Kernels) -> Scores:
        """Return the score of each row under its own class without the row."""
        total, alpha, length = self.statistics.dense(), self.family.prior.concentration, row_sums(batch.data)
        whole = own_tokens_left(batch, total, alpha, length)
        own = kernels.own_rising_scores(batch.data, batch.classes, batch.weight, total, alpha)
        return Scores(own - log_rising(whole, length))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self._plain.shrunk(data, kernels)

    def log_base(self, data: Data) -> Floats:
        return log_coefficient(data)

    def sample(self, classes: Positions, rng: np.random.Generator, length: int | Array = 100) -> Floats:
        """Draw rows of counts, each with shares drawn from the posterior."""
        lengths = np.broadcast_to(np.asarray(length, dtype=np.int64), (len(classes),))
        draws = rng.standard_gamma(self.start[classes])
        return rng.multinomial(lengths, draws / draws.sum(axis=1, keepdims=True)).astype(np.float64)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return fill_tokens(data, posterior, self._plain.shares())

    def parameters(self) -> dict[str, Array]:
        return self._plain.parameters()
