"""The normal distribution, including variances of 0, its predictive Student's t, and leave-one-out scores of both.

After removing a row of weight w, κ' = κ - w, m' = m - (x - m) w / κ', a' = a - w/2 and b' = b - κ w (x - m)² / 2κ'. If
one row accounts for nearly all of the scatter, b' loses all precision; such cells are recomputed from the other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse, chunks
from ..kernels.tables import LinearTable, NormalTable, StudentTable
from ..lazy import dataclass
from ..priors import Normal, log_rising
from ..priors.normal import LOG_2PI
from ..statistics import Moments
from .base import CELLS, Batch, Likelihood, Scores, cell_positions, own_by_removal, remove_each, replace_own, row_ranges
from .score_terms import LogQuadratic, Presence, Quadratic, ScoreTerms, TermLikelihood

if TYPE_CHECKING:
    from .gaussian import Gaussian

# Maximum score of a row of zeros for which expanding the square keeps ten digits.
_EXPANDABLE = 1e5
# Scale factor that keeps the squares of the largest doubles finite.
SQUARABLE = 2.0**-520


@dataclass(frozen=True)
class GaussianLikelihood(TermLikelihood):
    """log p(x | class) = Σ -½ log 2πσ² - (x - μ)² / 2σ². A column without observations is NaN and is ignored."""

    statistics: Moments
    mean: Floats
    variance: Floats

    @cached_property
    def _known(self) -> Array:
        return ~np.isnan(self.mean)

    @cached_property
    def point(self) -> Array:
        """Cells with a variance of 0 (point masses), or too small to be inverted."""
        return self._known & (self.variance < 1e-300)

    @cached_property
    def spread(self) -> Floats:
        """1 / 2σ², or 0 where the density is not defined."""
        usable = self._known & ~self.point
        return np.divide(0.5, self.variance, out=np.zeros_like(self.variance), where=usable)

    @cached_property
    def constant(self) -> Floats:
        variance = np.where(self._known & ~self.point, self.variance, 1.0)
        return np.where(self._known, -0.5 * (LOG_2PI + np.log(variance)), 0.0)

    @cached_property
    def center(self) -> Floats:
        return np.where(self._known, self.mean, 0.0)

    @cached_property
    def _base(self) -> Floats:
        return np.asarray(self.constant.sum(axis=1))

    @cached_property
    def terms(self) -> ScoreTerms:
        finite = (Quadratic(self.constant, self.spread, self.center),)
        if not self.point.any():
            return ScoreTerms(finite)
        # With variance ε → 0, the squared distance from the point grows as 1/ε, and the log density at the point as
        # log(1/ε)/2.
        point = self.point.astype(np.float64)
        none = np.zeros_like(point)
        return ScoreTerms(finite, ((Quadratic(none, point, self.center),), (Presence(point / 2, none),)))

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        if isinstance(data, Sparse) and self._expanded is not None:
            with np.errstate(over="ignore"):
                squares = np.square(data.values, dtype=np.float64)
            if not np.isinf(squares).any():
                return _expanded_scores(self._expanded, data, squares, offset, kernels)
        return self._quadratic(data, self.spread, self.constant, self._base + offset, kernels)

    def _quadratic(self, data: Data, spread: Floats, constant: Floats, base: Floats, kernels: Kernels) -> Floats:
        """Return the quadratic form; sparse rows are converted to dense ones a few at a time."""
        if isinstance(data, Dense):
            return kernels.quadratic_scores(data, spread, self.center, constant, base)
        out = np.empty((data.n_rows, len(base)))
        for begin, end, dense in dense_chunks(data):
            out[begin:end] = kernels.quadratic_scores(dense, spread, self.center, constant, base)
        return out

    @cached_property
    def _expanded(self) -> tuple[LinearTable, LinearTable, Floats] | None:
        """Return (x - μ)² expanded, so that zeros are skipped: weights of x and x², and the score of a row of zeros.

        Return None if this would lose precision because means are many standard deviations from 0.
        """
        at_zero = self.spread * self.center**2
        if not at_zero.sum(axis=1).max() < _EXPANDABLE:
            return None
        linear = LinearTable(2 * self.spread * self.center, at_zero - self.constant, signed=True)
        return linear, LinearTable(-self.spread), self._base - at_zero.sum(axis=1)

    def limits(self, data: Data, kernels: Kernels) -> list[Floats]:
        if not self.is_limit:
            return []
        point = self.point.astype(np.float64)
        none = np.zeros_like(point)
        far = self._quadratic(data, point, none, none[:, 0], kernels)
        high = self._quadratic(data, none, point / 2, point.sum(axis=1) / 2, kernels)
        return [far, high]

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        out = np.empty((data.n_rows, len(self.mean)))
        center, scale = self.center * SQUARABLE, np.sqrt(self.spread)
        for begin, end, part in chunks(data, max(1, CELLS // self.mean.size)):
            distance = (part.floats()[:, None, :] * SQUARABLE - center) * scale
            with np.errstate(over="ignore"):
                out[begin:end] = -np.nansum(distance * distance, axis=2)
        return out

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        scale = np.sqrt(self.variance)[classes]
        return self.mean[classes] + scale * rng.standard_normal(scale.shape)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self.mean)

    def parameters(self) -> dict[str, Array]:
        return {
            **cell_positions(*self.mean.shape),
            "count": self.statistics.weight.ravel(),
            "mean": self.mean.ravel(),
            "variance": self.variance.ravel(),
        }


def _expanded_scores(
    expanded: tuple[LinearTable, LinearTable, Floats], data: Sparse, squares: Floats, offset: Floats, kernels: Kernels
) -> Floats:
    linear, square, base = expanded
    squared = Sparse(data.indptr, data.indices, squares, data.n_columns)
    scores = kernels.linear_scores(data, linear, base + offset, None)
    return scores + kernels.linear_scores(squared, square, np.zeros(len(base)), None)


def dense_chunks(data: Data) -> Iterator[tuple[int, int, Dense]]:
    """Yield dense rows unchanged, and sparse rows in dense form, a few at a time."""
    if isinstance(data, Dense):
        yield 0, data.n_rows, data
        return
    for begin, end, part in chunks(data, max(1, CELLS // max(1, data.n_columns))):
        yield begin, end, Dense(part.floats(), end - begin, data.n_columns, part.first_row)


@dataclass(frozen=True)
class StudentLikelihood(TermLikelihood):
    """log p(x | class) = Σ log t(x; 2a degrees of freedom, location m, scale² b (κ + 1) / (a κ))."""

    statistics: Moments
    table: NormalTable

    @property
    def mean(self) -> Floats:
        """The location, ``(classes, columns)``."""
        return self.table.location

    @cached_property
    def variance(self) -> Floats:
        """The squared scale, ``(classes, columns)``."""
        return squared_scale(self.table)

    @cached_property
    def terms(self) -> ScoreTerms:
        location, spread, power, constant = self._student
        return ScoreTerms((LogQuadratic(constant, power, spread, location),))

    @cached_property
    def _student(self) -> StudentTable:
        return student_table(self.table)

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        base = self._student.constant.sum(axis=1) + offset
        out = np.empty((data.n_rows, len(base)))
        for begin, end, dense in dense_chunks(data):
            out[begin:end] = kernels.student_scores(dense, self._student, base)
        return out

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        """Return log t far from the location, where it is a power of the distance and would overflow."""
        location, spread, power, constant = self._student
        out = np.empty((data.n_rows, len(location)))
        for begin, end, part in chunks(data, max(1, CELLS // location.size)):
            away = np.abs(part.floats()[:, None, :] * SQUARABLE - location * SQUARABLE) * np.sqrt(spread)
            with np.errstate(divide="ignore"):
                cells = constant - 2 * power * np.maximum(np.log(away) - np.log(SQUARABLE), 0.0)
            out[begin:end] = np.nansum(cells, axis=2)
        return out

    def sample(self, classes: Positions, rng: np.random.Generator) -> Floats:
        degrees = 2 * self.table.shape[classes]
        drawn = rng.standard_t(np.where(degrees > 0, degrees, 1.0))
        return np.asarray(self.mean[classes] + np.sqrt(self.variance)[classes] * drawn)

    def expected(self, data: Data, posterior: Floats) -> Floats:
        return np.asarray(posterior @ self.mean)

    def parameters(self) -> dict[str, Array]:
        return {
            **cell_positions(*self.mean.shape),
            "count": self.statistics.weight.ravel(),
            "location": self.mean.ravel(),
            "scale": np.sqrt(self.variance).ravel(),
            "degrees_of_freedom": 2 * self.table.shape.ravel(),
        }


def squared_scale(table: NormalTable) -> Floats:
    """Return the squared scale of Student's t; NaN without prior and observations."""
    strength, _, shape, scale = table
    whole = np.asarray(shape * strength)
    unknown = np.full(whole.shape, np.nan)
    return np.asarray(np.divide(scale * (strength + 1), whole, out=unknown, where=whole > 0))


