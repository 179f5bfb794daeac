"""Columns that were counted apart, over the same rows, as those of one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels.layouts import Floats
from .base import Statistics, as_dense
from .categories import CategoryCounts
from .counts import Counts
from .grid import Grid
from .moments import Moments
from .table import TableStatistics


def beside(parts: Sequence[Any], rows: Floats) -> Statistics:
    """The columns of all parts, one after the other; ``rows`` is the weight of the classes.

    >>> one, other = (Counts(np.array([3.0]), np.array([[total]]), None) for total in (1.0, 2.0))
    >>> beside([one, other], np.array([3.0])).total
    array([[1., 2.]])
    """
    joined: Statistics = _JOINS[type(parts[0])](parts, rows)
    return joined


def _counts(parts: Sequence[Counts], rows: Floats) -> Counts:
    missing = None
    if any(part.missing is not None for part in parts):
        holes = [np.zeros(part.total.shape) if part.missing is None else as_dense(part.missing) for part in parts]
        missing = np.hstack(holes)
    return Counts(rows, np.hstack([part.dense() for part in parts]), missing, parts[0].presence)


def _categories(parts: Sequence[CategoryCounts], rows: Floats) -> CategoryCounts:
    labels = tuple(column for part in parts for column in part.labels)
    return CategoryCounts(rows, labels, np.hstack([part.count for part in parts]))


def _moments(parts: Sequence[Moments], rows: Floats) -> Moments:
    return Moments(
        rows, *(np.hstack([getattr(part, name) for part in parts]) for name in ("weight", "mean", "scatter"))
    )


def _grids(parts: Sequence[Grid], rows: Floats) -> Grid:
    from scipy.sparse import vstack

    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    key, shift = (np.concatenate([getattr(part, name) for part in parts]) for name in ("key", "shift"))
    return Grid(rows, offsets, key, shift, vstack([part.count for part in parts], format="csr"))


def _tables(parts: Sequence[TableStatistics], rows: Floats) -> TableStatistics:
    return replace(
        parts[0],
        rows=rows,
        names=tuple(name for part in parts for name in part.names),
        kinds=tuple(kind for part in parts for kind in part.kinds),
        moments=_moments([part.moments for part in parts], rows),
        grid=_grids([part.grid for part in parts], rows),
        categories=_categories([part.categories for part in parts], rows),
        texts=tuple(texts for part in parts for texts in part.texts),
    )


_JOINS: dict[type[Any], Any] = {
    Counts: _counts,
    CategoryCounts: _categories,
    Moments: _moments,
    TableStatistics: _tables,
}
