"""Exact leave-one-out scores for any family: each row is scored by the statistic without it.

For most families only the row's own class changes. Families whose classes share parameters define their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exceptions import ForgetError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, chunks
from .base import CELLS, Batch, Family, Likelihood, Scores


def replace_own(likelihood: Likelihood, batch: Batch, own: Scores, offset: Floats, kernels: Kernels) -> Scores:
    """Return scores under all classes, with those of the rows' own classes replaced."""
    finite = likelihood.scores(batch.data, offset, kernels)
    return put_own(finite, likelihood.limits(batch.data, kernels), batch, own, offset, kernels)


def put_own(
    finite: Floats, limits: list[Floats], batch: Batch, own: Scores, offset: Floats, kernels: Kernels
) -> Scores:
    """Return scores with those of the own classes replaced; rows without weight are not in the statistic."""
    if not limits and any(limit.any() for limit in own.limits):
        limits = [np.zeros_like(finite) for _ in own.limits]
    kernels.put_own(finite, batch.classes, batch.weight, own.finite, offset)
    for k, limit in enumerate(limits):
        values = own.limits[k] if own.limits else np.zeros(len(finite))
        kernels.put_own(limit, batch.classes, batch.weight, values, np.zeros(len(offset)))
    return Scores(finite, tuple(limits))


def own_by_removal(
    family: Family, batch: Batch, statistics: Any, kernels: Kernels, n_cells: int | None = None
) -> Scores:
    """Return the score of each row under its own class, by removing it from the statistic: exact for any family, slow.

    ``n_cells``: how many parameters a class has, if not one per column.
    """
    parts = [_own(family, part, statistics, kernels) for part in row_ranges(batch, n_cells or batch.data.n_columns)]
    finite, *limits = map(np.concatenate, _aligned(parts))
    return Scores(finite, tuple(limits))


def _own(family: Family, batch: Batch, statistics: Any, kernels: Kernels) -> Scores:
    return family.likelihood(remove_each(family, batch, statistics, kernels)).each(batch.data, kernels)


def remove_each(family: Family, batch: Batch, statistics: Any, kernels: Kernels) -> Any:
    """Return a statistic with one class per row: the row's class without the row."""
    n_rows = len(batch.classes)
    alone = family.observe(Batch(batch.data, np.arange(n_rows, dtype=np.int32), batch.weight, n_rows), kernels)
    return statistics.take(batch.classes).without(alone)


def row_ranges(batch: Batch, n_cells: int) -> Iterator[Batch]:
    """Yield parts of the batch that fit into memory, for rows of ``n_cells`` cells."""
    for begin, end, data in chunks(batch.data, max(1, CELLS // max(1, n_cells))):
        weight = None if batch.weight is None else batch.weight[begin:end]
        yield Batch(data, batch.classes[begin:end], weight, batch.n_classes)


def own_by_weight(
    batch: Batch, score: Callable[[Batch, float], Scores], otherwise: Callable[[Batch], Scores], n_classes: int
) -> Scores:
    """Return own-class scores by one table for each distinct weight; ``otherwise`` if those are too many."""
    if batch.weight is None or not len(batch.weight):
        return score(batch, 1.0)
    weights, which = np.unique(batch.weight, return_inverse=True)
    if len(weights) * n_classes > max(64, len(which) // 4):
        return otherwise(batch)
    groups = [np.flatnonzero(which == k) for k in range(len(weights))]
    parts = [score(batch.take(rows), float(w)) for rows, w in zip(groups, weights, strict=True)]
    finite, *limits = (_scattered(columns, groups) for columns in _aligned(parts))
    return Scores(finite, tuple(limits))


def _aligned(parts: list[Scores]) -> Iterator[tuple[Floats, ...]]:
    """Return the finite parts, then limit by limit; 0 where a part has none."""
    n_limits = max(len(part.limits) for part in parts)
    return zip(*((part.finite, *part.limits, *_nothing(part, n_limits)) for part in parts), strict=True)


def _nothing(part: Scores, n_limits: int) -> list[Floats]:
    return [np.zeros_like(part.finite)] * (n_limits - len(part.limits))


def _scattered(parts: tuple[Floats, ...], groups: list[Array]) -> Floats:
    out = np.empty(sum(map(len, parts)))
    for rows, part in zip(groups, parts, strict=True):
        out[rows] = part
    return out


def refuse_unseen_categories(batch: Batch, statistics: Any) -> None:
    """More rows of a class than were learned cannot all be in the statistic."""
    given, learned = batch.row_weight(), statistics.rows
    if (given > learned * (1 + 1e-9)).any():
        raise ForgetError(
            "these rows were never learned: a class has more weight here than the model has seen; leave_one_out "
            "needs rows that the model was trained on, with the weights they had (after discount: the discounted ones)"
        )