def student_table(table: NormalTable) -> StudentTable:
    """Return the predictive distribution of a posterior as kernels read it; missing cells add 0."""
    variance = squared_scale(table)
    known = ~np.isnan(variance)
    shape, width = np.where(known, table.shape, 1.0), np.where(known, table.shape * variance, 1.0)
    constant = log_rising(shape, np.full(1, 0.5)) - 0.5 * np.log(2 * np.pi * width)
    location, spread, constant = (np.where(known, part, 0.0) for part in (table.location, 0.5 / width, constant))
    return StudentTable(location, spread, shape + 0.5, constant)


def student_cells(x: Floats, table: NormalTable) -> Floats:
    """Return the log density of Student's t for cells and their posteriors."""
    location, spread, power, constant = student_table(table)
    return np.asarray(constant - power * np.log1p(spread * (x - location) ** 2))


# If less than this share of the scatter remains, it is computed again.
_DELICATE = 1e-4


def left_out_normal(
    family: Gaussian, batch: Batch, statistics: Moments, likelihood: Likelihood, offset: Floats, kernels: Kernels
) -> Scores:
    """Return the leave-one-out scores of rows, ``(rows, classes)``, for a resolved family."""
    if isinstance(family.prior, Normal):
        own = own_by_removal(family, batch, statistics, kernels)
    elif family.shared:
        return _shared(family, batch, statistics, offset, kernels)
    else:
        table = likelihood.table if isinstance(likelihood, StudentLikelihood) else family.table(statistics)
        own = _own(family, batch, statistics, table, kernels)
    return replace_own(likelihood, batch, own, offset, kernels)


