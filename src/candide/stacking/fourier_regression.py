"""Least squares on random Fourier features: smooth functions of several columns at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from ..statistics.base import remaining
from ..statistics.hashing import ABOVE_ALL
from .covariance import CholeskyFactor
from .fourier_features import Inputs, RandomFourierFeatures, draw_features
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, ViewContributions, by_chunks

# Features of a view. With 500, the log-loss on tables of some thousand rows is 0.005 lower, in twice the time.
WIDTH = 300
# Maximum number of rows and columns that the regression is fitted on.
MOST_ROWS = 20_000
MOST_COLUMNS = 200
# The views, the number of columns of a feature (None: all), and the seed of the features.
_KINDS = (
    ("random Fourier features of all columns", None, 1),
    ("random Fourier features of 2 to 4 columns", (2, 3, 4), 2),
)
_PENALTIES = tuple(10.0**power for power in range(-3, 4))
# Number of rows at a time. Larger blocks to score would allocate new memory pages each time, at twice the cost of the
# scores.
_CHUNK, _SCORED = 1 << 10, 1 << 8
# Minimum of 1 minus the leverage of a row; smaller values are rounding errors.
_LEAST_LEFT = 1e-9


class FeatureSums(NamedTuple):
    """Sums over rows, which are additive."""

    weight: Floats  # (classes,)
    sums: Floats  # (classes, features)
    products: Floats  # (features, features), all classes together

    @classmethod
    def of(cls, features: RandomFourierFeatures, cases: LabeledRows, n_classes: int) -> FeatureSums:
        weight = np.bincount(cases.classes, cases.case_weight, minlength=n_classes).astype(np.float64, copy=False)
        heights, products = np.zeros((n_classes, features.width)), np.zeros((features.width, features.width))
        for begin in range(0, len(cases.classes), _CHUNK):
            part = cases.take(slice(begin, begin + _CHUNK))
            here = features.transform(part.binned)
            heights += _by_class(part, n_classes) @ here
            here *= np.sqrt(part.case_weight)[:, None]
            products += here.T @ here
        return cls(weight, heights, products)

    def __reduce__(self) -> Any:
        # The matrix of products is symmetric, and only its lower half is pickled.
        return _unpacked, (self.weight, self.sums, self.products[np.tril_indices(len(self.products))])

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def share(self) -> Floats:
        """The share of each class in the weight."""
        return np.asarray(self.weight / max(self.total, 1e-300))

    @property
    def mean(self) -> Floats:
        """The mean of each feature."""
        return np.asarray(self.sums.sum(axis=0) / max(self.total, 1e-300))

    @property
    def scatter(self) -> Floats:
        """Scatter matrix of the features, ``(features, features)``."""
        return np.asarray(self.products - self.total * np.outer(self.mean, self.mean))

    @property
    def slants(self) -> Floats:
        """Cross-products of centered features and centered class indicators, ``(features, classes)``."""
        return np.asarray((self.sums - np.outer(self.weight, self.mean)).T)


def _unpacked(weight: Floats, heights: Floats, lower: Floats) -> FeatureSums:
    width = heights.shape[1]
    products = np.zeros((width, width))
    products[np.tril_indices(width)] = lower
    return FeatureSums(weight, heights, np.where(np.tri(width, dtype=bool), products, products.T))


@dataclass(frozen=True)
class FourierRegression(FieldsOnlyPickle):
    """Difference between the probability of each class and its frequency, as a smooth function of several columns.

    A feature is the cosine of a weighted sum of columns, whose weights are drawn at random once. The class indicators
    are regressed on the features by ridge regression with ``penalty``. The model is linear in fixed features, so it
    only needs sums over rows (``FeatureSums``), and left-out scores have a closed form. Rows with absent columns have
    the expectation of their features (``RandomFourierFeatures.transform``).
    """

    name: str
    features: RandomFourierFeatures
    sums: FeatureSums
    penalty: float
    hash_bound: np.uint64 = ABOVE_ALL  # rows with a smaller hash are in the sums

    @cached_property
    def _factor(self) -> CholeskyFactor:
        return CholeskyFactor.of(self._scale)

    @property
    def _scale(self) -> Floats:
        return self.sums.scatter + self.penalty * np.eye(self.features.width)

    @cached_property
    def slopes(self) -> Floats:
        """Regression coefficients, ``(features, classes)``."""
        from scipy.linalg import cho_factor, cho_solve

        # Solved without the inverse, which only left-out scores need, because slopes change with each learned row.
        root = cho_factor(self._scale, lower=True, check_finite=False)
        return np.asarray(cho_solve(root, self.sums.slants, check_finite=False))

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        mean = self.sums.mean @ self.slopes
        return by_chunks(binned, lambda rows: self._known(binned.take(rows), lambda h: h @ self.slopes - mean), _SCORED)

    def _known(self, binned: BinnedRows, scores: Callable[[Floats], Floats]) -> Floats:
        """Return scores from the features; 0 for rows in which no column is given."""
        out = scores(self.features.transform(binned))
        codes = binned.codes[:, self.columns]
        if codes.min(initial=0) < 0:
            out[(codes < 0).all(axis=1)] = 0.0
        return out

    @cached_property
    def columns(self) -> Array:
        """Columns of the features, as positions among the codes."""
        return np.unique(self.features.inputs.column)

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        """None: features depend on several columns."""
        nothing = np.zeros((0, len(self.sums.weight)))
        return ViewContributions(np.zeros(0, dtype=np.int64), nothing, self.scores(binned, kernels)[0])

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        if self.hash_bound < ABOVE_ALL:
            weight = np.where(binned.hashes() < self.hash_bound, weight, 0.0)

        def chunk(rows: slice) -> Floats:
            part = binned.take(rows)
            learned = None if part.known is None else self.features.transform(part.whole())
            return self._known(part, lambda heights: self._left_out(heights, learned, classes[rows], weight[rows]))

        return by_chunks(binned, chunk, _CHUNK)

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> FourierRegression:
        if self.hash_bound < ABOVE_ALL:
            cases = cases.take(np.flatnonzero(cases.binned.hashes() < self.hash_bound))
        if not len(cases.classes):
            return self
        rows = FeatureSums.of(self.features, cases, len(self.sums.weight))
        return replace(
            self, sums=FeatureSums._make(mine + sign * more for mine, more in zip(self.sums, rows, strict=True))
        )

    def _left_out(self, heights: Floats, learned: Floats | None, classes: Positions, weight: Floats) -> Floats:
        """Return left-out scores.

        Leaving out a row with weight w and leverage h divides its residual by 1 - w h, and reduces the share of its
        class, which scores are relative to.

        ``learned``: the features with which rows are in the sums, if they differ from ``heights``.
        """
        total, away = self.sums.total, _centered_indicators(self.sums, classes)
        explained, white = self._explained(heights)
        rest = remaining(np.full_like(weight, total), weight)
        lost = np.divide(weight, rest, out=np.zeros_like(weight), where=rest > 0)
        if learned is None:
            left = _residual_divisor(np.einsum("jr,jr->r", white, white), weight, total)
            return np.asarray(away * (1.0 + lost)[:, None] - (away - explained) / left[:, None])
        learned_explained, learned_white = self._explained(learned)
        left = _residual_divisor(np.einsum("jr,jr->r", learned_white, learned_white), weight, total)
        pull = weight * (np.einsum("jr,jr->r", learned_white, white) + 1.0 / max(total, 1e-300))
        return np.asarray(explained + away * lost[:, None] - (away - learned_explained) * (pull / left)[:, None])

    def _explained(self, heights: Floats) -> tuple[Floats, Floats]:
        """Return scores from features, which are overwritten, and the whitened features, ``(features, rows)``."""
        from scipy.linalg.blas import dtrmm

        heights -= self.sums.mean
        explained = heights @ self.slopes
        # The whitening matrix is triangular.
        return explained, dtrmm(1.0, self._factor.whitening.T, heights.T, lower=True, overwrite_b=True)


def fit_fourier_regressions(
    counts: Sequence[Floats], is_number: Sequence[bool], cases: LabeledRows, n_classes: int, relevance: Floats
) -> Iterator[FourierRegression]:
    """Fit views with features of all columns and of few columns; none if all columns are constant.

    ``counts`` is the weight of each code of each column, and ``relevance``, above 0, its information about the class.
    """
    below, cases = _rows_to_fit(cases)
    if not cases.case_weight.sum() > 0:
        return
    columns = np.sort(np.argsort(-relevance, kind="stable")[:MOST_COLUMNS])
    inputs = Inputs.of(columns, counts, is_number, cases)
    for name, sizes, seed in _KINDS:
        features = draw_features(inputs, cases, relevance, sizes, WIDTH, seed)
        if features is not None:
            sums = FeatureSums.of(features, cases, n_classes)
            yield FourierRegression(name, features, sums, _best_penalty(features, sums, cases.subsample()), below)


def _rows_to_fit(cases: LabeledRows) -> tuple[np.uint64, LabeledRows]:
    """Return the rows that the view is fitted on, and the upper bound of their hashes.

    Rows are selected by their hashes, so that it is known for any row whether it is in the sums and can be left out.
    """
    if len(cases.classes) <= MOST_ROWS:
        return ABOVE_ALL, cases
    hashes = cases.binned.hashes()
    below = np.partition(hashes, MOST_ROWS)[MOST_ROWS]
    return below, cases.take(np.flatnonzero(hashes < below))


def _best_penalty(features: RandomFourierFeatures, sums: FeatureSums, cases: LabeledRows) -> float:
    """Return the penalty with the least squared error of left-out class indicators."""
    scales, directions = np.linalg.eigh(sums.scatter)
    turned = (features.transform(cases.binned) - sums.mean) @ directions
    squares, slants = turned**2, directions.T @ sums.slants
    away = _centered_indicators(sums, cases.classes)

    def error(penalty: float) -> float:
        shrink = 1.0 / (np.maximum(scales, 0.0) + penalty)
        left = _residual_divisor(squares @ shrink, cases.weight, sums.total)
        explained = turned @ (shrink[:, None] * slants)
        return float(cases.case_weight @ (((away - explained) ** 2).sum(axis=1) / left**2))

    return min(_PENALTIES, key=error)


def _centered_indicators(sums: FeatureSums, classes: Positions) -> Floats:
    """Return indicators of the rows' classes minus the class frequencies, ``(rows, classes)``."""
    away = np.tile(-sums.share, (len(classes), 1))
    away[np.arange(len(classes)), classes] += 1.0
    return away


def _residual_divisor(pull: Floats, weight: Floats, total: float) -> Floats:
    """Return the divisor of the residuals of rows when they are left out."""
    return np.asarray(np.maximum(1.0 - weight * (pull + 1.0 / max(total, 1e-300)), _LEAST_LEFT))


def _by_class(cases: LabeledRows, n_classes: int) -> Any:
    """Return the weight of each row in its class as a sparse matrix, ``(classes, rows)``."""
    from scipy.sparse import csr_matrix

    rows = np.arange(len(cases.classes))
    return csr_matrix((cases.case_weight, (cases.classes, rows)), shape=(n_classes, len(rows)))
