"""Leaving rows out of means and variances.

With the row out, κ' = κ - w, m' = m - (x - m) w / κ', a' = a - w/2 and b' = b - κ w (x - m)² / 2κ'. Where one row
carries nearly all of the scatter, b' has no digits left; such cells are computed anew from the other rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Sparse
from ..kernels.tables import NormalTable
from ..priors import Normal
from ..statistics import Moments
from .base import CELLS, Batch, Likelihood, Scores
from .gaussian_likelihood import StudentLikelihood, dense_chunks, student_cells
from .left_out import own_by_removal, remove_each, replace_own, row_ranges

if TYPE_CHECKING:
    from .gaussian import Gaussian

# Below this share of the scatter before, what is left of it is computed anew.
_DELICATE = 1e-4


def left_out_normal(
    family: Gaussian, batch: Batch, statistics: Moments, likelihood: Likelihood, offset: Floats, kernels: Kernels
) -> Scores:
    """Scores of rows with themselves left out, ``(rows, classes)``; the family is resolved."""
    if isinstance(family.prior, Normal):
        own = own_by_removal(family, batch, statistics, kernels)
    elif family.shared:
        return _shared(family, batch, statistics, offset, kernels)
    else:
        table = likelihood.table if isinstance(likelihood, StudentLikelihood) else family.table(statistics)
        own = _own(family, batch, statistics, table, kernels)
    return replace_own(likelihood, batch, own, offset, kernels)


def _own(family: Gaussian, batch: Batch, statistics: Moments, table: NormalTable, kernels: Kernels) -> Scores:
    floor, student = family.floor(statistics), family.estimate == "predictive"
    finite = np.empty(len(batch.classes))
    for begin, end, dense in dense_chunks(batch.data):
        weight = None if batch.weight is None else batch.weight[begin:end]
        finite[begin:end] = kernels.own_normal_scores(
            dense, batch.classes[begin:end], weight, table, family.extra(1), floor, student=student
        )
    # A row of weight 0 is in no class, and its score here is not used.
    odd = np.flatnonzero(np.isnan(finite) if batch.weight is None else np.isnan(finite) & (batch.weight > 0))
    if not len(odd):
        return Scores(finite)
    exact = _exactly(family, batch, odd, statistics, kernels)
    limits = [np.zeros(len(finite)) for _ in exact.limits]
    finite[odd] = exact.finite
    for limit, values in zip(limits, exact.limits, strict=True):
        limit[odd] = values
    return Scores(finite, tuple(limits))


def _exactly(family: Gaussian, batch: Batch, rows: Array, statistics: Moments, kernels: Kernels) -> Scores:
    """Rows under their own class, with moments of the other rows that are right to the last digits."""
    parts = []
    step = max(1, CELLS // batch.data.n_columns)
    for chosen in np.split(rows, range(step, len(rows), step)):
        few = batch.take(chosen)
        left = _recomputed(remove_each(family, few, statistics, kernels), few, chosen, batch, statistics)
        parts.append(family.likelihood(left).each(few.data, kernels))
    columns = zip(*((part.finite, *part.limits) for part in parts), strict=True)
    finite, *limits = map(np.concatenate, columns)
    return Scores(finite, tuple(limits))


def _recomputed(left: Moments, few: Batch, rows: Array, batch: Batch, statistics: Moments) -> Moments:
    """With the delicate cells computed from all other rows of the class, if the batch has them all."""
    x = few.data.floats()
    delicate = ~np.isnan(x) & (left.weight > 0) & (left.scatter <= _DELICATE * statistics.scatter[few.classes])
    complete = np.isclose(batch.row_weight(), statistics.rows, rtol=1e-9, atol=0)[few.classes]
    cells = np.argwhere(delicate & complete[:, None])
    if not len(cells):
        return left
    mean, scatter, members = left.mean.copy(), left.scatter.copy(), _members(batch)
    for i, j in cells:
        others = members[few.classes[i]]
        others = others[others != rows[i]]
        mean[i, j], scatter[i, j] = _moments(_column(batch, int(j), others), batch.weight, others)
    return replace(left, mean=mean, scatter=scatter)


def _members(batch: Batch) -> list[Array]:
    """The rows of each class; those of weight 0 are absent."""
    rows = np.arange(len(batch.classes)) if batch.weight is None else np.flatnonzero(batch.weight)
    classes = batch.classes[rows]
    order = rows[np.argsort(classes, kind="stable")]
    return np.split(order, np.cumsum(np.bincount(classes, minlength=batch.n_classes))[:-1])


def _column(batch: Batch, j: int, rows: Array) -> Floats:
    if isinstance(batch.data, Sparse):
        return np.asarray(batch.data.matrix()[rows][:, [j]].toarray(), dtype=np.float64).ravel()
    return np.asarray(batch.data.column(j)[rows], dtype=np.float64)


def _moments(x: Floats, weight: Floats | None, rows: Array) -> tuple[float, float]:
    known = ~np.isnan(x)
    share = (np.ones(len(x)) if weight is None else weight[rows]) * known
    x = np.where(known, x, 0.0)
    first = x[share.argmax()]
    mean = first + (share * (x - first)).sum() / share.sum()
    return float(mean), float((share * (x - mean) ** 2).sum())


def _shared(family: Gaussian, batch: Batch, statistics: Moments, offset: Floats, kernels: Kernels) -> Scores:
    """With one variance for all classes, a row that is out changes the scores of all of them."""
    table, floor, extra = family.table(statistics), family.floor(statistics), family.extra(batch.n_classes)
    if np.isnan(table.location[:, statistics.weight.any(axis=0)]).any():
        finite = np.full((len(batch.classes), batch.n_classes), np.nan)
    elif family.estimate == "predictive":
        parts = [_shared_student(table, part) for part in row_ranges(batch, table.location.size)]
        finite = np.concatenate(parts) + offset
    else:
        parts = [
            kernels.left_out_shared(
                dense, batch.classes[begin:end], None if batch.weight is None else batch.weight[begin:end],
                table.location, table.strength, table.shape[0], table.scale[0], extra, floor, offset,
            )
            for begin, end, dense in dense_chunks(batch.data)
        ]  # fmt: skip
        finite = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if not np.isnan(finite.sum()):
        return Scores(finite)
    limits = [np.zeros_like(finite), np.zeros_like(finite)]
    for i in np.flatnonzero(np.isnan(finite).any(axis=1)):
        finite[i], first, second = _one_by_one(family, batch, int(i), statistics, offset, kernels)
        limits[0][i], limits[1][i] = first, second
    return Scores(finite, tuple(limits) if any(limit.any() for limit in limits) else ())


def _shared_student(table: NormalTable, batch: Batch) -> Floats:
    """Student's t with row-wise scales, ``(rows, classes)``; NaN where the scale has lost its digits."""
    x, own = batch.data.floats(), (np.arange(len(batch.classes)), batch.classes)
    weight = np.where(np.isnan(x), 0.0, 1.0 if batch.weight is None else batch.weight[:, None])
    mine = NormalTable(*(part[batch.classes] for part in table))
    strength, away = mine.strength - weight, np.where(weight > 0, x - mine.location, 0.0)
    share = np.divide(weight, strength, out=np.zeros_like(weight), where=weight > 0)
    shape, scale = mine.shape - weight / 2, mine.scale - mine.strength * share * away**2 / 2
    lost = scale <= _DELICATE * mine.scale
    scale = np.where(lost, mine.scale, scale)
    location = np.broadcast_to(table.location, (len(x), *table.location.shape)).copy()
    strengths = np.broadcast_to(table.strength, location.shape).copy()
    location[own], strengths[own] = mine.location - away * share, strength
    # The square of a row of weight 0 may be infinite, and its score too.
    with np.errstate(over="ignore"):
        cells = student_cells(x[:, None, :], NormalTable(strengths, location, shape[:, None], scale[:, None]))
    cells = np.where(lost[:, None], np.nan, cells)
    return np.asarray(np.where(np.isnan(x)[:, None, :], 0.0, cells).sum(axis=2))


def _one_by_one(
    family: Gaussian, batch: Batch, i: int, statistics: Moments, offset: Floats, kernels: Kernels
) -> tuple[Any, Any, Any]:
    """A row that needs everything made anew: its scores and their limits."""
    one = batch.take(np.array([i]))
    few = _recomputed(remove_each(family, one, statistics, kernels), one, np.array([i]), batch, statistics)
    c = int(one.classes[0])
    parts = []
    for whole, row in zip(statistics.arrays().values(), few.arrays().values(), strict=True):
        part = whole.copy()
        part[c] = row[0]
        parts.append(part)
    likelihood = family.likelihood(Moments(*parts))
    finite = likelihood.scores(one.data, offset, kernels)[0]
    first, second = likelihood.limits(one.data, kernels) or (np.zeros((1, 1)), np.zeros((1, 1)))
    return finite, first[0], second[0]
