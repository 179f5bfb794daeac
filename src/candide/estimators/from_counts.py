"""Estimators from tables of parameters or counts, as in textbook exercises.

Counts are converted to the statistics that rows would have. Parameters are converted to statistics with one row per
class whose maximum likelihood estimates are these parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..data.arrays import is_missing
from ..data.categories import encode_categories, read_categories
from ..data.index import Index, encode
from ..data.labeled_rows import label_array
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..model.classifier import Classifier
from ..model.decisions import read_shares
from ..model.model import Model, completed
from ..model.state import State
from ..priors import Dirichlet
from ..specs.schema import Schema
from ..statistics import CategoryCounts, Counts, Moments
from .base import BaseNB

Estimator = TypeVar("Estimator", bound=BaseNB)


def ready_model(
    kind: type[Estimator],
    statistics: Any,
    tables: Sequence[Any],
    classes: Any,
    class_prior: Any,
    feature_names: Any,
    settings: dict[str, Any],
) -> Estimator:
    """Return an estimator fitted to ``statistics``.

    ``classes`` are the labels of their classes, in any order; ``tables`` may be data frames that name the columns.
    """
    index, order = _sorted_classes(classes, len(statistics.rows))
    prior_name = kind._spec_type.class_prior_name
    if prior_name in settings:
        raise ParameterError(f"{prior_name} cannot be passed with a table; pass the class prior as class_prior")
    settings = {name: _setting_in_order(value, order) for name, value in settings.items()}
    estimator = kind(**settings, **{prior_name: _prior_in_order(class_prior, index, order)})
    spec = estimator._spec()
    names, n_features = column_names(feature_names, *tables), statistics.n_columns
    schema = Schema(n_features, None if names is None else _read_names(names, n_features))
    bound = spec.bind(schema)
    if bound.looks_back or spec.compute_loo:
        raise ParameterError(
            "calibrate, compute_loo and alpha='loo' need training rows, but a model built from counts has none; omit "
            "these parameters, or call fit with rows"
        )
    bound.prior.check_weights(index)
    # Classes without rows are kept, because the user named them.
    state = State(index, statistics.rows[order] <= 0, statistics.take(order))
    estimator.model_ = Model(spec, schema, completed(spec, Classifier(bound, state)))
    return estimator


def given_model(
    kind: type[Estimator],
    statistics: Any,
    tables: Sequence[Any],
    classes: Any,
    class_prior: Any,
    feature_names: Any,
    **settings: Any,
) -> Estimator:
    """Return an estimator with given parameters, the maximum likelihood estimates of ``statistics``."""
    settings["estimate"] = "mle"
    estimator = ready_model(kind, statistics, tables, classes, class_prior, feature_names, settings)
    estimator.model_ = replace(estimator.model_, has_given_parameters=True)
    return estimator


def _sorted_classes(classes: Any, n_classes: int) -> tuple[Index, Array]:
    """Return the labels in sorted order, and the position of each in ``classes``."""
    if classes is None:
        return Index(np.arange(n_classes)), np.arange(n_classes)
    labels = label_array(classes)
    if len(labels) != n_classes:
        raise InputError(f"classes has {len(labels)} labels for {n_classes} rows of the table; pass one label per row")
    index, positions = encode(labels, Kernels())
    if len(index) < n_classes:
        twice = next(label for i, label in enumerate(labels.tolist()) if label in labels[:i].tolist())
        raise InputError(f"classes contains {twice!r} twice; expected unique labels")
    return index, np.argsort(positions)


def _prior_in_order(class_prior: Any, index: Index, order: Array) -> Any:
    """Return a class prior for the sorted classes from one in the given order."""
    if class_prior is None or isinstance(class_prior, str):
        return class_prior
    if isinstance(class_prior, Dirichlet):
        per_class = np.ndim(class_prior.concentration) > 0
        return Dirichlet(_moved(np.asarray(class_prior.concentration), order)) if per_class else class_prior
    shares = read_shares(class_prior, index.labels)
    return shares if isinstance(class_prior, dict) else _moved(shares, order)


def _setting_in_order(value: Any, order: Array) -> Any:
    """Return ``alpha`` or a prior with a row per class, for the sorted classes."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _setting_in_order(getattr(value, f.name), order) for f in fields(value)})
    try:
        rows = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return value
    return rows[order] if rows.ndim == 2 and len(rows) == len(order) else value


def _moved(values: Array, order: Array) -> Any:
    """Return values in another order if there is one for each class; other shapes are checked where they are used."""
    return values[order] if values.shape == order.shape else values


