"""Words in a bag whose shares are not known but drawn: the predictive distribution of the multinomial."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions
from ..lazy_dataclass import dataclass
from ..priors import log_rising
from ..statistics import Counts
from .base import Batch, Scores
from .multinomial import Multinomial, MultinomialLikelihood
from .score_terms import LogGamma, RowTotal, ScoreTerms, TermLikelihood
from .tokens import fill_tokens, log_coefficient, own_tokens_left, row_sums


@dataclass(frozen=True)
class PolyaLikelihood(TermLikelihood):
    """log p(x | class) = log Γ(A) / Γ(A + n) + Σ log Γ(a_j + x_j) / Γ(a_j), where a are counts with the prior and A
    their sum: every token of a row makes the next one of its kind more likely.
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
        """The likelihood at the mean shares."""
        return replace(self.family, estimate="mean")._dense(self.statistics)

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        scores = kernels.rising_scores(data, self.start, np.asarray(offset, dtype=np.float64))
        return np.asarray(scores - log_rising(self.whole, row_sums(data)[:, None]))

    def left_out(self, batch: Batch, kernels: Kernels) -> Scores:
        """Every row under its own class, with the row taken out."""
        total, alpha, length = self.statistics.dense(), self.family.prior.concentration, row_sums(batch.data)
        whole = own_tokens_left(batch, total, alpha, length)
        own = kernels.own_rising_scores(batch.data, batch.classes, batch.weight, total, alpha)
        return Scores(own - log_rising(whole, length))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self._plain.shrunk(data, kernels)

    def log_base(self, data: Data) -> Floats:
        return log_coefficient(data)

    def sample(self, classes: Positions, rng: np.random.Generator, length: int | Array = 100) -> Floats:
        """Rows of counts, each with shares of its own drawn from the posterior."""
        lengths = np.broadcast_to(np.asarray(length, dtype=np.int64), (len(classes),))
        draws = rng.standard_gamma(self.start[classes])
        return rng.multinomial(lengths, draws / draws.sum(axis=1, keepdims=True)).astype(np.float64)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return fill_tokens(data, posterior, self._plain.shares())

    def parameters(self) -> dict[str, Array]:
        return self._plain.parameters()
