"""Columns together: normal and Student distributions of several dimensions, some of which may be missing."""

from __future__ import annotations

import numpy as np

from ...families.elliptic import EllipticLikelihood, log_density
from ...kernels.layouts import Floats
from .tensor import Tensor, added, filled


def elliptic_scores(likelihood: EllipticLikelihood, x: Tensor) -> Tensor:
    """log p(x | class), ``(rows, classes)``: of a row with missing cells the distribution of those it has.

    Where a column is missing, its row and column of the matrix are those of the identity: that leaves the determinant
    and the quadratic form of the others. Both come by elimination, column by column.
    """
    known = 1.0 - x.is_nan().of_type(np.float64)
    both = known.with_axis(1).with_axis(3) * known.with_axis(1).with_axis(2)
    n_columns = likelihood.location.shape[1]
    matrix = both * likelihood.scale + (1.0 - known).with_axis(1).with_axis(2) * np.eye(n_columns)
    away = (filled(x).with_axis(1) - likelihood.location) * known.with_axis(1)
    square, log_determinant = _eliminated(matrix, away, n_columns)
    constant, degrees = _constants(likelihood, n_columns)
    place = known.sum(1).of_type(np.int64)
    # Of the normal distribution the tail is the square itself.
    normal = np.isinf(likelihood.freedom)
    freedom = np.where(normal, 1.0, likelihood.freedom)
    tail = (square / freedom + 1.0).log() * place.picks(degrees)
    return place.picks(constant) - 0.5 * (log_determinant + square.graph.op("Where", normal, square, tail))


def _eliminated(matrix: Tensor, away: Tensor, n_columns: int) -> tuple[Tensor, Tensor]:
    """Squared distances and log determinants, ``(rows, classes)``."""
    squares, logs = [], []
    for j in range(n_columns):
        row, at = matrix.columns(np.array(j), axis=3), np.array([j])
        pivot, step = row.columns(at, axis=2), away.columns(at, axis=2)
        squares.append((step.square() / pivot).sum(2))
        logs.append(pivot.log().sum(2))
        share = row / pivot
        away = away - share * step
        matrix = matrix - share.with_axis(3) * row.with_axis(2)
    return added(squares), added(logs)


def _constants(likelihood: EllipticLikelihood, n_columns: int) -> tuple[Floats, Floats]:
    """By how many columns are known, ``(columns + 1, classes)``: log densities at the middle, degrees of freedom."""
    middle = [[float(log_density(np.zeros(1), 0.0, n, free)[0]) for free in likelihood.freedom]
              for n in range(n_columns + 1)]  # fmt: skip
    freedom = np.where(np.isinf(likelihood.freedom), 0.0, likelihood.freedom)
    return np.array(middle), np.arange(n_columns + 1.0)[:, None] + freedom
