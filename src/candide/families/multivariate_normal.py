"""The multivariate normal distribution with a full covariance matrix, and its predictive Student's t."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, chunks
from ..kernels.tables import infinite_cell
from ..lazy import dataclass
from ..priors import Estimate, MeanVariance, NormalInverseWishart
from ..priors.normal import LOG_2PI
from ..statistics import BlockMoments
from ..statistics.base import remaining
from .base import CELLS, Batch, Plain, Scores, cell_positions, remove_each, replace_own
from .gaussian_likelihood import SQUARABLE
from .score_terms import REST, JointNormal, Parts, ScoreTerms, TermLikelihood


@dataclass(frozen=True)
class EllipticLikelihood(TermLikelihood):
    """log p(x | class) of rows; a row with missing cells is scored by the marginal distribution of its other cells.

    ``freedom`` are the degrees of freedom of Student's t, infinite for a normal distribution.
    """

    statistics: BlockMoments
    location: Floats  # (classes, columns)
    scale: Floats  # (classes, columns, columns)
    freedom: Floats  # (classes,)

    @cached_property
    def terms(self) -> ScoreTerms:
        return ScoreTerms((JointNormal(self.location, self.scale, self.freedom),))

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        out = np.empty((data.n_rows, len(self.location)))
        for begin, _, part in chunks(data, _step(data)):
            x = part.floats()
            for rows, known in patterns(x):
                out[begin + rows] = self._log_density(x[np.ix_(rows, known)], known)
        return out + offset

    def _log_density(self, x: Floats, known: Array) -> Floats:
        """Return the log density of the cells of the known columns, ``(rows, classes)``."""
        out = np.empty((len(x), len(self.location)))
        for k in range(len(self.location)):
            square, log_determinant = _square(x - self.location[k, known], self.scale[k][np.ix_(known, known)])
            out[:, k] = log_density(square, log_determinant, len(known), self.freedom[k])
        return out

    def each(self, data: Data, kernels: Kernels) -> Scores:
        x, out = data.floats(), np.empty(data.n_rows)
        for i in range(data.n_rows):
            known = np.flatnonzero(~np.isnan(x[i]))
            deviation = x[[i]][:, known] - self.location[i, known]
            square, log_determinant = _square(deviation, self.scale[i][np.ix_(known, known)])
            out[i] = log_density(square, log_determinant, len(known), self.freedom[i])[0]
        return Scores(out)

    def parts(self, data: Data, kernels: Kernels) -> Parts:
        """Return a single part, because a joint density is not a sum over columns."""
        return Parts(np.array([REST]), self.scores(data, np.zeros(len(self.location)), kernels))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        """Avoid overflow of squares far from the mean: the normal scales them, and Student's t uses logarithms."""
        out, x = np.empty((data.n_rows, len(self.location))), data.floats() * SQUARABLE
        for rows, known in patterns(x):
            for k, freedom in enumerate(self.freedom):
                deviation = x[np.ix_(rows, known)] - SQUARABLE * self.location[k, known]
                square, log_determinant = _square(deviation, self.scale[k][np.ix_(known, known)])
                if np.isinf(freedom):
                    out[rows, k] = -square
                    continue
                with np.errstate(divide="ignore"):
                    power = np.maximum(np.log(square / freedom) - 2 * np.log(SQUARABLE), 0.0)
                out[rows, k] = -0.5 * (freedom + len(known)) * power - 0.5 * log_determinant
        return out

    @cached_property
    def _roots(self) -> Floats:
        return np.array([np.linalg.cholesky(scale) for scale in self.scale])

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((len(classes), self.location.shape[1]))
        heavy, freedom = np.isfinite(self.freedom)[classes], self.freedom[classes]
        noise[heavy] /= np.sqrt(rng.chisquare(freedom[heavy]) / freedom[heavy])[:, None]
        out = self.location[classes]
        for k in np.unique(classes):
            out[classes == k] += noise[classes == k] @ self._roots[k].T
        return out

    def expected(self, data: Data, posterior: Floats) -> Floats:
        """Return rows with missing cells replaced by their mean given the known ones, averaged over the classes."""
        x = data.floats()
        out = np.array(x)
        for rows, known in patterns(x):
            missing = np.setdiff1d(np.arange(x.shape[1]), known)
            for k in range(len(self.location)):
                deviation = x[np.ix_(rows, known)] - self.location[k, known]
                slope = _slope(self.scale[k], known, missing)
                guess = (self.location[k, missing] + deviation @ slope) * posterior[rows, k, None]
                out[np.ix_(rows, missing)] = guess if k == 0 else out[np.ix_(rows, missing)] + guess
        return out

    def parameters(self) -> dict[str, Array]:
        variance = np.diagonal(self.scale, axis1=1, axis2=2)
        own = {**cell_positions(*self.location.shape), "count": np.repeat(self.statistics.weight, variance.shape[1])}
        if np.isinf(self.freedom).all():
            return {**own, "mean": self.location.ravel(), "variance": variance.ravel()}
        freedom = np.repeat(self.freedom, variance.shape[1])
        return {
            **own,
            "location": self.location.ravel(),
            "scale": np.sqrt(variance).ravel(),
            "degrees_of_freedom": freedom,
        }


