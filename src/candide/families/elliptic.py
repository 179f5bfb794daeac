"""Normal and Student distributions of several columns: densities that depend on xᵀ Σ⁻¹ x alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Positions, chunks
from ..lazy_dataclass import dataclass
from ..priors.normal import LOG_2PI
from ..statistics import BlockMoments
from .base import CELLS, Scores, cell_positions
from .normal import SQUARABLE
from .score_terms import REST, JointNormal, Parts, ScoreTerms, TermLikelihood


@dataclass(frozen=True)
class EllipticLikelihood(TermLikelihood):
    """log p(x | class) of rows; a row with missing cells is scored by the distribution of those it has.

    ``freedom`` are the degrees of freedom of Student's distribution, infinite for the normal one.
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
        """``(rows, classes)`` of cells of the known columns."""
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
        """Return one part: a joint density is not a sum over columns."""
        return Parts(np.array([REST]), self.scores(data, np.zeros(len(self.location)), kernels))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        """Far out, squares overflow: those of the normal distribution are scaled, Student's are logarithms."""
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
        """Of a missing cell the mean given those that are known, over all classes; known cells as they are."""
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
    """Rows in which the same columns are known, and those columns."""
    known = ~np.isnan(x)
    if known.all():
        yield np.arange(len(x)), np.arange(x.shape[1])
        return
    packed = np.packbits(known, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    for k, row in enumerate(first):
        yield np.flatnonzero(which.ravel() == k), np.flatnonzero(known[row])


def log_density(square: Floats, log_determinant: Floats | float, n_columns: int, freedom: Floats | float) -> Floats:
    """Of points at such a squared distance xᵀ Σ⁻¹ x."""
    from scipy.special import gammaln

    freedom = np.asarray(freedom, dtype=np.float64)
    normal = -0.5 * (n_columns * LOG_2PI + log_determinant + square)
    if np.isinf(freedom).all():
        return np.asarray(normal)
    constant = gammaln((freedom + n_columns) / 2) - gammaln(freedom / 2) - 0.5 * n_columns * np.log(np.pi * freedom)
    tail = 0.5 * (freedom + n_columns) * np.log1p(square / freedom)
    return np.asarray(constant - 0.5 * log_determinant - tail)


def _square(deviation: Floats, scale: Floats) -> tuple[Floats, float]:
    """Squared distances of rows, and the logarithm of the determinant."""
    from scipy.linalg import solve_triangular

    if not deviation.shape[1]:
        return np.zeros(len(deviation)), 0.0
    root = root_of(scale)
    white = solve_triangular(root, deviation.T, lower=True)
    return np.asarray(np.einsum("jr,jr->r", white, white)), 2.0 * float(np.log(np.diagonal(root)).sum())


def root_of(scale: Floats) -> Floats:
    """Cholesky's factor; a matrix that has none is refused."""
    try:
        return np.asarray(np.linalg.cholesky(scale))
    except np.linalg.LinAlgError:
        raise ParameterError(
            "the covariance of a class has no inverse: it has fewer complete rows than columns, or some columns "
            "determine others; choose estimate='predictive', 'mean' or 'map', or raise var_smoothing"
        ) from None


def _slope(scale: Floats, known: Array, missing: Array) -> Floats:
    """What known columns say about missing ones, ``(known, missing)``."""
    from scipy.linalg import cho_factor, cho_solve

    if not len(known):
        return np.zeros((0, len(missing)))
    return np.asarray(cho_solve(cho_factor(scale[np.ix_(known, known)]), scale[np.ix_(known, missing)]))


def _step(data: Data) -> int:
    return max(1, CELLS // max(1, data.n_columns))
