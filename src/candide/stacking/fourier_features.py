"""Random Fourier features of table rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..kernels.scoring import cosine_features
from ..kernels.tables import PickTable
from ..lazy import dataclass
from .binning import MergedCodes, RankCoordinates, merge_codes
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows

# Ridge on the variance of each rank, which is 1.
_RIDGE = 0.01


class RankRegression(NamedTuple):
    """Linear regression of absent ranks on given ones, assuming that all are jointly normal. Other entries are 0."""

    slopes: Floats  # (numeric columns, numeric columns): rows are given ranks, columns absent ones
    covariance: Floats  # (numeric columns, numeric columns): conditional covariance of the absent ranks


@dataclass(frozen=True)
class Inputs(FieldsOnlyPickle):
    """Inputs of the features: the normal quantile of the rank in each number column, then indicators (slots).

    There is a slot for each level of each category column, and two, known and missing, for each number column with
    missing cells.

    The covariance of the ranks and the share of each slot are used to average over absent columns.

    >>> codes = np.array([[0, 0], [1, 2], [2, 1]], dtype=np.int32)
    >>> cases = LabeledRows(BinnedRows(codes, np.zeros((3, 1))), np.zeros(3, dtype=np.int32), np.ones(3), np.ones(3))
    >>> inputs = Inputs.of(np.arange(2), [np.ones(2), np.ones(2)], [True, False], cases)
    >>> inputs.times(cases.binned, np.eye(8))
    array([[-1.,  1.,  0.,  0.,  1.,  0.,  0.,  0.],
           [ 1.,  1.,  0.,  0.,  0.,  0.,  1.,  0.],
           [ 0.,  0.,  1.,  0.,  0.,  1.,  0.,  0.]])
    >>> inputs.column
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    ranks: RankCoordinates
    levels: MergedCodes
    covariance: Floats  # (numeric columns, numeric columns)
    share: Floats  # (slots,)

    @classmethod
    def of(cls, columns: Array, counts: Sequence[Floats], is_number: Sequence[bool], cases: LabeledRows) -> Inputs:
        """Return the inputs for some columns; ``counts`` has the weight of each code, for all columns of the table."""
        numbers = np.array([j for j in columns if is_number[j] and len(counts[j]) > 1], dtype=np.int64)
        # Numbers have one bin, so that only observed and missing cells are distinguished.
        maps = merge_codes(counts, is_number, 1)
        parted = np.array([j for j in columns if len(np.unique(maps[j][cases.binned.codes[:, j]])) > 1], dtype=np.int64)
        ranks = RankCoordinates.of(numbers, [counts[j] for j in numbers])
        levels = MergedCodes(parted, tuple(maps[j] for j in parted))
        return cls(ranks, levels, _covariance(ranks, cases), _shares(levels, cases))

    @cached_property
    def column(self) -> Array:
        """Return the column of each input."""
        return np.concatenate([self.ranks.columns, np.repeat(self.levels.columns, self.levels.sizes)])

    def variance(self, cases: LabeledRows) -> Floats:
        """Return the variance of each input."""
        share = cases.case_weight / cases.case_weight.sum()
        points = self.ranks.points(cases.binned)
        return np.concatenate([share @ (points - share @ points) ** 2, self.share * (1.0 - self.share)])

    def order(self, cases: LabeledRows, relevance: Floats) -> Array:
        """Return an order of the inputs that is independent of the order of columns and of names.

        Inputs are sorted by their sums per class, which do not depend on the order of the classes; ties keep their
        order.
        """
        from scipy.sparse import csr_matrix

        n_classes = int(cases.classes.max(initial=0)) + 1
        rows = np.arange(len(cases.classes))
        of_class = csr_matrix((cases.case_weight, (cases.classes, rows)), shape=(n_classes, len(rows)))
        parts = [np.zeros((n_classes, 0))]
        if len(self.ranks.columns):
            parts.append(of_class @ self.ranks.points(cases.binned))
        if len(self.levels.columns):
            ones = _ones(self.levels.slots(cases.binned.codes), int(self.levels.offsets[-1]))
            parts.append((of_class @ ones).toarray())
        worth = np.sort(np.hstack(parts), axis=0)
        # Rounded, because the last digits depend on the order of summation.
        return np.lexsort((*_rounded(worth), _rounded(relevance[self.column])))

    def times(self, binned: BinnedRows, matrix: Floats) -> Floats:
        """Return the inputs of rows multiplied by ``(inputs, width)``, as ``(rows, width)``; absent inputs are 0."""
        points, without = self.ranks.points(binned), self.ranks.absent(binned)
        n_ranks = points.shape[1]
        if without is not None:
            points = np.where(without, 0.0, points)
        if not len(self.levels.columns):
            return np.asarray(points @ matrix[:n_ranks])
        offsets = self.levels.offsets
        # Codes below 0 add 0.
        codes = Dense.of(self.levels.slots(binned.codes) - offsets[:-1].astype(np.int32))
        out = Kernels(1).code_scores(codes, offsets, PickTable(matrix[n_ranks:]), np.zeros(matrix.shape[1]))
        if n_ranks:
            out += points @ matrix[:n_ranks]
        return out

    def regression(self, given: Array) -> RankRegression:
        """Regress the absent ranks on the ``given`` ones, a boolean per number column."""
        at, rest = np.flatnonzero(given), np.flatnonzero(~given)
        slopes, covariance = np.zeros_like(self.covariance), np.zeros_like(self.covariance)
        across = self.covariance[at[:, None], rest]
        own = np.linalg.solve(self.covariance[at[:, None], at], across)
        slopes[at[:, None], rest] = own
        covariance[rest[:, None], rest] = self.covariance[rest[:, None], rest] - across.T @ own
        return RankRegression(slopes, covariance)


