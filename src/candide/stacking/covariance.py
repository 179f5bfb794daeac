"""A view of all numeric columns: a normal distribution per class, with its covariance shrunk to the shared one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import CHUNK_ROWS, Array, Floats, Positions
from ..lazy import dataclass
from ..statistics import BlockMoments
from ..statistics.base import remaining
from .binning import ClippedCoordinates, Coordinates, RankCoordinates
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, ViewContributions, by_chunks

# Maximum number of columns, and of elements of the matrices of all classes.
MOST_COLUMNS = 200
MOST_CELLS = 1 << 22
# Weight of the shared covariance in that of each class, in rows, as a multiple of (columns + 2).
_SHRINKAGES = (0.5, 8.0)
# The variance that is added to the shared variances; coordinates have variance 1.
_RIDGE = 0.01
# Number of rows used to estimate the tails of a column.
_MANY_ROWS = 20_000
# Maximum number of elements of the scale matrices that an export contains, for each view.
_EXPORTED_CELLS = 1 << 14
# Maximum number of columns of matrices that are inverted in one batch.
_SMALL = 64
# Minimum share of a determinant that remains without a row; smaller values are rounding errors.
_LEAST_LEFT = 1e-9


class CholeskyFactor(NamedTuple):
    """The whitening matrix and log determinant of a matrix Ψ: |x whitening|² = xᵀ Ψ⁻¹ x."""

    whitening: Floats
    log_determinant: float

    @classmethod
    def of(cls, matrix: Floats) -> CholeskyFactor:
        from scipy.linalg import solve_triangular

        root = np.linalg.cholesky(matrix)
        inverse = solve_triangular(root, np.eye(len(root)), lower=True)
        return cls(np.ascontiguousarray(inverse.T), 2.0 * float(np.log(np.diagonal(root)).sum()))

    @classmethod
    def of_each(cls, matrices: Floats) -> list[CholeskyFactor]:
        """Return the factors of matrices, ``(matrices, columns, columns)``; small ones are processed in one batch."""
        if matrices.shape[1] > _SMALL:
            return [cls.of(matrix) for matrix in matrices]
        roots = np.linalg.cholesky(matrices)
        whitenings = np.tril(np.linalg.inv(roots)).transpose(0, 2, 1)
        log_determinants = 2.0 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        return [
            cls(np.ascontiguousarray(one), float(log)) for one, log in zip(whitenings, log_determinants, strict=True)
        ]


class MarginalFactors(NamedTuple):
    """The factors of the scale matrices of classes for subsets of the columns (see ``CholeskyFactor``)."""

    whitening: Floats  # (sets of columns, classes, columns, columns)
    log_determinant: Floats  # (sets of columns, classes)


class StudentParameters(NamedTuple):
    """Parameters of Student's t that depend on the number of rows of a class."""

    freedom: Any  # Floats or float, as are all
    shrink: Any
    constant: Any

    def log_density(self, square: Floats, log_determinant: Floats | float) -> Floats:
        """Return the log density, up to a constant, of points at a squared distance."""
        tail = self.freedom * np.log1p(self.shrink * square)
        return np.asarray(self.constant - 0.5 * (log_determinant + tail))


