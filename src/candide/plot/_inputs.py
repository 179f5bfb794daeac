"""Inputs of plots: checks of models, classes by label, evaluations, and scores of single cells and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..data.column_selection import did_you_mean, quote_names
from ..data.columns import Column, Columns
from ..estimators import BernoulliNB, CategoricalNB, GaussianNB, NaiveBayes, TextNB
from ..estimators.base import BaseNB
from ..exceptions import InputError, ParameterError
from ..explain.importance import information, summary_with_importance
from ..explain.terms import date_columns, written
from ..families.columns.histogram import are_whole
from ..kernels.layouts import Array, Floats
from ..model.evaluation import Evaluation
from ..model.marginal_likelihood import class_place
from ..statistics.table import TableStatistics
from . import style


def check_fitted(model: Any, picture: str, kind: type[BaseNB] = BaseNB) -> Any:
    """Check that a model is a fitted candide estimator of this kind, and return it."""
    if not isinstance(model, kind):
        raise ParameterError(f"{picture} requires a fitted {_kind_name(kind)}, got a {type(model).__name__}")
    model._fitted()
    return model


def _kind_name(kind: type[BaseNB]) -> str:
    return "candide model" if kind is BaseNB else kind.__name__


def class_position(model: BaseNB, label: Any) -> int:
    """Return the position of a class among those of a model."""
    return class_place(model._fitted().classifier.classes.labels, label)


def class_pair(model: BaseNB, of: Any, against: Any) -> tuple[int, int | None]:
    """Return the positions of a class, by default the largest or the second of two, and of the one against it.

    None stands for all other classes.
    """
    labels = model.classes_.tolist()
    if len(labels) < 2:
        raise ParameterError(
            f"this plot compares classes, but the model has only {labels[0]!r}; fit it on at least two classes"
        )
    if of is None and len(labels) > 2:
        order = np.argsort(-model._fitted().class_count, kind="stable").tolist()
        of = next(labels[k] for k in order if labels[k] != against)
    elif of is None:
        of = labels[0] if against == labels[1] else labels[1]
    if of == against:
        raise ParameterError(f"of and against are both {of!r}; pass two different classes, or omit against")
    first = class_position(model, of)
    if against is None:
        return first, 1 - first if len(labels) == 2 else None
    return first, class_position(model, against)


def log_odds(log_probability: Floats, of: int, against: int | None) -> Floats:
    """Return the log-odds of one class against another, or against all others together, ``(rows,)``."""
    if against is None:
        rest = np.logaddexp.reduce(np.delete(log_probability, of, axis=1), axis=1)
    else:
        rest = log_probability[:, against]
    with np.errstate(invalid="ignore"):
        return np.asarray(log_probability[:, of] - rest)


def evaluate(model: BaseNB, X: Any, y: Any, sample_weight: Any) -> Evaluation:
    """Evaluate the model on given rows, or on its training rows, each left out."""
    fitted = model._fitted()
    if X is None:
        if y is not None:
            raise InputError("y is given without X; pass both, or neither to evaluate the model on its training rows")
        return fitted.loo if fitted.has_loo else _no_evaluation(model)
    return Evaluation.from_row_scores([fitted.scored_rows(X, y, sample_weight)], fitted.classes)


def _no_evaluation(model: BaseNB) -> Evaluation:
    raise ParameterError(
        f"this {type(model).__name__} keeps no training rows; pass X and y, or construct it with compute_loo=True "
        "and fit again"
    )


def describe_rows(X: Any) -> str:
    """Return the name of the rows that a plot was made from."""
    return "training rows, leave-one-out" if X is None else "evaluation rows"


# Number of values shown of a numeric column, and standard deviations around the means if its range is unknown.
_N_VALUES = 41
_N_ROUND = 7
_DEVIATIONS = 2.5


class Scale(NamedTuple):
    """Values of one column to evaluate, in order."""

    place: int
    name: str
    cells: Array  # as in a row
    labels: list[str] | None  # None: numbers
    whole: bool = False  # whether the values are integers
    dates: bool = False  # whether the values are days

    def written(self, cell: float) -> str:
        """Return a number as text."""
        return str(written(cell)) if self.dates else style.number(cell)


def column_position(model: BaseNB, column: Any) -> int:
    """Return the position of a column, given its name or position."""
    names = model._fitted().column_names().tolist()
    if column in names:
        return int(names.index(column))
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    hint = did_you_mean(column, names, "pass one of these")
    raise ParameterError(f"{column!r} is not a column of this model; its columns are {quote_names(names)}; {hint}")


def informative_columns(model: BaseNB, positions: Sequence[int], n: int) -> list[int]:
    """Return the positions of the ``n`` columns with the most information about the class, in table order."""
    if len(positions) <= n:
        return list(positions)
    fitted = model._fitted()
    if isinstance(model, NaiveBayes):
        bits = np.nan_to_num(summary_with_importance(fitted.classifier, fitted.column_names(), fitted.kernels)["bits"])
    else:
        found = information(fitted.classifier, np.arange(len(fitted.column_names())))
        bits = np.zeros(len(fitted.column_names()))
        bits[found["column"].astype(np.intp)] = found["bits"]
    return sorted(sorted(positions, key=lambda j: -bits[j])[:n])


def column_scale(model: BaseNB, place: int) -> Scale | None:
    """Return the values of a column to show; None for texts and for columns without values."""
    name = str(model._fitted().column_names()[place])
    if isinstance(model, TextNB):
        raise ParameterError("this plot shows a column, but a TextNB has tokens; use word_shift or token_scatter")
    if isinstance(model, NaiveBayes):
        return _table_scale(model._fitted().classifier.state.statistics, place, name)
    if isinstance(model, CategoricalNB):
        values = model.categories_[place]
        return Scale(place, name, values, [str(value) for value in values]) if len(values) else None
    if isinstance(model, BernoulliNB):
        off = 0.0 if model.binarize is None else float(model.binarize)
        return Scale(place, name, np.array([off, off + 1.0]), ["off", "on"])
    if isinstance(model, GaussianNB):
        return _normal_scale(model, place, name)
    return _count_scale(model, place, name)


def _table_scale(statistics: TableStatistics, place: int, name: str) -> Scale | None:
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
    return Scale(place, name, _number_grid(float(cells.low[0]), float(cells.high[-1])), None, dates=dates)


def _normal_scale(model: GaussianNB, place: int, name: str) -> Scale | None:
    mean, deviation = model.theta_[:, place], np.sqrt(model.var_[:, place])
    if not np.isfinite(mean).any():
        return None
    low, high = np.nanmin(mean - _DEVIATIONS * deviation), np.nanmax(mean + _DEVIATIONS * deviation)
    return Scale(place, name, _number_grid(low, high), None)


def _number_grid(low: float, high: float) -> Floats:
    """Return the numbers of an interval: evenly spaced ones, and round ones."""
    round_ones = np.asarray(MaxNLocator(_N_ROUND).tick_values(low, high))
    inside = round_ones[(round_ones >= low) & (round_ones <= high)]
    return np.unique(np.concatenate([np.linspace(low, high, _N_VALUES), inside]))


def _count_scale(model: BaseNB, place: int, name: str) -> Scale:
    """Return integers up to a usual count in the class with the largest mean."""
    only = model._fitted().classifier.state.statistics.only(place)
    mean = float((np.asarray(only.total).ravel() / np.maximum(only.rows, 1e-300)).max())
    most = max(1, int(np.ceil(mean + 2 * np.sqrt(mean))))
    cells = np.unique(np.linspace(0, most, min(most + 1, _N_VALUES)).round())
    return Scale(place, name, cells, None, True)


def single_cell_rows(model: BaseNB, cells: Sequence[tuple[int, Array]], n_rows: int) -> Any:
    """Return encoded rows in which only some columns are given, by position, in the values of a ``Scale``."""
    if isinstance(model, NaiveBayes):
        return _single_cell_table(model._fitted().classifier.state.statistics, dict(cells), n_rows)
    if isinstance(model, CategoricalNB):
        values = np.full((n_rows, model.n_features_in_), None, dtype=object)
    else:
        values = np.full((n_rows, model.n_features_in_), np.nan)
    for place, column in cells:
        values[:, place] = column
    return model._fitted().spec.encode(values)


def _single_cell_table(statistics: TableStatistics, cells: dict[int, Array], n_rows: int) -> Columns:
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
    """Return log p(class | these cells) of the model, ``(rows, classes)``."""
    return model._fitted().classifier.posterior(
        single_cell_rows(model, cells, n_rows), model._fitted().kernels, logarithm=True
    )
