"""Measurements that belong together: a normal distribution of several columns with all their covariances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats
from ..kernels.tables import infinite_cell
from ..lazy_dataclass import dataclass
from ..priors import Estimate, MeanVariance, NormalInverseWishart
from ..statistics import BlockMoments
from ..statistics.base import remaining
from .base import Batch, Plain, Scores
from .left_out import remove_each, replace_own
from .multivariate_likelihood import EllipticLikelihood, log_density, patterns


class Overall(NamedTuple):
    """What all classes together say; it stays as it is while rows are left out."""

    floor: float  # added to every variance
    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class MultivariateNormal(Plain):
    """Means and covariances.

    It learns from rows without missing cells; a row with some is scored by the distribution of the cells that it has,
    and leaving it out changes nothing. By maximum likelihood, ``var_smoothing`` times the largest variance is added to
    every variance. Otherwise a prior does that work: the one given, or a weak one around the overall means and
    variances, under which columns are independent.

    >>> from candide.kernels import Kernels
    >>> from candide.kernels.layouts import Dense
    >>> x = np.array([[0.0, 0.0], [2.0, 2.1], [1.0, 0.9], [3.0, 3.2]])
    >>> family = MultivariateNormal(estimate="predictive")
    >>> moments = family.observe(Batch(Dense.of(x), np.zeros(4, dtype=np.int32), None, 1), Kernels(1))
    >>> family.likelihood(moments).expected(Dense.of(np.array([[4.0, np.nan]])), np.ones((1, 1))).round(2)
    array([[4.  , 3.71]])
    """

    prior: NormalInverseWishart | None = None
    estimate: Estimate = "mle"
    var_smoothing: float = 1e-9
    overall: Overall | None = None

    statistic: ClassVar[type[BlockMoments]] = BlockMoments
    separate: ClassVar[bool] = False

    def observe(self, batch: Batch, kernels: Kernels) -> BlockMoments:
        x = batch.data.floats()
        if np.isinf(x).any():
            raise infinite_cell(batch.data)
        return BlockMoments.observe(x, batch.classes, batch.weight, batch.n_classes)

    def resolve(self, statistics: BlockMoments) -> MultivariateNormal:
        if self.overall is not None:
            return self
        whole = statistics.together()
        covariance = whole.scatter[0] / max(float(whole.weight[0]), 1e-300)
        floor = float(self.var_smoothing * np.diagonal(covariance).max()) if self.estimate == "mle" else 0.0
        prior = self.prior
        if prior is None and self.estimate != "mle":
            prior = _empirical(whole.mean[0], np.diagonal(covariance))
        return replace(self, overall=Overall(floor, whole.mean[0], covariance), prior=prior)

    def with_alpha(self, alpha: float | Floats) -> MultivariateNormal:
        raise ParameterError("a normal distribution has no pseudo-count alpha; give a parameter_prior")

    def table(self, statistics: BlockMoments) -> NormalInverseWishart:
        """The posterior of each class; maximum likelihood is that of no prior at all."""
        n_columns = statistics.mean.shape[1]
        prior = _nothing(n_columns, 0.0) if self.estimate == "mle" else self.prior
        assert prior is not None
        return prior.posterior(statistics.mean, statistics.weight, statistics.scatter)

    def divisor(self, degrees: Floats, n_columns: int) -> Floats:
        """What makes the posterior's scale a covariance: maximum likelihood, a mean, or a mode."""
        return degrees + {"mle": 0.0, "mean": -n_columns - 1.0, "map": n_columns + 2.0}[self.estimate]

    def likelihood(self, statistics: BlockMoments) -> EllipticLikelihood:
        if self.overall is None:
            return self.resolve(statistics).likelihood(statistics)
        after, (n_classes, n_columns) = self.table(statistics), statistics.mean.shape
        strength, degrees = np.asarray(after.strength), np.asarray(after.degrees)
        if self.estimate == "predictive":
            freedom = degrees - n_columns + 1.0
            factor = (strength + 1.0) / (strength * freedom)
            return EllipticLikelihood(statistics, after.location, after.scale * factor[:, None, None], freedom)
        # What a class cannot tell, because it has too few rows, it takes from all.
        location = np.where((strength > 0)[:, None], after.location, self.overall.mean)
        whole = self.divisor(degrees, n_columns)[:, None, None]
        own = after.scale / np.where(whole > 0, whole, 1.0)
        covariance = np.where(whole > 0, own, self.overall.covariance) + self.overall.floor * np.eye(n_columns)
        return EllipticLikelihood(statistics, location, covariance, np.full(n_classes, np.inf))

    def left_out(
        self, batch: Batch, statistics: BlockMoments, likelihood: Any, offset: Floats, kernels: Kernels
    ) -> Scores:
        own = own_scores(self.resolve(statistics), batch, statistics, kernels)
        return replace_own(likelihood, batch, own, offset, kernels)

    def posterior(self, statistics: BlockMoments) -> NormalInverseWishart:
        if self.estimate == "mle":
            reference = _nothing(statistics.mean.shape[1], -1.0)
            return reference.posterior(statistics.mean, statistics.weight, statistics.scatter)
        return self.resolve(statistics).table(statistics)

    def intervals(self, statistics: BlockMoments, level: float) -> MeanVariance:
        ends = self.posterior(statistics).interval(level)
        return MeanVariance(*(tuple(np.ravel(end) for end in pair) for pair in ends))

    def log_marginal_likelihood(self, statistics: BlockMoments) -> Floats:
        """Of each column without the others: they hang together, so the columns do not add up to the total."""
        variances = np.diagonal(statistics.scatter, axis1=1, axis2=2)
        alone = self._proper(statistics).columns()
        return np.asarray(
            alone.log_marginal_likelihood(statistics.mean, statistics.weight[:, None], variances).sum(axis=0)
        )

    def total_log_marginal_likelihood(self, statistics: BlockMoments) -> float:
        prior = self._proper(statistics)
        return float(prior.log_marginal_likelihood(statistics.mean, statistics.weight, statistics.scatter).sum())

    def _proper(self, statistics: BlockMoments) -> NormalInverseWishart:
        prior = self.resolve(statistics).prior
        if prior is None or self.estimate == "mle":
            raise ParameterError(
                "log_marginal_likelihood needs a prior that integrates to 1, and maximum likelihood has none; choose "
                "estimate='mean', 'map' or 'predictive', or give a parameter_prior"
            )
        return prior

    def score_variance(self, data: Data, statistics: BlockMoments, kernels: Kernels) -> Floats:
        after, x = self.posterior(statistics), data.floats()
        out = np.empty((data.n_rows, len(statistics.rows)))
        for rows, known in patterns(x):
            unknown = x.shape[1] - len(known)
            for k in range(len(statistics.rows)):
                deviation = x[np.ix_(rows, known)] - np.asarray(after.location)[k, known]
                scale = np.asarray(after.scale)[k][np.ix_(known, known)]
                strength, degrees = np.asarray(after.strength)[k], np.asarray(after.degrees)[k] - unknown
                out[rows, k] = _score_variance(deviation, scale, float(strength), float(degrees))
        return out

    def amount(self, data: Data) -> None:
        return None

    def n_parameters(self, statistics: BlockMoments) -> int:
        n_classes, n_columns = statistics.mean.shape
        return int(n_classes * (n_columns + n_columns * (n_columns + 1) // 2))


def _nothing(n_columns: int, degrees: float) -> NormalInverseWishart:
    """No prior at all; with -1 degrees, the one under which intervals are the classical ones."""
    return NormalInverseWishart(np.zeros(n_columns), 0.0, degrees, np.zeros((n_columns, n_columns)))


def _empirical(mean: Floats, variance: Floats) -> NormalInverseWishart:
    """Worth half a row for the means and two for each variance. A constant column, or one whose spread is rounding, is
    given a spread that is tiny beside the others', so that no density is infinite.
    """
    largest = float(variance.max(initial=0.0))
    constant = (np.sqrt(variance) <= 1e-12 * np.abs(mean)) | (variance <= 0)
    spread = np.where(constant, 1e-9 * largest if largest > 0 else 1.0, variance)
    return NormalInverseWishart(mean, 0.5, len(mean) + 1.0, np.diag(spread))


def _score_variance(deviation: Floats, scale: Floats, strength: float, degrees: float) -> Floats:
    """¼ Σ ψ'((ν + 1 - i) / 2) + d/2κ² + (ν/κ - 1) h + ½ ν h², h = (x - m)ᵀ Ψ⁻¹ (x - m); infinite where a class has too
    few rows to say.
    """
    from scipy.special import polygamma

    n_columns = deviation.shape[1]
    if not n_columns:
        return np.zeros(len(deviation))
    if strength <= 0 or degrees <= n_columns - 1 or np.linalg.matrix_rank(scale) < n_columns:
        return np.full(len(deviation), np.inf)
    h = np.einsum("rj,rj->r", deviation, np.linalg.solve(scale, deviation.T).T)
    determinant = polygamma(1, 0.5 * (degrees + 1.0 - np.arange(1, n_columns + 1))).sum()
    constant = 0.25 * determinant + 0.5 * n_columns / strength**2
    return np.asarray(constant + (degrees / strength - 1.0) * h + 0.5 * degrees * h * h)


# Below this share of a determinant, what is left of it is computed anew.
_DELICATE = 1e-4


class _Posterior(NamedTuple):
    """Of one class: strength, degrees, location, and the scale's spectrum."""

    strength: float
    degrees: float
    location: Floats
    values: Floats
    vectors: Floats


def own_scores(family: MultivariateNormal, batch: Batch, statistics: BlockMoments, kernels: Kernels) -> Scores:
    """Rows under their own classes, each left out; the family is resolved."""
    x, out = batch.data.floats(), np.full(len(batch.classes), np.nan)
    weight = np.ones(len(out)) if batch.weight is None else batch.weight
    # Rows with missing cells were never in the sums, nor were those without weight.
    inside = ~np.isnan(x).any(axis=1) & (weight > 0)
    after = family.table(statistics)
    spectra = np.linalg.eigh(np.asarray(after.scale))
    for k in np.unique(batch.classes[inside]):
        rows = np.flatnonzero(inside & (batch.classes == k))
        strength, degrees, location = (np.asarray(part)[k] for part in (after.strength, after.degrees, after.location))
        posterior = _Posterior(strength, degrees, location, spectra.eigenvalues[k], spectra.eigenvectors[k])
        out[rows] = _closed_form(family, x[rows], weight[rows], posterior)
    odd = inside & np.isnan(out)
    for i in np.flatnonzero(odd):
        out[i] = _anew(family, batch, int(i), statistics, kernels)
    outside = np.flatnonzero(~inside)
    if len(outside):
        scores = family.likelihood(statistics).scores(batch.data.take(outside), np.zeros(batch.n_classes), kernels)
        out[outside] = scores[np.arange(len(outside)), batch.classes[outside]]
    return Scores(out)


def _closed_form(family: MultivariateNormal, x: Floats, weight: Floats, posterior: _Posterior) -> Floats:
    """NaN where that would lose digits, or where nothing is left of the class."""
    assert family.overall is not None
    n_columns = x.shape[1]
    strength = remaining(np.full(len(x), posterior.strength), weight)
    freedom, whole = _spread(family, strength, posterior.degrees - weight, n_columns)
    usable = (strength > 0) & (whole > 0) & (freedom > 0)
    strength, whole = np.where(usable, strength, 1.0), np.where(usable, whole, 1.0)
    spread = posterior.values + (family.overall.floor * whole)[:, None]
    usable &= (spread > 1e-14 * spread.max(axis=1, keepdims=True)).all(axis=1)
    spread = np.where(usable[:, None], spread, 1.0)
    h = ((x - posterior.location) @ posterior.vectors) ** 2 / spread
    lift = posterior.strength / strength
    left = 1.0 - weight * lift * h.sum(axis=1)
    usable &= left > _DELICATE
    left = np.where(usable, left, 1.0)
    square = whole * lift**2 * h.sum(axis=1) / left
    log_determinant = np.log(spread).sum(axis=1) + np.log(left) - n_columns * np.log(whole)
    return np.where(usable, log_density(square, log_determinant, n_columns, np.where(usable, freedom, 1.0)), np.nan)


def _spread(family: MultivariateNormal, strength: Floats, degrees: Floats, n_columns: int) -> tuple[Floats, Floats]:
    """Degrees of freedom, and what divides the scale of the posterior to make that of the density."""
    if family.estimate != "predictive":
        return np.full(len(degrees), np.inf), family.divisor(degrees, n_columns)
    freedom = degrees - n_columns + 1.0
    return freedom, freedom * strength / (strength + 1.0)


def _anew(family: MultivariateNormal, batch: Batch, i: int, statistics: BlockMoments, kernels: Kernels) -> float:
    """One row by its class without it: from the other rows of the class if all are here, else by subtraction."""
    one, k = batch.take(np.array([i])), int(batch.classes[i])
    if np.isclose(batch.row_weight()[k], statistics.rows[k], rtol=1e-9, atol=0.0):
        others = np.setdiff1d(np.flatnonzero(batch.classes == k), [i])
        few = batch.take(others)
        rest = family.observe(Batch(few.data, _first(few), few.weight, 1), kernels)
    else:
        rest = remove_each(family, one, statistics, kernels)
    return float(family.likelihood(rest).scores(one.data, np.zeros(1), kernels)[0, 0])


def _first(batch: Batch) -> Array:
    return np.zeros(len(batch.classes), dtype=np.int32)