def _covariance(ranks: RankCoordinates, cases: LabeledRows) -> Floats:
    points, weight = ranks.points(cases.binned), cases.case_weight
    return np.asarray((points.T * weight) @ points / weight.sum() + _RIDGE * np.eye(points.shape[1]))


def _shares(levels: MergedCodes, cases: LabeledRows) -> Floats:
    if not len(levels.columns):
        return np.zeros(0)
    slots = levels.slots(cases.binned.codes)
    share = np.repeat(cases.case_weight / cases.case_weight.sum(), slots.shape[1])
    return np.bincount(slots.ravel(), share, minlength=levels.offsets[-1]).astype(np.float64, copy=False)


def _rounded(numbers: Floats) -> Floats:
    return np.asarray(np.round(numbers, 9))


def _ones(slots: Positions, n_slots: int) -> Any:
    """Return indicators of the slots of each row, ``(rows, slots)``."""
    from scipy.sparse import csr_matrix

    ends = np.arange(len(slots) + 1) * slots.shape[1]
    return csr_matrix((np.ones(slots.size), slots.ravel(), ends), shape=(len(slots), n_slots))


# Frequencies in radians per standard deviation of the inputs: low, medium and high.
_SPEEDS = (0.5, 1.0, 2.0)
# Moduli are clipped to this minimum before their logarithm is taken.
_LEAST_SIZE = 1e-300
# Inputs with a variance below this are treated as constant.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True)
class RandomFourierFeatures:
    """cos(inputs · frequencies + phases)."""

    inputs: Inputs
    frequencies: Floats  # (inputs, features)
    phases: Floats  # (features,)

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.phases)

    def transform(self, binned: BinnedRows) -> Floats:
        """Return the features, ``(rows, features)``.

        For a row with absent columns, return their expectation over the levels of category columns, weighted by share,
        and over the ranks of numeric columns, assumed to be jointly normal with the given ones.
        """
        angles = self.inputs.times(binned, self.frequencies)
        angles += self.phases
        if binned.codes.min(initial=0) >= 0:
            return cosine_features(angles)
        # The mean of cos(a + x) is |z| cos(a + arg z), where z is the mean of exp(ix). For a normal x,
        # z = exp(i mean - variance / 2).
        log_size = np.zeros_like(angles)
        self._add_levels(binned, angles, log_size)
        self._add_ranks(binned, angles, log_size)
        return np.asarray(np.exp(log_size) * cosine_features(angles))

    def _add_levels(self, binned: BinnedRows, angles: Floats, log_size: Floats) -> None:
        levels = self.inputs.levels
        absent = (binned.codes[:, levels.columns] < 0).astype(np.float64)
        if absent.any():
            turn, log_part = self.level_means()
            angles += absent @ turn
            log_size += absent @ log_part

    def level_means(self) -> tuple[Floats, Floats]:
        """Return angle and log modulus of E[exp(i angle)] over the levels of each column, ``(columns, features)``."""
        inputs, begins = self.inputs, self.inputs.levels.offsets[:-1]
        indices = inputs.share[:, None] * np.exp(1j * self.frequencies[len(inputs.ranks.columns) :])
        mean = np.add.reduceat(indices, begins, axis=0)
        return np.angle(mean), np.log(np.maximum(np.abs(mean), _LEAST_SIZE))

    def _add_ranks(self, binned: BinnedRows, angles: Floats, log_size: Floats) -> None:
        without = self.inputs.ranks.absent(binned)
        if without is None:
            return
        points = np.where(without, 0.0, self.inputs.ranks.points(binned))
        patterns, of_row = np.unique(without, axis=0, return_inverse=True)
        for i, absent in enumerate(patterns):
            if absent.any():
                rows, (slopes, covariance) = np.flatnonzero(of_row.ravel() == i), self.inputs.regression(~absent)
                angles[rows] += points[rows] @ slopes @ self.frequencies[: len(absent)]
                log_size[rows] += self.log_sizes(covariance)

    def log_sizes(self, covariance: Floats) -> Floats:
        """Return the log modulus of E[exp(i angle)], ``(features,)``, for absent ranks with this covariance."""
        frequencies = self.frequencies[: len(covariance)]
        return np.asarray(-0.5 * (frequencies * (covariance @ frequencies)).sum(axis=0))