def _own(family: Gaussian, batch: Batch, statistics: Moments, table: NormalTable, kernels: Kernels) -> Scores:
    floor, student = family.floor(statistics), family.estimate == "predictive"
    finite = np.empty(len(batch.classes))
    for begin, end, dense in dense_chunks(batch.data):
        rows = batch.rows(begin, end, dense)[:3]
        finite[begin:end] = kernels.own_normal_scores(*rows, table, family.extra(1), floor, student=student)
    # The scores of rows of weight 0 are not used.
    odd = np.flatnonzero(np.isnan(finite) if batch.weight is None else np.isnan(finite) & (batch.weight > 0))
    if not len(odd):
        return Scores(finite)
    exact = _exactly(family, batch, odd, statistics, kernels)
    limits = [np.zeros(len(finite)) for _ in exact.limits]
    finite[odd] = exact.finite
    for limit, values in zip(limits, exact.limits, strict=True):
        limit[odd] = values
    return Scores(finite, tuple(limits))


def _exactly(family: Gaussian, batch: Batch, rows: Array, statistics: Moments, kernels: Kernels) -> Scores:
    """Return own-class scores from accurate moments of the other rows."""
    parts = []
    step = max(1, CELLS // batch.data.n_columns)
    for chosen in np.split(rows, range(step, len(rows), step)):
        few = batch.take(chosen)
        left = _recomputed(remove_each(family, few, statistics, kernels), few, chosen, batch, statistics)
        parts.append(family.likelihood(left).each(few.data, kernels))
    columns = zip(*((part.finite, *part.limits) for part in parts), strict=True)
    finite, *limits = map(np.concatenate, columns)
    return Scores(finite, tuple(limits))


def _recomputed(left: Moments, few: Batch, rows: Array, batch: Batch, statistics: Moments) -> Moments:
    """Recompute numerically sensitive cells from all other rows of the class, if the batch contains them."""
    x = few.data.floats()
    delicate = ~np.isnan(x) & (left.weight > 0) & (left.scatter <= _DELICATE * statistics.scatter[few.classes])
    complete = np.isclose(batch.row_weight(), statistics.rows, rtol=1e-9, atol=0)[few.classes]
    cells = np.argwhere(delicate & complete[:, None])
    if not len(cells):
        return left
    mean, scatter, members = left.mean.copy(), left.scatter.copy(), _members(batch)
    for i, j in cells:
        others = members[few.classes[i]]
        others = others[others != rows[i]]
        mean[i, j], scatter[i, j] = _moments(_column(batch, int(j), others), batch.weight, others)
    return replace(left, mean=mean, scatter=scatter)


def _members(batch: Batch) -> list[Array]:
    """Return the rows of each class, without rows of weight 0."""
    rows = np.arange(len(batch.classes)) if batch.weight is None else np.flatnonzero(batch.weight)
    classes = batch.classes[rows]
    order = rows[np.argsort(classes, kind="stable")]
    return np.split(order, np.cumsum(np.bincount(classes, minlength=batch.n_classes))[:-1])


def _column(batch: Batch, j: int, rows: Array) -> Floats:
    if isinstance(batch.data, Sparse):
        return np.asarray(batch.data.matrix()[rows][:, [j]].toarray(), dtype=np.float64).ravel()
    return np.asarray(batch.data.column(j)[rows], dtype=np.float64)


def _moments(x: Floats, weight: Floats | None, rows: Array) -> tuple[float, float]:
    known = ~np.isnan(x)
    share = (np.ones(len(x)) if weight is None else weight[rows]) * known
    x = np.where(known, x, 0.0)
    first = x[share.argmax()]
    mean = first + (share * (x - first)).sum() / share.sum()
    return float(mean), float((share * (x - mean) ** 2).sum())


def _shared(family: Gaussian, batch: Batch, statistics: Moments, offset: Floats, kernels: Kernels) -> Scores:
    """Return left-out scores with a shared variance, which depends on the left-out row in all classes."""
    table, floor, extra = family.table(statistics), family.floor(statistics), family.extra(batch.n_classes)
    if np.isnan(table.location[:, statistics.weight.any(axis=0)]).any():
        finite = np.full((len(batch.classes), batch.n_classes), np.nan)
    elif family.estimate == "predictive":
        parts = [_shared_student(table, part) for part in row_ranges(batch, table.location.size)]
        finite = np.concatenate(parts) + offset
    else:
        parts = [
            kernels.left_out_shared(
                *batch.rows(begin, end, dense)[:3], table.location, table.strength, table.shape[0], table.scale[0],
                extra, floor, offset,
            )
            for begin, end, dense in dense_chunks(batch.data)
        ]  # fmt: skip
        finite = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if not np.isnan(finite.sum()):
        return Scores(finite)
    limits = [np.zeros_like(finite), np.zeros_like(finite)]
    for i in np.flatnonzero(np.isnan(finite).any(axis=1)):
        finite[i], first, second = _one_by_one(family, batch, int(i), statistics, offset, kernels)
        limits[0][i], limits[1][i] = first, second
    return Scores(finite, tuple(limits) if any(limit.any() for limit in limits) else ())


def _shared_student(table: NormalTable, batch: Batch) -> Floats:
    """Return Student's t with a scale for each row, ``(rows, classes)``; NaN where the scale has lost its precision."""
    x, own = batch.data.floats(), (np.arange(len(batch.classes)), batch.classes)
    weight = np.where(np.isnan(x), 0.0, 1.0 if batch.weight is None else batch.weight[:, None])
    mine = NormalTable(*(part[batch.classes] for part in table))
    strength, away = mine.strength - weight, np.where(weight > 0, x - mine.location, 0.0)
    share = np.divide(weight, strength, out=np.zeros_like(weight), where=weight > 0)
    shape, scale = mine.shape - weight / 2, mine.scale - mine.strength * share * away**2 / 2
    lost = scale <= _DELICATE * mine.scale
    scale = np.where(lost, mine.scale, scale)
    location = np.broadcast_to(table.location, (len(x), *table.location.shape)).copy()
    strengths = np.broadcast_to(table.strength, location.shape).copy()
    location[own], strengths[own] = mine.location - away * share, strength
    # The square of a row of weight 0 may be infinite, and its score too.
    with np.errstate(over="ignore"):
        cells = student_cells(x[:, None, :], NormalTable(strengths, location, shape[:, None], scale[:, None]))
    cells = np.where(lost[:, None], np.nan, cells)
    return np.asarray(np.where(np.isnan(x)[:, None, :], 0.0, cells).sum(axis=2))


def _one_by_one(
    family: Gaussian, batch: Batch, i: int, statistics: Moments, offset: Floats, kernels: Kernels
) -> tuple[Any, Any, Any]:
    """Return the scores and limits of a row whose class is recomputed without it."""
    one = batch.take(np.array([i]))
    few = _recomputed(remove_each(family, one, statistics, kernels), one, np.array([i]), batch, statistics)
    c = int(one.classes[0])
    parts = []
    for whole, row in zip(vars(statistics).values(), vars(few).values(), strict=True):
        part = whole.copy()
        part[c] = row[0]
        parts.append(part)
    likelihood = family.likelihood(Moments(*parts))
    finite = likelihood.scores(one.data, offset, kernels)[0]
    first, second = likelihood.limits(one.data, kernels) or (np.zeros((1, 1)), np.zeros((1, 1)))
    return finite, first[0], second[0]
