"""Words in a bag: each row a draw of many tokens, θ their shares within the class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import Kernels
from ..kernels.base import LinearTable
from ..kernels.data import Array, Data, Dense, Floats, Positions, chunks
from ..priors import Dirichlet, LogProbability
from ..statistics import Counts
from .base import Batch, cell_positions
from .linear import LinearLikelihood, Score, factored, observe_counts, sparse_parts


@dataclass(frozen=True)
class Multinomial:
    """Counts per row with shares θ. A missing count is left out of the sum and of the length."""

    prior: Dirichlet = Dirichlet(1.0)

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "MultinomialNB")

    def log_shares(self, statistics: Counts) -> LogProbability:
        """log θ, ``(classes, columns)``."""
        count = statistics.dense()
        return self.prior.log_mean(count, count.sum(axis=1, keepdims=True), count.shape[1])

    def likelihood(self, statistics: Counts) -> MultinomialLikelihood:
        if isinstance(statistics.total, np.ndarray) or np.ndim(self.prior.concentration) == 2:
            finite, order = self.log_shares(statistics)
            none = np.zeros(len(finite))
            limit = None if order is None else Score(LinearTable(-order), none)
            return MultinomialLikelihood(statistics, self, Score(LinearTable(finite), none), limit)
        return self._sparse(statistics)

    def _sparse(self, statistics: Counts) -> MultinomialLikelihood:
        # log θ = log α_j - log(total of the class) + [log(n + α_j) - log α_j where the class has the word].
        by_column, pseudo, alpha = sparse_parts(statistics.total, self.prior.concentration)
        total = np.asarray(statistics.total.sum(axis=1)).ravel() + alpha.sum()
        empty, impossible = total <= 0, alpha <= 0
        slope = np.where(empty, -np.log(len(alpha)), -np.log(np.where(empty, 1.0, total)))
        shared = np.log(np.where(impossible, 1.0, alpha))
        stored = np.log(by_column.data + pseudo) - np.log(np.where(pseudo <= 0, 1.0, pseudo))
        none = np.zeros(len(total))
        finite = Score(factored(shared, slope, by_column, stored), none)
        limit = None
        if impossible.any():
            # A class without any word gives all words an even share: none is impossible.
            shared, slope = np.where(impossible, -1.0, 0.0), np.where(empty, 1.0, 0.0)
            order = factored(shared, slope, by_column, np.where(pseudo <= 0, 1.0, 0.0))
            limit = Score(order, none)
        return MultinomialLikelihood(statistics, self, finite, limit)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * (n_columns - 1))


@dataclass(frozen=True)
class MultinomialLikelihood(LinearLikelihood):
    """log p(x | class) = Σ x_j log θ_j, plus the multinomial coefficient in ``log_base``."""

    statistics: Counts
    family: Multinomial
    finite: Score
    order: Score | None

    def log_base(self, data: Data) -> Floats:
        return log_coefficient(data)

    def sample(self, classes: Positions, rng: np.random.Generator, length: int | Array = 100) -> Floats:
        """Rows of counts; ``length`` tokens a row, one number or one per row."""
        lengths = np.broadcast_to(np.asarray(length, dtype=np.int64), (len(classes),))
        share = np.exp(self.family.log_shares(self.statistics).value())
        share /= share.sum(axis=1, keepdims=True)
        out = np.empty((len(classes), share.shape[1]))
        for c in np.unique(classes):
            rows = np.flatnonzero(classes == c)
            out[rows] = rng.multinomial(lengths[rows], share[c])
        return out

    def parameters(self) -> dict[str, Array]:
        return {
            **cell_positions(*self.statistics.total.shape),
            "count": self.statistics.dense().ravel(),
            "probability": np.exp(self.family.log_shares(self.statistics).value()).ravel(),
        }


def log_coefficient(data: Data) -> Floats:
    """log of n! / Π x_j!, row by row."""
    from scipy.special import gammaln

    out = np.empty(data.n_rows)
    for begin, end, part in chunks(data, 4096):
        if isinstance(part, Dense):
            x = np.nan_to_num(part.floats(), nan=0.0)
            out[begin:end] = gammaln(x.sum(axis=1) + 1) - gammaln(x + 1).sum(axis=1)
        else:
            x = part.matrix().astype(np.float64)
            x.data = np.nan_to_num(x.data, nan=0.0)
            length = np.asarray(x.sum(axis=1)).ravel()
            x.data = gammaln(x.data + 1)
            out[begin:end] = gammaln(length + 1) - np.asarray(x.sum(axis=1)).ravel()
    return out
