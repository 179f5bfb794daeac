"""What rows add up to in their classes, and what that is without one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from candide.kernels.layouts import Data, Floats
from candide.kernels.tables import NormalTable

from .layouts import Problem


def row_weights(problem: Problem) -> Floats:
    return np.ones(len(problem.X)) if problem.weight is None else problem.weight


def without(problem: Problem, row: int) -> Problem:
    """The same with a row that weighs nothing."""
    return replace(problem, weight=np.where(np.arange(len(problem.X)) == row, 0.0, row_weights(problem)))


def totals(problem: Problem, data: Data) -> Floats:
    """Weighted sums of the cells of each class, which contain every row."""
    sums = np.zeros((problem.n_classes, problem.X.shape[1]))
    np.add.at(sums, problem.classes, np.nan_to_num(data.floats()) * row_weights(problem)[:, None])
    return sums


def others_of(problem: Problem, data: Data) -> Floats:
    """The counts of all classes but one."""
    sums = totals(problem, data)
    return np.array([np.delete(sums, c, axis=0).sum(axis=0) for c in range(len(sums))])


def normal_posterior(problem: Problem, data: Data, prior: float) -> NormalTable:
    """Of cells with ``prior`` rows of scatter 1 around 0."""
    x, w = data.floats(), row_weights(problem)[:, None] * ~np.isnan(data.floats())
    member = (np.arange(problem.n_classes)[:, None] == problem.classes).astype(float)
    weight = member @ w
    strength = weight + prior
    with np.errstate(invalid="ignore", divide="ignore"):
        location = member @ (w * np.nan_to_num(x)) / strength
    scatter = member @ (w * np.nan_to_num(x - location[problem.classes]) ** 2)
    return NormalTable(strength, location, prior + weight / 2, prior + (scatter + prior * location**2) / 2)


def shared_posterior(problem: Problem, data: Data, prior: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Locations and strengths of classes; shapes and scales of columns."""
    own = normal_posterior(problem, data, prior)
    return own.location, own.strength, own.shape.sum(axis=0), own.scale.sum(axis=0)