@dataclass(frozen=True)
class Covariance(FieldsOnlyPickle):
    """The predictive of a normal-inverse-Wishart model of each class: a multivariate Student's t.

    With S_k the scatter of a class and W = Σ S_k, its scale is Ψ_k = S_k + ``share`` · W + ``strength``/100 · I, which
    adds ``strength`` rows with the shared covariance. ``share`` stays fixed when rows are left out, and ``center`` is
    the location of a class without rows.

    Columns that are not given are marginalized: the marginal of a Student's t is a Student's t with the same degrees of
    freedom, whose scale contains the rows and columns of Ψ_k of the given columns (``marginal``).
    """

    name: str
    coordinates: Coordinates
    moments: BlockMoments
    center: Floats
    strength: float
    share: float

    @cached_property
    def factors(self) -> list[CholeskyFactor]:
        """Factors of the scale of each class."""
        return CholeskyFactor.of_each(self.scales())

    def scales(self) -> Floats:
        """Scale Ψ of each class, ``(classes, columns, columns)``."""
        within = self.moments.scatter.sum(axis=0)
        return np.asarray(self.moments.scatter + (self.share * within + self.strength * _RIDGE * np.eye(len(within))))

    @cached_property
    def means(self) -> Floats:
        return np.where(self.moments.weight[:, None] > 0, self.moments.mean, self.center)

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        def chunk(rows: slice) -> Floats:
            part = binned.take(rows)
            points, absent = self.coordinates.points(part), self.coordinates.absent(part)
            return self._scores(points) if absent is None else self._scores_with_missing(points, ~absent)

        return by_chunks(binned, chunk, CHUNK_ROWS)

    def marginal(self, given: Array) -> Covariance:
        """Return the marginal distribution of the given columns."""
        moments, at = self.moments, np.flatnonzero(given)
        scatter = np.ascontiguousarray(moments.scatter[:, at[:, None], at])
        remaining = replace(moments, mean=np.ascontiguousarray(moments.mean[:, at]), scatter=scatter)
        return replace(self, moments=remaining, center=self.center[at])

    def marginals(self, given: Array) -> MarginalFactors:
        """Return the factors for sets of columns, ``(sets, columns)``; other columns of Ψ are those of the identity."""
        both = given[:, None, :, None] & given[:, None, None, :]
        lacking = np.eye(given.shape[1]) * ~given[:, None, None, :]
        root = np.linalg.cholesky(np.where(both, self.scales(), 0.0) + lacking)
        whitening = np.ascontiguousarray(np.linalg.inv(root).swapaxes(-1, -2))
        return MarginalFactors(whitening, 2.0 * np.log(np.diagonal(root, axis1=2, axis2=3)).sum(axis=2))

    def _scores_with_missing(
        self, points: Floats, given: Array, left: tuple[Positions, Floats] | None = None
    ) -> Floats:
        """Return the scores of points with missing coordinates; ``left``: classes and weights for leave-one-out."""
        step = max(1, MOST_CELLS // max(1, self.moments.scatter.size))
        parts = []
        for begin in range(0, len(points), step):
            rows = slice(begin, begin + step)
            marginal = _Marginals.of(self, points[rows], given[rows])
            parts.append(marginal.scores() if left is None else marginal.left_out(left[0][rows], left[1][rows]))
        return np.concatenate(parts)

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        """Return contributions in proportion to x_j (Ψ⁻¹ x)_j, which sum to xᵀ Ψ⁻¹ x over the columns."""
        point, absent = self.coordinates.points(binned)[0], self.coordinates.absent(binned)
        columns = self.coordinates.code_columns(numbers)
        if absent is not None:
            given = ~absent[0]
            return self.marginal(given)._parts(point[given], columns[given])
        return self._parts(point, columns)

    def _parts(self, point: Floats, columns: Array) -> ViewContributions:
        scores, rest = np.empty((len(point), len(self.means))), np.empty(len(self.means))
        for k, factor in enumerate(self.factors):
            size, away = self.size(self.moments.weight[k]), point - self.means[k]
            squares = away * (factor.whitening @ (away @ factor.whitening))
            whole = squares.sum()
            rest[k] = size.log_density(np.zeros(1), factor.log_determinant)[0]
            slope = np.log1p(size.shrink * whole) / whole if whole > 0 else size.shrink
            scores[:, k] = -0.5 * size.freedom * slope * squares
        if not len(point):
            rest[:] = 0.0
        return ViewContributions(columns, scores, rest)

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        def chunk(rows: slice) -> Floats:
            part, own, gone = binned.take(rows), classes[rows], weight[rows]
            points, absent = self.coordinates.points(part), self.coordinates.absent(part)
            if absent is None:
                return self._left_out(points, own, gone)
            return self._scores_with_missing(points, ~absent, (own, gone))

        return by_chunks(binned, chunk, CHUNK_ROWS)

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> Covariance:
        points = self.coordinates.points(cases.binned)
        rows = BlockMoments.observe(points, cases.classes, cases.case_weight, len(self.means))
        return replace(self, moments=self.moments.merge(rows) if sign > 0 else self.moments.without(rows))

    def _scores(self, points: Floats) -> Floats:
        out = np.empty((len(points), len(self.means)))
        for k, factor in enumerate(self.factors):
            away = (points - self.means[k]) @ factor.whitening
            out[:, k] = self.size(self.moments.weight[k]).log_density(_squares(away, away), factor.log_determinant)
        return out

    def _left_out(self, points: Floats, classes: Positions, weight: Floats) -> Floats:
        """Return left-out scores.

        Removing a row of weight w with difference D from its class's mean subtracts f D Dᵀ from the class's scatter and
        from W, with f = w N / (N - w), and multiplies the difference from the mean by N / (N - w).
        """
        own_weight = self.moments.weight[classes]
        rest = remaining(own_weight, weight)
        lift = np.divide(own_weight, rest, out=np.zeros_like(rest), where=rest > 0)
        others, without = self.size(self.moments.weight), self.size(rest)
        out = np.empty((len(points), len(self.means)))
        for k, factor in enumerate(self.factors):
            own = classes == k
            away, means = points @ factor.whitening, self.means @ factor.whitening
            distance = away - means[classes]
            away -= means[k]
            away[own] = distance[own] * lift[own, None]
            # A class whose only row is left out has the location of classes without rows.
            last = own & (rest <= 0)
            away[last] = (points[last] - self.center) @ factor.whitening
            gone = weight * lift * (self.share + own)
            left = np.maximum(1.0 - gone * _squares(distance, distance), _LEAST_LEFT)
            square = _squares(away, away) + gone * _squares(away, distance) ** 2 / left
            size = StudentParameters._make(np.where(own, mine, of[k]) for mine, of in zip(without, others, strict=True))
            out[:, k] = size.log_density(square, factor.log_determinant + np.log(left))
        return out

    def size(self, rows: Floats | float, n_columns: Array | int | None = None) -> StudentParameters:
        """Return the parameters for this number of columns, by default all."""
        from scipy.special import gammaln

        n_columns = len(self.center) if n_columns is None else n_columns
        freedom = n_columns + 2 + self.strength + rows
        # The mean of a class with less than one row has the same uncertainty as with one row.
        sure = np.maximum(rows, 1.0)
        shrink = sure / (sure + 1.0)
        constant = gammaln(freedom / 2) - gammaln((freedom - n_columns) / 2) + 0.5 * n_columns * np.log(shrink)
        return StudentParameters(freedom, shrink, constant)


def marginal_patterns(cells: int, may_lack: Array, most_cells: int = _EXPORTED_CELLS) -> list[Array]:
    """Return the sets of given columns for which an export contains a distribution: all, all but one, all but two, …

    Only columns in ``may_lack`` are omitted. A level is included if it fits completely, with ``cells`` per set.
    """
    columns = np.flatnonzero(may_lack).tolist()
    patterns = [np.ones(len(may_lack), dtype=bool)]
    for n_absent in range(1, len(columns) + 1):
        if (len(patterns) + comb(len(columns), n_absent)) * cells > most_cells:
            break
        for absent in combinations(columns, n_absent):
            given = np.ones(len(may_lack), dtype=bool)
            given[list(absent)] = False
            patterns.append(given)
    return patterns


class _Marginals(NamedTuple):
    """Points with missing coordinates, each with the marginal distribution of the others.

    Rows and columns of Ψ for missing coordinates are those of the identity. As the differences are 0 there, quadratic
    forms and determinants are those of the marginal.
    """

    view: Covariance
    points: Floats  # (rows, columns), 0 where not given
    given: Array
    whitening: Floats  # (rows, classes, columns, columns)
    log_determinant: Floats  # (rows, classes)

    @classmethod
    def of(cls, view: Covariance, points: Floats, given: Array) -> _Marginals:
        patterns, of_row = np.unique(given, axis=0, return_inverse=True)
        whitening, log_determinant = view.marginals(patterns)
        at = of_row.ravel()
        return cls(view, np.where(given, points, 0.0), given, whitening[at], log_determinant[at])

    def scores(self) -> Floats:
        """Return scores, ``(rows, classes)``."""
        away = self._whitened(self.points[:, None] - self._centers(self.view.means[None]))
        size = self.view.size(self.view.moments.weight, self._numbers)
        return self._known(size.log_density((away**2).sum(axis=2), self.log_determinant))

    def left_out(self, classes: Positions, weight: Floats) -> Floats:
        """Return left-out scores, as ``Covariance._left_out``."""
        view, rows = self.view, np.arange(len(classes))
        own_weight = view.moments.weight[classes]
        rest = remaining(own_weight, weight)
        lift = np.divide(own_weight, rest, out=np.zeros_like(rest), where=rest > 0)
        means, own = self._centers(view.means[None]), classes[:, None] == np.arange(len(view.means))
        distance = self._whitened(self.points[:, None] - means[rows, classes][:, None])
        away = self._whitened(self.points[:, None] - means)
        away = np.where(own[:, :, None], distance * lift[:, None, None], away)
        last = own & (rest <= 0)[:, None]
        center = self._whitened(self.points[:, None] - self._centers(view.center[None, None]))
        away = np.where(last[:, :, None], center, away)
        gone = (weight * lift)[:, None] * (view.share + own)
        left = np.maximum(1.0 - gone * (distance**2).sum(axis=2), _LEAST_LEFT)
        square = (away**2).sum(axis=2) + gone * (away * distance).sum(axis=2) ** 2 / left
        size = view.size(np.where(own, rest[:, None], view.moments.weight), self._numbers)
        return self._known(size.log_density(square, self.log_determinant + np.log(left)))

    @property
    def _numbers(self) -> Array:
        """Number of coordinates of each point, ``(rows, 1)``."""
        return np.asarray(self.given.sum(axis=1, keepdims=True))

    def _centers(self, centers: Floats) -> Floats:
        """Return centers, ``(rows, classes, columns)``, with 0 for missing coordinates."""
        return np.where(self.given[:, None], centers, 0.0)

    def _whitened(self, away: Floats) -> Floats:
        """Return whitened differences, ``(rows, classes, columns)``; ``away`` may be the same for all classes."""
        return np.asarray(np.matmul(away[:, :, None, :], self.whitening)[:, :, 0])

    def _known(self, scores: Floats) -> Floats:
        """Return coordinates with missing values set to 0."""
        return np.where(self.given.any(axis=1, keepdims=True), scores, 0.0)


def covariances(name: str, coordinates: Coordinates, cases: LabeledRows, n_classes: int) -> list[Covariance]:
    """Return views fitted with weak and with strong shrinkage; none with less than two columns."""
    points = coordinates.points(cases.binned)
    n_columns, n_rows = points.shape[1], float(cases.case_weight.sum())
    if n_columns < 2 or not n_rows > 0:
        return []
    moments = BlockMoments.observe(points, cases.classes, cases.case_weight, n_classes)
    center = moments.together().mean[0]
    strengths = [shrinkage * (n_columns + 2) for shrinkage in _SHRINKAGES]
    names = name, f"{name}, shrunk more"
    pairs = zip(names, strengths, strict=True)
    return [Covariance(called, coordinates, moments, center, strength, strength / n_rows) for called, strength in pairs]


def fit_coordinates(
    columns: Sequence[int], counts: Sequence[Floats], cases: LabeledRows, n_classes: int, order: Array | None = None
) -> tuple[RankCoordinates, ClippedCoordinates]:
    """Fit both kinds of coordinates of the numeric columns, which are ``columns`` among the codes.

    ``counts`` is the weight of each code of each of them; columns with less than two codes are skipped. If there are
    too many columns, the first in ``order`` (positions among the numeric columns) are used.
    """
    most = min(MOST_COLUMNS, int(np.sqrt(MOST_CELLS / n_classes)))
    order_of_columns = range(len(columns)) if order is None else order.tolist()
    chosen = sorted([j for j in order_of_columns if len(counts[j]) > 1][:most])
    places = np.array(chosen, dtype=np.int64)
    ranks = RankCoordinates.of(np.asarray(columns, dtype=np.int64)[places], [counts[j] for j in chosen])
    some = cases.subsample(_MANY_ROWS)
    return ranks, ClippedCoordinates.of(places, some.binned.numbers, some.case_weight)


def _squares(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.einsum("rj,rj->r", one, other))
