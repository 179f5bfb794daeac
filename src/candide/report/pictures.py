"""How a column is modelled, as shares of each class: as they were counted, and as the model has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.columns import Column
from ..families.columns import ColumnModel
from ..families.columns.base import CodedColumn
from ..families.columns.histogram import may_be_whole, middles
from ..kernels.layouts import Array, Floats
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics

_STRETCHES = 24
_MOST_VALUES = 8
# Points at which a density is asked within a stretch.
_POINTS = 8
# Numbers beyond these shares of all are not in the picture.
_TAIL = 0.005


class Shares(NamedTuple):
    """Of the rows of each class whose cell is known, the share that each stretch or value has.

    Point masses of a column of numbers are no part of its stretches.
    """

    edges: Floats | None  # of the stretches of numbers
    values: list[Any]  # of categories
    counted: Floats  # (stretches or values, classes)
    modelled: Floats
    point_masses: Shares | None = None  # of numbers, by value


def shares_of(model: ColumnModel | None, statistics: TableStatistics, j: int) -> Shares | None:
    """None of columns without a model, or without a number or category."""
    if model is None or not statistics.observed(j).sum():
        return None
    if isinstance(model, CodedColumn) and model.cuts is None:
        return _of_values(model)
    if statistics.kinds[j] != "number":
        return None
    every = statistics.grid.column(statistics.place(j))
    cells, apart = every, None
    if isinstance(model, CodedColumn) and model.atoms is not None:
        values, weight, mass = model.point_masses()
        apart = Shares(None, values.tolist(), _over(weight, every.count.sum(axis=0)), mass)
        cells = Cells._make(part[~np.isin(every.low, values)] for part in every)
    edges = stretches(cells)
    if not len(edges):
        return apart
    place = np.searchsorted(edges, middles(cells), side="right") - 1
    counted = np.zeros((len(edges) - 1, cells.count.shape[1]))
    inside = (place >= 0) & (place < len(counted))
    np.add.at(counted, place[inside], cells.count[inside])
    modelled = _coded(model, edges) if isinstance(model, CodedColumn) else _by_density(model, edges)
    return Shares(edges, [], _over(counted, every.count.sum(axis=0)), modelled, apart)


def stretches(cells: Cells) -> Floats:
    """Edges of stretches that hold almost all numbers: around each where they are few, else of equal width.

    >>> stretches(Cells(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0]), np.ones((3, 2))))
    array([0.5, 1.5, 3. , 5. ])
    """
    weight, at = cells.count.sum(axis=1), middles(cells)
    if len(at) < 2:
        return np.zeros(0)
    if len(at) <= _STRETCHES:
        between = at[:-1] / 2 + at[1:] / 2
        return np.concatenate([[2 * at[0] - between[0]], between, [2 * at[-1] - between[-1]]])
    ranks = np.cumsum(weight) / weight.sum()
    low, high = at[np.minimum(np.searchsorted(ranks, [_TAIL, 1 - _TAIL]), len(at) - 1)].tolist()
    if not (low < high and np.isfinite(high - low)):
        return np.zeros(0)
    if may_be_whole(cells).all():
        # Stretches of as many whole numbers each.
        width = np.ceil((high - low + 1) / _STRETCHES)
        return np.asarray(low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1))
    return np.linspace(low, high, _STRETCHES + 1)


def _of_values(model: CodedColumn) -> Shares:
    """The most frequent values."""
    assert model.labels is not None
    n_values = len(model.labels)
    counted, modelled = model.count[:n_values], np.exp(model.table()[:n_values])
    most = np.argsort(-counted.sum(axis=1), kind="stable")[:_MOST_VALUES]
    values = model.labels[most].tolist()
    return Shares(None, values, _over(counted, counted.sum(axis=0))[most], _over(modelled, modelled.sum(axis=0))[most])


def _coded(model: CodedColumn, edges: Floats) -> Floats:
    """Each code is spread evenly between its ends; point masses are left out."""
    assert model.cuts is not None
    ends = np.concatenate([model.ends[:1], model.cuts, model.ends[1:]])
    low, high = ends[:-1], ends[1:]
    mass = np.exp(model.table()[: len(low)])
    share = _over(mass, mass.sum(axis=0))
    if model.atoms is not None:
        share[np.isfinite(model.atoms)] = 0.0
    width = np.where(high > low, high - low, 1.0)
    below = np.where(high > low, np.clip((edges[:, None] - low) / width, 0.0, 1.0), edges[:, None] > low)
    return np.asarray(np.diff(below @ share, axis=0))


def _by_density(model: ColumnModel, edges: Floats) -> Floats:
    along = (np.arange(_POINTS) + 0.5) / _POINTS
    points = edges[:-1, None] + np.diff(edges)[:, None] * along
    # Counts have a mass at whole numbers alone.
    at = np.rint(points) if model.family == "poisson" else points
    density = np.exp(model.scores(Column("", "number", at.ravel())))
    return np.asarray(density.reshape(*points.shape, -1).mean(axis=1) * np.diff(edges)[:, None])


def _over(part: Array, whole: Floats) -> Floats:
    return np.asarray(part / np.maximum(whole, 1e-300))
