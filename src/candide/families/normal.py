"""The normal distribution of given means and variances, down to variances of 0."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse, chunks
from ..kernels.tables import LinearTable
from ..lazy_dataclass import dataclass
from ..priors.normal import LOG_2PI
from ..statistics import Moments
from .base import CELLS, Scores, cell_positions
from .inputs import Cells, CellsAndSquares, not_linear
from .linear import LinearScores, Score
from .parts import Parts, added_up, parts_of

# The score of a row of zeros may be this large before writing out the square costs more than the tenth digit.
_EXPANDABLE = 1e5
# Makes room for the squares of the largest numbers there are.
SQUARABLE = 2.0**-520


@dataclass(frozen=True)
class GaussianLikelihood:
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

    @property
    def is_limit(self) -> bool:
        return bool(self.point.any())

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
        for begin, end, dense in dense_stretches(data):
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
        """With variance ε: the squared distance from the point grows as 1/ε, the density at the point as log(1/ε)/2."""
        if not self.is_limit:
            return []
        point = self.point.astype(np.float64)
        none = np.zeros_like(point)
        far = self._quadratic(data, point, none, none[:, 0], kernels)
        high = self._quadratic(data, none, point / 2, point.sum(axis=1) / 2, kernels)
        return [far, high]

    def each(self, data: Data, kernels: Kernels) -> Scores:
        return added_up(self._cells(data.floats()))

    def parts(self, data: Data, kernels: Kernels) -> Parts:
        found = parts_of(data, self._cells, len(self.mean))
        return found if self.is_limit else found._replace(limits=())

    def _cells(self, x: Floats) -> Scores:
        """Of ``(classes, columns)``; what is missing adds nothing."""
        square = np.nan_to_num(np.square(x - self.center), nan=0.0)
        seen = ~np.isnan(x)
        point = self.point & seen
        finite = np.where(seen, self.constant, 0.0) - self.spread * square
        return Scores(finite, (-np.where(point, square, 0.0), np.where(point, 0.5, 0.0)))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        out = np.empty((data.n_rows, len(self.mean)))
        center, scale = self.center * SQUARABLE, np.sqrt(self.spread)
        for begin, end, part in chunks(data, max(1, CELLS // self.mean.size)):
            distance = (part.floats()[:, None, :] * SQUARABLE - center) * scale
            with np.errstate(over="ignore"):
                out[begin:end] = -np.nansum(distance * distance, axis=2)
        return out

    def linear(self, *, squares: bool) -> LinearScores:
        """With one variance for all classes linear in x; with any variances linear in x and x²."""
        if self.is_limit:
            raise not_linear(
                "a column has no variance within a class, so that its weight would be infinite",
                "set var_smoothing above 0, or estimate='mean'",
            )
        if squares:
            return LinearScores(CellsAndSquares(), self._with_squares())
        if np.ptp(self.spread, axis=0).any() or np.ptp(self.constant, axis=0).any():
            raise not_linear(
                "the classes have variances of their own, which makes the log-odds quadratic",
                "give them one with variance='shared', or call as_linear(squares=True), which is linear in x and x²",
            )
        return LinearScores(Cells(), self._without_squares())

    def _with_squares(self) -> Score:
        at_zero = self.constant - self.spread * self.center**2
        weights = np.hstack([2 * self.spread * self.center, -self.spread])
        return Score(LinearTable(weights, np.hstack([-at_zero, 0 * at_zero]), signed=True), at_zero.sum(axis=1))

    def _without_squares(self) -> Score:
        # Measured from the middle of the classes: what they share is left out, and with it what would lose digits.
        middle = self.center.mean(axis=0)
        away = self.spread * (self.center - middle)
        at_zero = -away * (self.center + middle)
        return Score(LinearTable(2 * away, -at_zero, signed=True), at_zero.sum(axis=1))

    def log_base(self, data: Data) -> Floats:
        return np.zeros(data.n_rows)

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


def dense_stretches(data: Data) -> Iterator[tuple[int, int, Dense]]:
    """Rows as they are if dense; sparse ones in dense form, a few at a time."""
    if isinstance(data, Dense):
        yield 0, data.n_rows, data
        return
    for begin, end, part in chunks(data, max(1, CELLS // max(1, data.n_columns))):
        yield begin, end, Dense(part.floats(), end - begin, data.n_columns, part.first_row)
