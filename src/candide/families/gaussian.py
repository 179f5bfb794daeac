"""A normal distribution for each class and column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, Sparse, chunks
from ..kernels.tables import NormalTable, infinite_cell
from ..lazy import dataclass
from ..priors import Estimate, MeanVariance, Normal, NormalInverseGamma
from ..priors.normal import LOG_2PI
from ..statistics import Moments
from ..statistics.base import ROUNDING
from .base import CELLS, Batch, Plain, Scores, prior_of_column
from .gaussian_likelihood import GaussianLikelihood, StudentLikelihood, left_out_normal

# Improper priors: under the first, posterior estimates are those of maximum likelihood; under the second, credible
# intervals equal the classical confidence intervals.
_FLAT_PRIOR = NormalInverseGamma(0.0, 0.0, 0.0, 0.0)
_REFERENCE_PRIOR = NormalInverseGamma(0.0, 0.0, -0.5, 0.0)


class Overall(NamedTuple):
    """Moments of the columns over all classes, which stay fixed while rows are left out."""

    floor: float  # added to every variance
    mean: Floats  # of columns; NaN for columns without observations
    variance: Floats


@dataclass(frozen=True)
class Gaussian(Plain):
    """Means and variances.

    With maximum likelihood, ``var_smoothing`` times the largest variance of all columns is added to every variance, and
    ``ddof`` is subtracted from the number of rows. Other estimates use the given prior, or a weak one around the
    overall means and variances of the columns. ``shared``: one variance for all classes, which makes the log-odds
    linear.

    The variance floor and the empirical prior are computed from the moments of all classes when parameters are
    estimated, and are not part of the statistics. So training in chunks, with weights or by merging gives the same
    result as training in one pass.
    """

    prior: NormalInverseGamma | Normal | None = None
    estimate: Estimate = "mle"
    var_smoothing: float = 1e-9
    ddof: float = 0.0
    shared: bool = False
    overall: Overall | None = None

    statistic: ClassVar[type[Moments]] = Moments
    separate: ClassVar[bool] = True

    def observe(self, batch: Batch, kernels: Kernels) -> Moments:
        table = kernels.moments(batch.data, batch.classes, batch.weight, batch.n_classes)
        # The sum of finite values is finite, because a mean near the largest double has a scatter of 0 or inf.
        if not np.isfinite(table.mean + table.scatter).all():
            raise _too_large(batch.data)
        return Moments(batch.row_weight(), *table)

    def floor(self, statistics: Moments) -> float:
        """Return the floor that is added to every variance."""
        if self.overall is not None:
            return self.overall.floor
        return float(self.var_smoothing * statistics.pooled()[2].max())

    def resolve(self, statistics: Moments) -> Gaussian:
        if self.overall is not None:
            return self
        weight, mean, variance = statistics.pooled()
        floor = float(self.var_smoothing * variance.max()) if self.estimate == "mle" else 0.0
        unknown = weight <= 0
        overall = Overall(floor, np.where(unknown, np.nan, mean), np.where(unknown, np.nan, variance))
        prior = self.prior
        if prior is None and self.estimate != "mle":
            prior = _empirical(mean, variance, unknown)
        return replace(self, overall=overall, prior=prior)

    def only(self, j: int) -> Gaussian:
        overall = self.overall and Overall(self.overall.floor, self.overall.mean[[j]], self.overall.variance[[j]])
        return replace(self, prior=self.prior and prior_of_column(self.prior, j), overall=overall)

    def with_alpha(self, alpha: float | Floats) -> Gaussian:
        raise ParameterError("a normal distribution has no pseudo-count alpha; pass a parameter_prior")

    def likelihood(self, statistics: Moments) -> Any:
        if self.overall is None:
            return self.resolve(statistics).likelihood(statistics)
        if self.estimate == "mle":
            return GaussianLikelihood(statistics, *self._most_likely(statistics, self.overall))
        if isinstance(self.prior, Normal):
            after = self.prior.posterior(statistics.mean, statistics.weight)
            spread = np.asarray(after.noise) + (after.variance if self.estimate == "predictive" else 0.0)
            return GaussianLikelihood(statistics, np.asarray(after.location), _for_each_class(spread, statistics))
        table = self.table(statistics)
        if self.estimate == "predictive":
            return StudentLikelihood(statistics, table)
        whole, known = table.shape + self.extra(len(statistics.rows)), ~np.isnan(table.location)
        variance = np.divide(table.scale, whole, out=self._fallback_variance(table), where=(whole > 0) & known)
        return GaussianLikelihood(statistics, table.location, variance)

    def _fallback_variance(self, table: NormalTable) -> Floats:
        """Return the variance for classes whose posterior has none.

        It is the overall variance of the column or, without observations, the inverse of the mean prior precision.
        """
        assert self.overall is not None
        from_prior = np.divide(table.scale, table.shape, out=np.full(table.scale.shape, np.nan), where=table.shape > 0)
        return np.where(np.isnan(self.overall.variance), from_prior, self.overall.variance)

    def _most_likely(self, statistics: Moments, overall: Overall) -> tuple[Floats, Floats]:
        """Return means, and variances with the floor; the overall ones of the column for classes with too few rows."""
        seen = statistics.weight > 0
        scatter, weight = statistics.scatter, statistics.weight
        rows = np.where(seen, weight - self.ddof, 0.0)
        if self.shared:
            scatter, rows, weight = (_for_each_class(part.sum(axis=0), statistics) for part in (scatter, rows, weight))
        mean = np.where(seen, statistics.mean, overall.mean)
        # With fractional weights, rounding errors may leave a tiny positive number of degrees of freedom.
        enough = rows > ROUNDING * weight
        own = np.divide(scatter, rows, out=_for_each_class(overall.variance, statistics), where=enough)
        return mean, own + overall.floor

    def table(self, statistics: Moments) -> NormalTable:
        """Return the posterior parameters, ``(classes, columns)`` each.

        With a shared variance, all classes have the same shape and scale. Maximum likelihood is the posterior under an
        improper flat prior.
        """
        prior = _FLAT_PRIOR if self.estimate == "mle" else self.prior
        assert isinstance(prior, NormalInverseGamma)
        location, strength, shape, scale = prior.updated(statistics.mean, statistics.weight, statistics.scatter)
        if self.shared:
            shape, scale = self._pooled(prior, shape, scale, statistics)
        return NormalTable(strength, np.where(strength > 0, location, np.nan), shape, scale)

    def extra(self, n_classes: int) -> float:
        """Return the number added to the shape to get the divisor of the scale for this kind of estimate."""
        if self.estimate == "mean":
            return -1.0
        if self.estimate == "map":
            return 1.0 + 0.5 * (n_classes if self.shared else 1)
        return -0.5 * self.ddof * (n_classes if self.shared else 1)

    def left_out(self, batch: Batch, statistics: Moments, likelihood: Any, offset: Floats, kernels: Kernels) -> Scores:
        return left_out_normal(self.resolve(statistics), batch, statistics, likelihood, offset, kernels)

    def posterior(self, statistics: Moments) -> NormalInverseGamma | Normal:
        if isinstance(self.prior, Normal):
            return self.prior.posterior(statistics.mean, statistics.weight)
        prior = _REFERENCE_PRIOR if self.estimate == "mle" else self.resolve(statistics).prior
        assert isinstance(prior, NormalInverseGamma)
        after = prior.posterior(statistics.mean, statistics.weight, statistics.scatter)
        if not self.shared:
            return after
        shape, scale = self._pooled(prior, np.asarray(after.shape), np.asarray(after.scale), statistics)
        # Each class with observations loses one degree of freedom for its mean.
        lost = 0.5 * ((statistics.weight > 0).sum(axis=0) - 1) if self.estimate == "mle" else 0.0
        return replace(after, shape=np.maximum(shape - lost, -0.5), scale=scale)

    def _pooled(
        self, prior: NormalInverseGamma, shape: Floats, scale: Floats, statistics: Moments
    ) -> tuple[Floats, Floats]:
        """Return the shape and scale of a variance shared by all classes; the prior is counted once."""
        return (
            _for_each_class(prior.shape + (shape - prior.shape).sum(axis=0), statistics),
            _for_each_class(prior.scale + (scale - prior.scale).sum(axis=0), statistics),
        )

    def intervals(self, statistics: Moments, level: float) -> MeanVariance:
        after = self.posterior(statistics)
        if isinstance(after, Normal):
            noise = _for_each_class(after.noise, statistics)
            ends = MeanVariance(after.interval(level), (noise, noise))
        else:
            ends = after.interval(level)
        return MeanVariance(*(tuple(np.ravel(end) for end in pair) for pair in ends))

    def log_marginal_likelihood(self, statistics: Moments) -> Floats:
        prior = _proper(self.resolve(statistics).prior, statistics)
        if prior is None:
            raise ParameterError(
                "log_marginal_likelihood needs a proper prior (one that integrates to 1), but maximum likelihood has "
                "none; choose estimate='mean', 'map' or 'predictive', or pass a parameter_prior"
            )
        summary = statistics.mean, statistics.weight, statistics.scatter
        if not self.shared or isinstance(prior, Normal):
            return np.asarray(prior.log_marginal_likelihood(*summary).sum(axis=0))
        return self._shared_log_marginal_likelihood(statistics, prior)

    def _shared_log_marginal_likelihood(self, statistics: Moments, prior: NormalInverseGamma) -> Floats:
        """Return the log marginal likelihood of classes with a shared variance; its prior is counted once."""
        from scipy.special import gammaln

        after = replace(self.resolve(statistics), prior=prior).table(statistics)
        a, b = after.shape[0], after.scale[0]
        pull = 0.5 * np.log(np.asarray(prior.strength) / after.strength).sum(axis=0)
        before = gammaln(prior.shape) - prior.shape * np.log(prior.scale)
        rows = statistics.weight.sum(axis=0)
        return np.asarray(gammaln(a) - a * np.log(b) - before + pull - 0.5 * rows * LOG_2PI)

    def score_variance(self, data: Data, statistics: Moments, kernels: Kernels) -> Floats:
        return score_variance(data, self.posterior(statistics), _seen(statistics))

    def score_covariance(self, data: Data, of: Positions, against: Positions, statistics: Moments) -> Floats:
        after = self.posterior(statistics)
        if not self.shared or isinstance(after, Normal):
            return super().score_covariance(data, of, against, statistics)
        return score_covariance(data, of, against, after, _seen(statistics))

    def n_parameters(self, statistics: Moments) -> int:
        n_classes, n_columns = statistics.mean.shape
        known = isinstance(self.prior, Normal)
        return int(n_classes * n_columns + (0 if known else n_columns * (1 if self.shared else n_classes)))


def _empirical(mean: Floats, variance: Floats, unknown: Array) -> NormalInverseGamma:
    """Return a prior worth half a row for the mean and two rows for the variance, column by column.

    A column that is constant up to rounding gets a tiny variance relative to the others, so that densities are finite.
    Columns without observations have no prior.
    """
    largest = float(variance[~unknown].max(initial=0.0))
    constant = np.sqrt(variance) <= 1e-12 * np.abs(mean)
    spread = np.where(constant | (variance <= 0), 1e-9 * largest if largest > 0 else 1.0, variance)
    strength, shape, scale = (np.where(unknown, 0.0, worth) for worth in (0.5, 1.0, 0.5 * spread))
    return NormalInverseGamma(np.where(unknown, 0.0, mean), strength, shape, scale)


def _proper(prior: Any, statistics: Moments) -> Any:
    """Return the prior with a proper one for unobserved columns, whose marginal likelihood is 1 under any prior."""
    unseen = ~_seen(statistics)
    if not isinstance(prior, NormalInverseGamma) or not unseen.any():
        return prior
    return replace(
        prior, **{name: np.where(unseen, 1.0, getattr(prior, name)) for name in ("strength", "shape", "scale")}
    )


def _seen(statistics: Moments) -> Array:
    """Return which columns were observed."""
    return np.asarray((statistics.weight > 0).any(axis=0))


def _for_each_class(values: Any, statistics: Moments) -> Floats:
    """Repeat the values of the columns for every class."""
    return np.broadcast_to(np.asarray(values, dtype=np.float64), statistics.mean.shape).copy()


def _too_large(data: Data) -> InputError:
    stored = data.values if isinstance(data, Sparse) else data.floats()
    if np.isinf(stored).any():
        return infinite_cell(data)
    largest = float(np.nanmax(np.abs(np.asarray(stored, dtype=np.float64))))
    return InputError(
        f"X contains values as large as {largest:.3g}, whose squares overflow; GaussianNB needs magnitudes below "
        "about 1e150; rescale the columns or take logarithms"
    )


def score_variance(data: Data, posterior: NormalInverseGamma | Normal, seen: Array) -> Floats:
    """Return the posterior variance of log p(x | class), ``(rows, classes)``; infinite for classes with too few rows.

    Columns without observations (not ``seen``) contribute 0 to the score, with variance 0.
    """
    location = np.asarray(posterior.location)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = (
            _variance_of_score_known_noise(posterior)
            if isinstance(posterior, Normal)
            else _variance_of_score(posterior)
        )
    out = np.empty((data.n_rows, len(location)))
    for begin, end, part in chunks(data, max(1, CELLS // location.size)):
        square = (part.floats()[:, None, :] - location) ** 2
        with np.errstate(invalid="ignore"):
            cells = terms[0] + terms[1] * square + terms[2] * square**2
        counted = np.where(np.isnan(cells), np.inf, cells)
        out[begin:end] = np.where(np.isnan(square) | ~seen, 0.0, counted).sum(axis=2)
    return out


def score_covariance(
    data: Data, of: Positions, against: Positions, posterior: NormalInverseGamma, seen: Array
) -> Floats:
    """Return the posterior covariance of log p(x | class) for two classes with a shared variance, ``(rows,)``.

    ¼ψ'(a) - (d² + e²) / 4b + d² e² a / 4b², with d and e the distances from the two locations.
    """
    from scipy.special import polygamma

    location, a, b = np.asarray(posterior.location), np.asarray(posterior.shape)[0], np.asarray(posterior.scale)[0]
    out = np.empty(data.n_rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        for begin, end, part in chunks(data):
            x = part.floats()
            first, second = ((x - location[classes[begin:end]]) ** 2 for classes in (of, against))
            cells = 0.25 * (polygamma(1, np.maximum(a, 0.0)) - (first + second) / b + first * second * a / b**2)
            out[begin:end] = np.where(np.isnan(x) | ~seen, 0.0, cells).sum(axis=1)
    return out


def _variance_of_score(posterior: NormalInverseGamma) -> tuple[Floats, Floats, Floats]:
    """¼ψ'(a) + 1/2κ², then the factors of d² and d⁴, d = x - m, for 1/σ² ~ Gamma(a, b) and μ ~ N(m, σ²/κ)."""
    from scipy.special import polygamma

    a, b, k = np.maximum(posterior.shape, 0.0), np.asarray(posterior.scale), np.asarray(posterior.strength)
    return 0.25 * polygamma(1, a) + 0.5 / k**2, a / (b * k) - 0.5 / b, 0.25 * a / b**2


def _variance_of_score_known_noise(posterior: Normal) -> tuple[Floats, Floats, Floats]:
    """Var of (x - μ)² / 2σ² for μ ~ N(m, v): v² / 2σ⁴ + d² v / σ⁴."""
    ratio = np.asarray(posterior.variance) / np.asarray(posterior.noise)
    return 0.5 * ratio**2, ratio / np.asarray(posterior.noise), np.zeros_like(ratio)
