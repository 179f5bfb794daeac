"""Rows with a single cell, to ask a model what the values of one column say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..data.columns import Column, Columns
from ..estimators import BernoulliNB, CategoricalNB, GaussianNB, NaiveBayes, TextNB
from ..estimators.base import BaseNB
from ..exceptions import ParameterError
from ..explain.dates import date_columns, written
from ..families.columns.histogram import are_whole
from ..kernels.layouts import Array, Floats
from ..statistics.table import TableStatistics
from . import style

# Values shown of a number column; standard deviations around the means where the numbers seen are not known.
_N_VALUES = 41
_N_ROUND = 7
_DEVIATIONS = 2.5


class Scale(NamedTuple):
    """Values of one column to ask about, in order."""

    place: int
    name: str
    cells: Array  # as a row holds them
    labels: list[str] | None  # None: numbers, which speak for themselves
    whole: bool = False  # numbers between which there are none
    dates: bool = False  # numbers that are days

    def written(self, cell: float) -> str:
        """A number as people read it."""
        return str(written(cell)) if self.dates else style.number(cell)


def named_place(model: BaseNB, column: Any) -> int:
    """Where a column is, by its name or place."""
    names = model._fitted().column_names().tolist()
    if column in names:
        return int(names.index(column))
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    shown = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
    raise ParameterError(f"{column!r} is no column of this model, which has {shown}; name one of these")


def scale_of(model: BaseNB, place: int) -> Scale | None:
    """The values of a column; None where there are none that could be shown: nothing was seen, or texts."""
    name = str(model._fitted().column_names()[place])
    if isinstance(model, TextNB):
        raise ParameterError("a TextNB has tokens, no columns; see word_shift and token_scatter")
    if isinstance(model, NaiveBayes):
        return _of_table(model._fitted().classifier.state.statistics, place, name)
    if isinstance(model, CategoricalNB):
        values = model.categories_[place]
        return Scale(place, name, values, [str(value) for value in values]) if len(values) else None
    if isinstance(model, BernoulliNB):
        off = 0.0 if model.binarize is None else float(model.binarize)
        return Scale(place, name, np.array([off, off + 1.0]), ["off", "on"])
    if isinstance(model, GaussianNB):
        return _of_normal(model, place, name)
    return _of_counts(model, place, name)


def _of_table(statistics: TableStatistics, place: int, name: str) -> Scale | None:
    kind, at = statistics.kinds[place], statistics.place(place)
    if kind == "category":
        labels = statistics.categories.labels[at]
        return Scale(place, name, np.arange(len(labels)), [str(label) for label in labels])
    if kind != "number" or not statistics.observed(place).any():
        return None
    cells = statistics.grid.column(at)
    dates = place in date_columns(list(statistics.names))
    if are_whole(cells) and len(cells.low) <= _N_VALUES:
        return Scale(place, name, cells.low, None, True, dates)
    return Scale(place, name, _between(float(cells.low[0]), float(cells.high[-1])), None, dates=dates)


def _of_normal(model: GaussianNB, place: int, name: str) -> Scale | None:
    mean, deviation = model.theta_[:, place], np.sqrt(model.var_[:, place])
    if not np.isfinite(mean).any():
        return None
    low, high = np.nanmin(mean - _DEVIATIONS * deviation), np.nanmax(mean + _DEVIATIONS * deviation)
    return Scale(place, name, _between(low, high), None)


def _between(low: float, high: float) -> Floats:
    """Numbers of a stretch: evenly spaced ones, and round ones."""
    round_ones = np.asarray(MaxNLocator(_N_ROUND).tick_values(low, high))
    inside = round_ones[(round_ones >= low) & (round_ones <= high)]
    return np.unique(np.concatenate([np.linspace(low, high, _N_VALUES), inside]))


def _of_counts(model: BaseNB, place: int, name: str) -> Scale:
    """Whole numbers up to what is usual in the class that has most."""
    only = model._fitted().classifier.state.statistics.only(place)
    mean = float((np.asarray(only.total).ravel() / np.maximum(only.rows, 1e-300)).max())
    most = max(1, int(np.ceil(mean + 2 * np.sqrt(mean))))
    cells = np.unique(np.linspace(0, most, min(most + 1, _N_VALUES)).round())
    return Scale(place, name, cells, None, True)


def rows_of(model: BaseNB, cells: Sequence[tuple[int, Array]], n_rows: int) -> Any:
    """Encoded rows in which all cells are missing but those of some columns, given by place as a ``Scale`` has them."""
    if isinstance(model, NaiveBayes):
        return _table(model._fitted().classifier.state.statistics, dict(cells), n_rows)
    if isinstance(model, CategoricalNB):
        values = np.full((n_rows, model.n_features_in_), None, dtype=object)
    else:
        values = np.full((n_rows, model.n_features_in_), np.nan)
    for place, column in cells:
        values[:, place] = column
    return model._fitted().spec.encode(values)


def _table(statistics: TableStatistics, cells: dict[int, Array], n_rows: int) -> Columns:
    columns = []
    for j, (name, kind) in enumerate(zip(statistics.names, statistics.kinds, strict=True)):
        if kind == "category":
            codes = np.asarray(cells.get(j, np.full(n_rows, -1)), dtype=np.int32)
            columns.append(Column(name, kind, codes, statistics.categories.labels[statistics.place(j)]))
        else:
            values: Floats = np.asarray(cells.get(j, np.full(n_rows, np.nan)), dtype=np.float64)
            columns.append(Column(name, "missing" if kind == "text" else kind, values))
    return Columns(tuple(columns), n_rows)


def log_probability(model: BaseNB, cells: Sequence[tuple[int, Array]], n_rows: int) -> Floats:
    """log p(class | these cells), as the model itself says, ``(rows, classes)``."""
    return model._fitted().classifier.posterior(rows_of(model, cells, n_rows), model._fitted().kernels, logarithm=True)