def draw_features(
    inputs: Inputs, cases: LabeledRows, relevance: Floats, sizes: tuple[int, ...] | None, width: int, seed: int
) -> RandomFourierFeatures | None:
    """Draw features that use all columns, scaled by relevance, or a few columns each, drawn by relevance.

    ``sizes`` are the numbers of columns per feature, used in turn; None means all columns. ``relevance`` has one
    number for each column of the table. Return None if all inputs are constant.
    """
    variance = inputs.variance(cases)
    variance[variance < _LEAST_VARIANCE] = 0.0
    of_column = np.bincount(inputs.column, variance, minlength=len(relevance))
    if not of_column.any():
        return None
    # Random draws must not depend on the positions of columns or the names of levels.
    order = inputs.order(cases, relevance)
    order = order[variance[order] > 0.0]
    varying = inputs.column[order][np.sort(np.unique(inputs.column[order], return_index=True)[1])]
    rng = np.random.default_rng(seed)
    strengths = np.zeros((len(relevance), width))
    strengths[varying] = _strengths(relevance[varying], sizes, width, rng) / np.sqrt(of_column[varying, None])
    # Inputs that were constant in training are not used.
    frequencies = np.zeros((len(variance), width))
    frequencies[order] = rng.standard_normal((len(order), width)) * strengths[inputs.column[order]]
    return RandomFourierFeatures(inputs, frequencies, rng.uniform(0.0, 2 * np.pi, width))


def _strengths(relevance: Floats, sizes: tuple[int, ...] | None, width: int, rng: np.random.Generator) -> Floats:
    """Return the frequencies of features along each column of variance 1, ``(columns, features)``."""
    indices = np.arange(width)
    if sizes is None:
        parts, turn = np.repeat(relevance[:, None], width, axis=1), indices
    else:
        # The columns with the largest relevance · exp(Gumbel noise) are a weighted sample without replacement.
        keys = np.log(relevance)[:, None] + rng.gumbel(size=(len(relevance), width))
        place = np.argsort(np.argsort(-keys, axis=0, kind="stable"), axis=0)
        parts, turn = (place < np.array(sizes)[indices % len(sizes)]).astype(np.float64), indices // len(sizes)
    return np.asarray(parts * np.array(_SPEEDS)[turn % len(_SPEEDS)] / np.sqrt((parts**2).sum(axis=0)))
