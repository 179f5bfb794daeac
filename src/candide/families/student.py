"""Measurements whose mean and variance are not known but drawn: Student's t, the predictive of the normal."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, chunks
from ..kernels.tables import NormalTable, StudentTable
from ..lazy_dataclass import dataclass
from ..priors import log_rising
from ..statistics import Moments
from .base import CELLS, cell_positions
from .normal import SQUARABLE, dense_stretches
from .score_terms import LogQuadratic, ScoreTerms, TermLikelihood


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
        for begin, end, dense in dense_stretches(data):
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
