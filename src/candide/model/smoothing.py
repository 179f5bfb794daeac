"""Choice of pseudo-counts: by marginal likelihood ("evidence"), or by leave-one-out log-loss ("loo")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..families import Family
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats, Sparse
from ..stacking.calibration import calibrate
from ..stacking.training_rows import TrainingRows, rows_by_fold
from .leave_one_out import scored_by_rest
from .scorer import leaders_only

# Lower bound of log α.
_MIN_LOG_ALPHA = -12.0
_N_STARTS = 13
# Relative differences in likelihood below this count as equal.
_TOLERANCE = 1e-9
_GOLDEN = (np.sqrt(5.0) - 1) / 2

# Ordered by distance from 1, because the first one is chosen in case of ties.
GRID = np.array([1.0, 0.5, 2.0, 0.2, 5.0, 0.1, 10.0, 0.03, 30.0, 0.01, 100.0, 0.003, 0.001])
# With more columns than this, all share one pseudo-count, because choosing one for each would take longer than
# training.
_MOST_COLUMNS = 500


def by_marginal_likelihood(family: Family, statistics: Any) -> float | Floats:
    """Return the α that maximizes the marginal likelihood (empirical Bayes): one per column if columns are separate.

    It is 1 if no other value increases the likelihood.
    """

    def marginal_likelihood(log_alpha: Floats) -> Floats:
        if family.separate:
            return family.with_alpha(np.exp(log_alpha)).log_marginal_likelihood(statistics)
        return np.array([family.with_alpha(float(np.exp(log_alpha[0]))).total_log_marginal_likelihood(statistics)])

    n = len(family.with_alpha(1.0).log_marginal_likelihood(statistics)) if family.separate else 1
    log_alpha = _maximum(marginal_likelihood, np.broadcast_to(np.log(family.most_alpha(statistics)), (n,)))
    at_one = marginal_likelihood(np.zeros(n))
    flat = marginal_likelihood(log_alpha) - at_one <= _TOLERANCE * (1 + np.abs(at_one))
    alpha = np.exp(np.where(flat, 0.0, log_alpha))
    return alpha if family.separate else float(alpha[0])


def _maximum(function: Callable[[Floats], Floats], highest: Floats) -> Floats:
    """Return the maximum points of several functions of one variable, up to ``highest``.

    Golden-section search starts from the best point of a grid, because there may be two local maxima if the shares of
    classes differ.
    """
    grid = np.linspace(np.full(len(highest), _MIN_LOG_ALPHA), highest, _N_STARTS)
    best = np.argmax([function(start) for start in grid], axis=0)
    around = np.clip([best - 1, best + 1], 0, _N_STARTS - 1)
    low, high = np.take_along_axis(grid, around, axis=0)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(25):
        up = at_left < at_right
        low, high = np.where(up, left, low), np.where(up, high, right)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        fresh = function(np.where(up, right, left))
        at_left, at_right = np.where(up, at_right, fresh), np.where(up, fresh, at_left)
    return np.asarray((low + high) / 2)


def by_leave_one_out(
    family: Family, statistics: Any, seen: TrainingRows, offset: Floats, subsets: list[Array], kernels: Kernels
) -> list[float | Floats]:
    """Return the α of the grid with the lowest log-loss on left-out rows or blocks, for each of several subsets.

    Separate columns are evaluated one by one. If all columns share one α, each value is evaluated at its best
    temperature; otherwise the α that makes naive Bayes least overconfident would be chosen.
    """
    # Rows of a class with a prior of 0 are impossible for every α.
    counted = (seen.case_weight > 0) & (offset[seen.batch.classes] > -np.inf)
    subsets = [rows[counted[rows]] for rows in subsets]
    if family.separate and seen.batch.data.n_columns <= _MOST_COLUMNS:
        columns = range(seen.batch.data.n_columns)
        each = [_column_losses(family, statistics, j, seen, offset, subsets, kernels) for j in columns]
        losses = np.stack(each, axis=2)
        return [GRID[subset.argmin(axis=0)] for subset in np.moveaxis(losses, 1, 0)]
    shared = np.array(
        [_tempered_losses(family.with_alpha(a), statistics, seen, offset, subsets, kernels) for a in GRID]
    )
    return [float(GRID[best]) for best in shared.argmin(axis=0)]


def _column_losses(
    family: Family, statistics: Any, j: int, seen: TrainingRows, offset: Floats, subsets: list[Array], kernels: Kernels
) -> Floats:
    """Return the log-loss of a single column, ``(grid, subsets)``."""
    alone, summary = family.only(j), statistics.only(j)
    seen = seen._replace(batch=seen.batch._replace(data=_one_column(seen.batch.data, j)))
    out = np.empty((len(GRID), len(subsets)))
    for g, alpha in enumerate(GRID):
        scores = _posterior(alone.with_alpha(float(alpha)), summary, seen, offset, kernels)
        own = scores[np.arange(len(scores)), seen.batch.classes]
        out[g] = [-(own[rows] @ seen.case_weight[rows]) for rows in subsets]
    return out


def _tempered_losses(
    family: Family, statistics: Any, seen: TrainingRows, offset: Floats, subsets: list[Array], kernels: Kernels
) -> list[float]:
    scores = _posterior(family, statistics, seen, offset, kernels)
    losses = []
    for rows in subsets:
        part = scores[rows], seen.batch.classes[rows], seen.case_weight[rows]
        tempered = calibrate("temperature", *part, multiplicity=seen.multiplicity[rows]).apply(part[0])
        losses.append(float(-(tempered[np.arange(len(rows)), part[1]] @ part[2])))
    return losses


def _posterior(family: Family, statistics: Any, seen: TrainingRows, offset: Floats, kernels: Kernels) -> Floats:
    """Return log posteriors of rows, each with its row or block left out."""
    family = family.resolve(statistics)
    if seen.blocks is not None:
        out, batch = np.empty((len(seen.blocks), len(offset))), seen.with_all_copies()
        for rows in rows_by_fold(seen.blocks):
            out[rows] = scored_by_rest(family, statistics, batch, rows, lambda _: offset, kernels)
        return out
    finite, limits = family.left_out(seen.batch, statistics, family.likelihood(statistics), offset, kernels)
    if limits:
        finite = leaders_only(finite, list(limits), finite > -np.inf)
    kernels.normalize(finite, logarithm=True)
    return finite


def _one_column(data: Any, j: int) -> Any:
    if isinstance(data, Dense):
        return Dense.of((data.column(j),), None if data.names is None else (data.names[j],))
    return Sparse.of(data.matrix()[:, [j]])
