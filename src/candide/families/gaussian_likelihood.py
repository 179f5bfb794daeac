"""The normal distribution, down to variances of 0, and Student's t, its predictive distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse, chunks
from ..kernels.tables import LinearTable, NormalTable, StudentTable
from ..lazy_dataclass import dataclass
from ..priors import log_rising
from ..priors.normal import LOG_2PI
from ..statistics import Moments
from .base import CELLS, cell_positions
from .score_terms import LogQuadratic, Presence, Quadratic, ScoreTerms, TermLikelihood

# The score of a row of zeros may be this large before writing out the square costs more than the tenth digit.
_EXPANDABLE = 1e5
# Makes room for the squares of the largest numbers there are.
SQUARABLE = 2.0**-520


@dataclass(frozen=True)
class GaussianLikelihood(TermLikelihood):
    """log p(x | class) = Σ -½ log 2πσ² - (x - μ)² / 2σ². A column that nobody observed is NaN and says nothing."""

    statistics: Moments
    mean: Floats
    variance: Floats

    @cached_property
    def _known(self) -> Array:
        return ~np.isnan(self.mean)

    @cached_property
    def point(self) -> Array:
        """Cells without variance: all mass in one point. Variances too small to invert belong here."""
        return self._known & (self.variance < 1e-300)

    @cached_property
    def spread(self) -> Floats:
        """1 / 2σ², and 0 where there is no density to speak of."""
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
        # With variance ε: the squared distance from the point grows as 1/ε, the density at the point as log(1/ε)/2.
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
        """Sparse rows go in dense form, a few at a time."""
        if isinstance(data, Dense):
            return kernels.quadratic_scores(data, spread, self.center, constant, base)
        out = np.empty((data.n_rows, len(base)))
        for begin, end, dense in dense_chunks(data):
            out[begin:end] = kernels.quadratic_scores(dense, spread, self.center, constant, base)
        return out

    @cached_property
    def _expanded(self) -> tuple[LinearTable, LinearTable, Floats] | None:
        """(x - μ)² written out, so that zeros cost nothing: tables for x and x², and the score of a row of zeros.

        None where that would lose digits, because means lie many standard deviations from 0.
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
    """Rows as they are if dense; sparse ones in dense form, a few at a time."""
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
        """Far out, t is a power of the distance: the logarithm of what would overflow."""
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
    """The square of Student's scale; NaN where nothing is known."""
    strength, _, shape, scale = table
    whole = np.asarray(shape * strength)
    unknown = np.full(whole.shape, np.nan)
    return np.asarray(np.divide(scale * (strength + 1), whole, out=unknown, where=whole > 0))


def student_table(table: NormalTable) -> StudentTable:
    """A posterior as the kernels read its predictive distribution; what is not known says nothing."""
    variance = squared_scale(table)
    known = ~np.isnan(variance)
    shape, width = np.where(known, table.shape, 1.0), np.where(known, table.shape * variance, 1.0)
    constant = log_rising(shape, np.full(1, 0.5)) - 0.5 * np.log(2 * np.pi * width)
    location, spread, constant = (np.where(known, part, 0.0) for part in (table.location, 0.5 / width, constant))
    return StudentTable(location, spread, shape + 0.5, constant)


def student_cells(x: Floats, table: NormalTable) -> Floats:
    """log t of cells, each with the posterior beside it."""
    location, spread, power, constant = student_table(table)
    return np.asarray(constant - power * np.log1p(spread * (x - location) ** 2))
