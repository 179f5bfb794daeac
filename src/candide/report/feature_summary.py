"""The features of a model: their information about the class and their distributions per class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.columns import Column
from ..data.dates import WEEKDAYS
from ..exceptions import ParameterError
from ..explain.importance import information, top_values
from ..families.columns import ColumnModel
from ..families.columns.base import CodedColumn
from ..families.columns.histogram import may_be_whole, middles
from ..families.table import TableFamily
from ..families.table_likelihood import TableLikelihood
from ..kernels.layouts import Array, Floats
from ..model.summary import by_feature_set
from ..model.table import Table
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics

if TYPE_CHECKING:
    from .model_report import ReportedModel

# The maximal number of charts, and the minimal information of a column with a chart.
_MAX_CHARTS, _MIN_BITS = 12, 1e-4
# The number of values shown per class, and the maximal number of columns for which they are searched.
_N_VALUES, _MAX_COLUMNS = 8, 2_000


class FeatureSummary(NamedTuple):
    """Columns or groups of token features, the most informative first."""

    table: Table | None  # None if unknown
    top_features: Table | None = None  # class, term, score, bits: the most informative terms per class
    views: Table | None = None  # view, columns, contribution and weight of views of several columns
    pictures: dict[str, ColumnShares] | None = None  # distributions of the first columns, by name


def summarize_features(reported: ReportedModel) -> FeatureSummary:
    """Return the features of a model."""
    if reported.reads_texts:
        assert reported.summary is not None
        return FeatureSummary(by_feature_set(reported.summary), _top_terms(reported))
    return (
        _summarize_table(reported)
        if reported.is_table
        else FeatureSummary(_information(reported), _top_terms(reported))
    )


def _summarize_table(reported: ReportedModel) -> FeatureSummary:
    assert reported.summary is not None
    family, summary = reported.model.family, reported.summary
    assert isinstance(family, TableFamily)
    n_columns = len(family.names)
    bits = np.nan_to_num(summary["bits"][:n_columns])
    known = not np.isnan(summary["contribution"][:n_columns]).all()
    order = np.argsort(-np.nan_to_num(summary["contribution"][:n_columns]) if known else -bits, kind="stable")
    columns = Table({name: cells[:n_columns][order] for name, cells in summary.items()})
    more = np.flatnonzero(np.nan_to_num(summary["own_weight"][n_columns:]) > 0) + n_columns
    named = {"view": "column", "columns": "note", "contribution": "contribution", "weight": "own_weight"}
    views = Table({title: summary[name][more] for title, name in named.items()})
    pictured = [j for j in order.tolist() if bits[j] >= _MIN_BITS]
    return FeatureSummary(columns, _top_terms(reported), views, _distributions(reported, pictured))


def _distributions(reported: ReportedModel, columns: list[int]) -> dict[str, ColumnShares]:
    likelihood: Any = reported.model.likelihood
    assert isinstance(likelihood, TableLikelihood)
    statistics, out = reported.model.state.statistics, {}
    for j in columns[:_MAX_CHARTS]:
        found = column_shares(likelihood.models[j], statistics, j)
        if found is not None:
            out[str(reported.names[j])] = found
    return out


def _information(reported: ReportedModel) -> Table | None:
    """Return the information of each column; None if scores are not probabilities or columns are too many."""
    if len(reported.names) > _MAX_COLUMNS:
        return None
    try:
        return information(reported.model, reported.names)
    except ParameterError:
        return None


def _top_terms(reported: ReportedModel) -> Table | None:
    """Return the most informative words or column values of each class."""
    if reported.words is not None:
        words = reported.words
        return Table({"class": words["class"], "term": words["token"], "score": words["score"], "bits": words["bits"]})
    # Words of a text column would count as values; there may be hundreds of thousands.
    if len(reported.names) > _MAX_COLUMNS or len(reported.labels) < 2 or reported.holds_texts:
        return None
    try:
        found = top_values(reported.model, reported.names, _N_VALUES)
    except ParameterError:
        return None
    pairs = zip(found["column"].tolist(), found["value"].tolist(), strict=True)
    terms = np.array([f"{column} = {value}" for column, value in pairs], dtype=object)
    return Table({"class": found["class"], "term": terms, "score": found["score"], "bits": found["bits"]})


_N_BINS = 24
_MAX_VALUES = 12
# The number of points per bin at which a density is evaluated.
_POINTS = 8
# The share of numbers at either end that is not shown.
_TAIL_SHARE = 0.005


class ColumnShares(NamedTuple):
    """Shares of the rows of each class per bin or value, among rows whose cell is not missing.

    Point masses of a number column are not part of its bins.
    """

    edges: Floats | None  # of the bins of numbers
    values: list[Any]  # of categories
    counted: Floats  # (bins or values, classes)
    modeled: Floats
    point_masses: ColumnShares | None = None  # of numbers, by value


def column_shares(model: ColumnModel | None, statistics: TableStatistics, j: int) -> ColumnShares | None:
    """Return the shares of a column; None for columns without a likelihood or without values."""
    if model is None or not statistics.observed(j).sum():
        return None
    if isinstance(model, CodedColumn) and model.cuts is None:
        return _category_shares(model)
    if statistics.kinds[j] != "number":
        return None
    every = statistics.grid.column(statistics.place(j))
    cells, apart = every, None
    if isinstance(model, CodedColumn) and model.atoms is not None:
        values, weight, mass = model.point_masses()
        apart = ColumnShares(None, values.tolist(), _divide(weight, every.count.sum(axis=0)), mass)
        cells = Cells._make(part[~np.isin(every.low, values)] for part in every)
    edges = bin_edges(cells)
    if not len(edges):
        return apart
    place = np.searchsorted(edges, middles(cells), side="right") - 1
    counted = np.zeros((len(edges) - 1, cells.count.shape[1]))
    inside = (place >= 0) & (place < len(counted))
    np.add.at(counted, place[inside], cells.count[inside])
    modeled = _binned_shares(model, edges) if isinstance(model, CodedColumn) else _density_shares(model, edges)
    return ColumnShares(edges, [], _divide(counted, every.count.sum(axis=0)), modeled, apart)


def bin_edges(cells: Cells) -> Floats:
    """Return the edges of bins: around each number if there are few, else of equal width.

    >>> bin_edges(Cells(np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0]), np.ones((3, 2))))
    array([0.5, 1.5, 3. , 5. ])
    """
    weight, at = cells.count.sum(axis=1), middles(cells)
    if len(at) < 2:
        return np.zeros(0)
    if len(at) <= _N_BINS:
        between = at[:-1] / 2 + at[1:] / 2
        return np.concatenate([[2 * at[0] - between[0]], between, [2 * at[-1] - between[-1]]])
    ranks = np.cumsum(weight) / weight.sum()
    low, high = at[np.minimum(np.searchsorted(ranks, [_TAIL_SHARE, 1 - _TAIL_SHARE]), len(at) - 1)].tolist()
    if not (low < high and np.isfinite(high - low)):
        return np.zeros(0)
    if may_be_whole(cells).all():
        # Each bin has the same number of integers.
        width = np.ceil((high - low + 1) / _N_BINS)
        return np.asarray(low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1))
    return np.linspace(low, high, _N_BINS + 1)


def _category_shares(model: CodedColumn) -> ColumnShares:
    """Return the shares of the most frequent values."""
    assert model.labels is not None
    n_values = len(model.labels)
    counted, modeled = model.count[:n_values], np.exp(model.table()[:n_values])
    most = np.argsort(-counted.sum(axis=1), kind="stable")[:_MAX_VALUES]
    most = most[_natural_order(model.labels[most].tolist())]
    values = model.labels[most].tolist()
    return ColumnShares(
        None, values, _divide(counted, counted.sum(axis=0))[most], _divide(modeled, modeled.sum(axis=0))[most]
    )


def _natural_order(values: list[Any]) -> list[int]:
    """Return the order of numbers and of days of the week; other values stay as they are.

    >>> _natural_order([10, 9, 12]), _natural_order(["Sunday", "Friday"]), _natural_order(["red", "blue"])
    ([1, 0, 2], [1, 0], [0, 1])
    """
    if set(values) <= set(WEEKDAYS):
        keys: list[Any] = [WEEKDAYS.index(value) for value in values]
    elif all(isinstance(value, (int, float)) for value in values):
        keys = values
    else:
        return list(range(len(values)))
    return sorted(range(len(values)), key=keys.__getitem__)


def _binned_shares(model: CodedColumn, edges: Floats) -> Floats:
    """Return the shares of a histogram, whose mass is uniform within each of its bins; without point masses."""
    assert model.cuts is not None
    ends = np.concatenate([model.ends[:1], model.cuts, model.ends[1:]])
    low, high = ends[:-1], ends[1:]
    mass = np.exp(model.table()[: len(low)])
    share = _divide(mass, mass.sum(axis=0))
    if model.atoms is not None:
        share[np.isfinite(model.atoms)] = 0.0
    width = np.where(high > low, high - low, 1.0)
    below = np.where(high > low, np.clip((edges[:, None] - low) / width, 0.0, 1.0), edges[:, None] > low)
    return np.asarray(np.diff(below @ share, axis=0))


def _density_shares(model: ColumnModel, edges: Floats) -> Floats:
    along = (np.arange(_POINTS) + 0.5) / _POINTS
    points = edges[:-1, None] + np.diff(edges)[:, None] * along
    # Counts have mass at integers only.
    at = np.rint(points) if model.family == "poisson" else points
    density = np.exp(model.scores(Column("", "number", at.ravel())))
    return np.asarray(density.reshape(*points.shape, -1).mean(axis=1) * np.diff(edges)[:, None])


def _divide(part: Array, whole: Floats) -> Floats:
    return np.asarray(part / np.maximum(whole, 1e-300))