def _read_names(feature_names: Any, n_features: int) -> tuple[str, ...]:
    names = tuple(feature_names)
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"feature_names is {list(names)} for {n_features} columns; pass one string per column, or omit it"
        )
    if len(set(names)) < n_features:
        raise InputError(f"feature_names is {list(names)}; expected unique names")
    return names


def read_table(
    values: Any, name: str, shape: tuple[int, int] | None = None, least: float = 0.0, most: float = np.inf
) -> Floats:
    """Return a copy of a table of numbers from ``least`` to ``most``, one row per class."""
    table = _numbers(values, name)
    if table.ndim != 2 or not table.size:
        raise InputError(f"{name} has shape {table.shape}; expected one row per class and one column per feature")
    if shape is not None and table.shape != shape:
        raise InputError(
            f"{name} has shape {table.shape}, but the other table has {shape}; pass tables of the same shape"
        )
    _check_range(table, name, least, most)
    return table


def column_names(feature_names: Any, *tables: Any) -> Any:
    """Return the given names of the columns; by default those of data frames, if they are strings."""
    if feature_names is not None:
        return feature_names
    frames = dict.fromkeys(tuple(table.columns) for table in tables if hasattr(table, "columns"))
    named = [names for names in frames if all(isinstance(name, str) for name in names)]
    if len(named) > 1:
        raise InputError(
            f"the tables have different column names, {list(named[0])} and {list(named[1])}; pass the same columns in "
            "the same order"
        )
    return named[0] if named else None


def read_class_count(class_count: Any, n_classes: int) -> Floats:
    """Return the number of rows of each class; by default one."""
    if class_count is None:
        return np.ones(n_classes)
    count = _numbers(class_count, "class_count")
    if count.shape != (n_classes,):
        raise InputError(f"class_count has shape {count.shape} for {n_classes} classes; pass one number per class")
    _check_range(count, "class_count", 0.0, np.inf)
    if not count.any():
        raise InputError("class_count is 0 for every class; expected at least one positive number")
    return count


def _numbers(values: Any, name: str) -> Floats:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not a table of numbers ({error}); pass rows of equal length") from None


def _check_range(values: Floats, name: str, least: float, most: float) -> None:
    odd = np.argwhere(~(np.isfinite(values) & (values >= least) & (values <= most)))
    if len(odd):
        place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), odd[0].tolist(), strict=False))
        limits = (
            f"numbers from {least:g} to {most:g}"
            if most < np.inf
            else "non-negative numbers"
            if least == 0
            else ("finite numbers")
        )
        raise InputError(f"{name} contains {values[tuple(odd[0])]:g} at {place}; expected {limits}")


def read_probabilities(probability: Any, name: str = "probability") -> Floats:
    """Return a table of probabilities, after a check that each row sums to 1."""
    table = read_table(probability, name, most=1.0)
    total = table.sum(axis=1)
    odd = np.flatnonzero(~np.isclose(total, 1.0))
    if len(odd):
        raise InputError(
            f"row {odd[0]} of {name} sums to {total[odd[0]]:.6g}; expected probabilities that sum to 1 per class; "
            "divide them by their sum, or pass counts to from_counts"
        )
    return np.asarray(table / total[:, None])


def presences(count: Any, class_count: Any = None) -> Counts:
    """Return statistics from the number of rows of each class in which a column is 1."""
    table = read_table(count, "count")
    rows = read_class_count(class_count, len(table))
    odd = np.argwhere(table > rows[:, None])
    if len(odd):
        i, j = odd[0].tolist()
        raise InputError(
            f"count contains {table[i, j]:g} at row {i}, column {j}, but that class has only {rows[i]:g} rows; "
            "expected at most the number of rows; for sums of counts use MultinomialNB or PoissonNB"
        )
    return Counts(rows, table, None, presence=True)


def sums(total: Any, name: str, class_count: Any = None) -> Counts:
    """Return statistics from the sum of each column over the rows of each class."""
    table = read_table(total, name)
    rows = read_class_count(class_count, len(table))
    odd = np.flatnonzero((rows <= 0) & table.any(axis=1))
    if len(odd):
        raise InputError(f"row {odd[0]} of {name} contains counts, but its class_count is 0; correct one of them")
    return Counts(rows, table, None)


