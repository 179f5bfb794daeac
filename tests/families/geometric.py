"""A family as CONTRIBUTING.md ("Adding a family") describes it: numbers of failures before the first success."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from candide.estimators.base import BaseNB
from candide.families.base import Batch, Plain, Scores, cell_positions, own_by_removal, replace_own, require_proper
from candide.families.linear import LinearLikelihood, LinearTerm, observe_counts
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Data, Floats, Positions
from candide.kernels.tables import LinearTable
from candide.priors import Beta, Estimate
from candide.specs.discrete import DiscreteSpec
from candide.specs.schema import Schema
from candide.statistics import Counts

_UNIFORM = Beta(1.0, 1.0)


@dataclass(frozen=True)
class Geometric(Plain):
    """p(x) = φ (1 - φ)^x, with a Beta prior on φ."""

    prior: Beta = _UNIFORM
    estimate: Estimate = "mean"

    statistic: ClassVar[type[Counts]] = Counts
    separate: ClassVar[bool] = True

    def observe(self, batch: Batch, kernels: Kernels) -> Counts:
        return observe_counts(batch, kernels, "GeometricNB")

    def with_alpha(self, alpha: float | Floats) -> Geometric:
        return replace(self, prior=Beta(alpha, alpha))

    def posterior(self, statistics: Counts) -> Beta:
        failures = statistics.dense()
        return self.prior.posterior(np.broadcast_to(statistics.observed(), failures.shape), failures)

    def likelihood(self, statistics: Counts) -> GeometricLikelihood:
        after = self.posterior(statistics)
        whole = np.asarray(after.a) + after.b
        log_success, log_failure = np.log(after.a / whole), np.log(after.b / whole)
        # A missing cell takes back the logarithm of φ that the base has added.
        term = LinearTerm(LinearTable(log_failure, -log_success), log_success.sum(axis=1))
        return GeometricLikelihood(statistics, self, term)

    def left_out(self, batch: Batch, statistics: Counts, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        own = own_by_removal(self, batch, statistics, kernels)
        return replace_own(likelihood, batch, own, offset, kernels)

    def log_marginal_likelihood(self, statistics: Counts) -> Floats:
        require_proper(self.estimate, self.prior)
        found = self.prior.log_marginal_likelihood(statistics.observed(), statistics.dense())
        return np.asarray(np.sum(found, axis=0))

    def score_variance(self, data: Data, statistics: Counts, kernels: Kernels) -> Floats:
        raise NotImplementedError

    def n_parameters(self, statistics: Counts) -> int:
        return int(np.prod(statistics.total.shape))


@dataclass(frozen=True)
class GeometricLikelihood(LinearLikelihood):
    """log p(x | class) = Σ log φ + x log(1 - φ)."""

    statistics: Counts
    family: Geometric
    finite: LinearTerm
    order: LinearTerm | None = None

    @property
    def success(self) -> Floats:
        """φ, ``(classes, columns)``."""
        absent = self.finite.dense()[1]
        assert absent is not None
        return np.exp(-absent)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        return rng.geometric(self.success[classes]).astype(np.float64) - 1.0

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ (1.0 / self.success - 1.0))

    def parameters(self) -> dict[str, Array]:
        cells = cell_positions(*self.success.shape)
        return {**cells, "count": self.statistics.dense().ravel(), "success": self.success.ravel()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GeometricSpec(DiscreteSpec):
    """Parameters of ``GeometricNB``."""

    name: ClassVar[str] = "GeometricNB"
    prior_type: ClassVar[type] = Beta

    def _family(self, schema: Schema) -> Any:
        return Geometric(*self._prior(schema, lambda alpha: Beta(alpha, alpha)))


class GeometricNB(BaseNB):
    """Naive Bayes for numbers of failures before the first success.

    Examples
    --------
    >>> GeometricNB().fit([[0], [1], [7], [9]], ["often", "often", "seldom", "seldom"]).predict([[5]])
    array(['seldom'], dtype='<U6')
    """

    _spec_type = GeometricSpec
    _positive_only: ClassVar[bool] = True

    def __init__(
        self,
        *,
        alpha: Any = None,
        class_prior: Any = None,
        calibrate: str | None = None,
        compute_loo: bool | None = None,
        subsample: Literal["auto"] | int = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior
        self.calibrate = calibrate
        self.compute_loo = compute_loo
        self.subsample = subsample
        self.n_threads = n_threads