def patterns(x: Floats) -> Iterator[tuple[Array, Array]]:
    """Yield groups of rows with the same observed columns, and these columns."""
    known = ~np.isnan(x)
    if known.all():
        yield np.arange(len(x)), np.arange(x.shape[1])
        return
    packed = np.packbits(known, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    for k, row in enumerate(first):
        yield np.flatnonzero(which.ravel() == k), np.flatnonzero(known[row])


def log_density(square: Floats, log_determinant: Floats | float, n_columns: int, freedom: Floats | float) -> Floats:
    """Return the log density of points with squared distances xᵀ Σ⁻¹ x."""
    from scipy.special import gammaln

    freedom = np.asarray(freedom, dtype=np.float64)
    normal = -0.5 * (n_columns * LOG_2PI + log_determinant + square)
    if np.isinf(freedom).all():
        return np.asarray(normal)
    constant = gammaln((freedom + n_columns) / 2) - gammaln(freedom / 2) - 0.5 * n_columns * np.log(np.pi * freedom)
    tail = 0.5 * (freedom + n_columns) * np.log1p(square / freedom)
    return np.asarray(constant - 0.5 * log_determinant - tail)


def _square(deviation: Floats, scale: Floats) -> tuple[Floats, float]:
    """Return squared distances of rows, and the log determinant."""
    from scipy.linalg import solve_triangular

    if not deviation.shape[1]:
        return np.zeros(len(deviation)), 0.0
    root = root_of(scale)
    white = solve_triangular(root, deviation.T, lower=True)
    return np.asarray(np.einsum("jr,jr->r", white, white)), 2.0 * float(np.log(np.diagonal(root)).sum())


def root_of(scale: Floats) -> Floats:
    """Return the Cholesky factor; raise an error for a singular matrix."""
    try:
        return np.asarray(np.linalg.cholesky(scale))
    except np.linalg.LinAlgError:
        raise ParameterError(
            "the covariance matrix of a class is singular: the class has fewer complete rows than columns, or some "
            "columns are linearly dependent; choose estimate='predictive', 'mean' or 'map', or increase var_smoothing"
        ) from None


def _slope(scale: Floats, known: Array, missing: Array) -> Floats:
    """Return the regression coefficients of missing columns on known ones, ``(known, missing)``."""
    from scipy.linalg import cho_factor, cho_solve

    if not len(known):
        return np.zeros((0, len(missing)))
    return np.asarray(cho_solve(cho_factor(scale[np.ix_(known, known)]), scale[np.ix_(known, missing)]))


def _step(data: Data) -> int:
    return max(1, CELLS // max(1, data.n_columns))


class Overall(NamedTuple):
    """Moments over all classes, which stay fixed while rows are left out."""

    floor: float  # added to every variance
    mean: Floats
    covariance: Floats


@dataclass(frozen=True)
class MultivariateNormal(Plain):
    """Means and covariances.

    Only rows without missing cells are learned. A row with missing cells is scored by the marginal distribution of its
    other cells, and leaving it out has no effect. With maximum likelihood, ``var_smoothing`` times the largest variance
    is added to every variance. Other estimates use the given prior, or a weak one around the overall means and
    variances with independent columns.

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
        raise ParameterError("a normal distribution has no pseudo-count alpha; pass a parameter_prior")

    def table(self, statistics: BlockMoments) -> NormalInverseWishart:
        """Return the posterior of each class; maximum likelihood is the posterior without a prior."""
        n_columns = statistics.mean.shape[1]
        prior = _flat_prior(n_columns, 0.0) if self.estimate == "mle" else self.prior
        assert prior is not None
        return prior.posterior(statistics.mean, statistics.weight, statistics.scatter)

    def divisor(self, degrees: Floats, n_columns: int) -> Floats:
        """Return the divisor of the posterior scale that gives the covariance of this kind of estimate."""
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
        # A class with too few rows uses the estimates of all classes.
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
            reference = _flat_prior(statistics.mean.shape[1], -1.0)
            return reference.posterior(statistics.mean, statistics.weight, statistics.scatter)
        return self.resolve(statistics).table(statistics)

    def intervals(self, statistics: BlockMoments, level: float) -> MeanVariance:
        ends = self.posterior(statistics).interval(level)
        return MeanVariance(*(tuple(np.ravel(end) for end in pair) for pair in ends))

    def log_marginal_likelihood(self, statistics: BlockMoments) -> Floats:
        """Return the log marginal likelihood of each column alone; for dependent columns, the sum is not the total."""
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
                "log_marginal_likelihood needs a proper prior (one that integrates to 1), but maximum likelihood has "
                "none; choose estimate='mean', 'map' or 'predictive', or pass a parameter_prior"
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

    def n_parameters(self, statistics: BlockMoments) -> int:
        n_classes, n_columns = statistics.mean.shape
        return int(n_classes * (n_columns + n_columns * (n_columns + 1) // 2))


def _flat_prior(n_columns: int, degrees: float) -> NormalInverseWishart:
    """Return a flat prior; with -1 degrees, credible intervals equal the classical confidence intervals."""
    return NormalInverseWishart(np.zeros(n_columns), 0.0, degrees, np.zeros((n_columns, n_columns)))


def _empirical(mean: Floats, variance: Floats) -> NormalInverseWishart:
    """Return a prior worth half a row for the means and two rows for each variance.

    A column that is constant up to rounding gets a tiny variance relative to the others, so that densities are finite.
    """
    largest = float(variance.max(initial=0.0))
    constant = (np.sqrt(variance) <= 1e-12 * np.abs(mean)) | (variance <= 0)
    spread = np.where(constant, 1e-9 * largest if largest > 0 else 1.0, variance)
    return NormalInverseWishart(mean, 0.5, len(mean) + 1.0, np.diag(spread))


def _score_variance(deviation: Floats, scale: Floats, strength: float, degrees: float) -> Floats:
    """Return ¼ Σ ψ'((ν + 1 - i) / 2) + d/2κ² + (ν/κ - 1) h + ½ ν h² with h = (x - m)ᵀ Ψ⁻¹ (x - m).

    It is infinite for classes with too few rows.
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


# If less than this share of a determinant remains, it is computed again.
_DELICATE = 1e-4


class _Posterior(NamedTuple):
    """Posterior of one class: strength, degrees, location, and the eigendecomposition of the scale."""

    strength: float
    degrees: float
    location: Floats
    values: Floats
    vectors: Floats


def own_scores(family: MultivariateNormal, batch: Batch, statistics: BlockMoments, kernels: Kernels) -> Scores:
    """Return left-out scores of rows under their own classes, for a resolved family."""
    x, out = batch.data.floats(), np.full(len(batch.classes), np.nan)
    weight = np.ones(len(out)) if batch.weight is None else batch.weight
    # Rows with missing cells or weight 0 are not in the sums.
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
        out[i] = _recomputed(family, batch, int(i), statistics, kernels)
    outside = np.flatnonzero(~inside)
    if len(outside):
        scores = family.likelihood(statistics).scores(batch.data.take(outside), np.zeros(batch.n_classes), kernels)
        out[outside] = scores[np.arange(len(outside)), batch.classes[outside]]
    return Scores(out)


def _closed_form(family: MultivariateNormal, x: Floats, weight: Floats, posterior: _Posterior) -> Floats:
    """Return left-out scores; NaN where precision would be lost or the class would be empty."""
    assert family.overall is not None
    n_columns = x.shape[1]
    strength = remaining(np.full(len(x), posterior.strength), weight)
    freedom, whole = _freedom_and_divisor(family, strength, posterior.degrees - weight, n_columns)
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


def _freedom_and_divisor(
    family: MultivariateNormal, strength: Floats, degrees: Floats, n_columns: int
) -> tuple[Floats, Floats]:
    """Return the degrees of freedom, and the divisor of the posterior scale that gives the scale of the density."""
    if family.estimate != "predictive":
        return np.full(len(degrees), np.inf), family.divisor(degrees, n_columns)
    freedom = degrees - n_columns + 1.0
    return freedom, freedom * strength / (strength + 1.0)


def _recomputed(family: MultivariateNormal, batch: Batch, i: int, statistics: BlockMoments, kernels: Kernels) -> float:
    """Return the left-out score of one row, from the other rows of its class if all are in the batch."""
    one, k = batch.take(np.array([i])), int(batch.classes[i])
    if np.isclose(batch.row_weight()[k], statistics.rows[k], rtol=1e-9, atol=0.0):
        others = np.setdiff1d(np.flatnonzero(batch.classes == k), [i])
        few = batch.take(others)
        rest = family.observe(Batch(few.data, _zeros(few), few.weight, 1), kernels)
    else:
        rest = remove_each(family, one, statistics, kernels)
    return float(family.likelihood(rest).scores(one.data, np.zeros(1), kernels)[0, 0])


def _zeros(batch: Batch) -> Array:
    return np.zeros(len(batch.classes), dtype=np.int32)