def moments(mean: Any, variance: Any, class_count: Any = None, ddof: float = 0.0) -> Moments:
    """Return statistics from means and variances with divisor n − ``ddof``."""
    center = read_table(mean, "mean", least=-np.inf)
    spread = read_table(variance, "variance", center.shape)
    rows = read_class_count(class_count, len(center))
    empty = np.flatnonzero((rows <= 0) & (center.any(axis=1) | spread.any(axis=1)))
    if len(empty):
        raise InputError(
            f"row {empty[0]} of mean or variance is not 0, but its class_count is 0; correct class_count, or pass "
            "zeros for this class"
        )
    divisor = rows - ddof
    odd = np.flatnonzero((divisor <= 0) & (rows > 0) & spread.any(axis=1))
    if len(odd):
        raise InputError(
            f"row {odd[0]} of variance has a positive value, but class_count is {rows[odd[0]]:g} and ddof is {ddof:g}; "
            "a variance needs more rows than ddof; correct variance or class_count"
        )
    weight = np.repeat(rows[:, None], center.shape[1], axis=1)
    return Moments(rows, weight, center, spread * np.maximum(divisor, 0.0)[:, None])


def table_categories(categories: Any, tables: Any) -> Any:
    """Return the given categories of each column; by default the column names of data frames."""
    if categories is not None or not len(tables) or not all(hasattr(table, "columns") for table in tables):
        return categories
    named = [list(table.columns) for table in tables]
    return None if named == [list(range(len(values))) for values in named] else named


def category_shares(tables: Any, categories: Any) -> tuple[CategoryCounts, list[Array]]:
    """Return statistics from the probabilities of categories, and the position of each sorted category in its table."""
    shares = _read_tables(tables, read_probabilities)
    return _in_slots(np.ones(len(shares[0])), shares, categories)


def category_counts(tables: Any, class_count: Any, categories: Any) -> tuple[CategoryCounts, list[Array]]:
    """Return statistics from the number of rows of each class and category, and the position of each sorted category.

    By default, the number of rows of a class is the largest sum over the categories of a column.
    """
    counts = _read_tables(tables, read_table)
    observed = np.stack([count.sum(axis=1) for count in counts], axis=1)
    rows = read_class_count(observed.max(axis=1) if class_count is None else class_count, len(observed))
    odd = np.argwhere(observed > rows[:, None] * (1 + 1e-12))
    if len(odd):
        i, j = odd[0].tolist()
        raise InputError(
            f"row {i} of table {j} sums to {observed[i, j]:g}, but that class has only {rows[i]:g} rows, each with at "
            "most one value per column; correct one of them"
        )
    return _in_slots(rows, counts, categories)


def _read_tables(tables: Any, read: Callable[[Any, str], Floats]) -> list[Floats]:
    found = [read(table, f"table {j}") for j, table in enumerate(tables)]
    heights = {len(table) for table in found}
    if len(heights) != 1:
        what = f"tables of {' and '.join(map(str, sorted(heights)))} rows" if heights else "no tables"
        raise InputError(f"found {what}; expected one table per column, each with one row per class")
    return found


def _in_slots(rows: Floats, tables: list[Floats], categories: Any) -> tuple[CategoryCounts, list[Array]]:
    """Return statistics with all declared categories, including those with a count of 0."""
    if categories is None:
        codes = [np.arange(table.shape[1]) for table in tables]
        return CategoryCounts(rows, tuple(codes), np.hstack(tables)), codes
    if len(categories) != len(tables):
        raise InputError(f"categories has {len(categories)} lists for {len(tables)} columns; pass one list per column")
    places = [
        _sorted_values(list(values), table, j) for j, (values, table) in enumerate(zip(categories, tables, strict=True))
    ]
    count = np.hstack([table[:, order] for table, (_, order) in zip(tables, places, strict=True)])
    return CategoryCounts(rows, tuple(labels for labels, _ in places), count), [order for _, order in places]


def _sorted_values(values: Sequence[Any], table: Floats, j: int) -> tuple[Array, Array]:
    """Return the categories sorted as in training, and the position of each in the given list."""
    what = f"categories of column {j} are {values!r}"
    if len(values) != table.shape[1]:
        raise InputError(
            f"{what}, but its table of counts has {table.shape[1]} columns; pass one category per column of that table"
        )
    if any(is_missing(value) for value in values):
        raise InputError(
            f"{what}, which include a missing value; missing values are not counted; remove it and its counts"
        )
    coded = encode_categories(read_categories([[value] for value in values]), 1, Kernels())
    codes = coded.codes.column(0).astype(np.int64)
    if len(np.unique(codes)) < len(codes):
        raise InputError(f"{what}; expected distinct values")
    order = np.argsort(codes)
    return coded.labels[0][codes[order]], order
