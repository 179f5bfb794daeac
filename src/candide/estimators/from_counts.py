"""Estimators made from a statistic, as if they had learned the rows behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..data.index import Index, encode
from ..data.labeled_rows import label_array
from ..exceptions import InputError, ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array
from ..model.classifier import Classifier
from ..model.decisions import read_shares
from ..model.model import Model, completed
from ..model.state import State
from ..priors import Dirichlet
from ..specs.schema import Schema
from .base import BaseNB
from .given_tables import column_names

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
    """Return an estimator that has learned ``statistics``.

    ``classes`` are the labels of their classes, in any order; ``tables`` may be data frames that name the columns.
    """
    index, order = _sorted_classes(classes, len(statistics.rows))
    prior_name = kind._spec_type.class_prior_name
    if prior_name in settings:
        raise ParameterError(f"{prior_name} is given; here the prior of the classes is class_prior")
    settings = {name: _setting_in_order(value, order) for name, value in settings.items()}
    estimator = kind(**settings, **{prior_name: _prior_in_order(class_prior, index, order)})
    spec = estimator._spec()
    names, n_features = column_names(feature_names, *tables), statistics.n_columns
    schema = Schema(n_features, None if names is None else _read_names(names, n_features))
    bound = spec.bind(schema)
    if bound.looks_back or spec.compute_loo:
        raise ParameterError(
            "calibrate, compute_loo and alpha='loo' need training rows, and there are none here; leave them out, or "
            "fit rows"
        )
    bound.prior.check_weights(index)
    # A class without rows was named all the same, so it stays.
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
    """Return an estimator with given parameters, which are the maximum likelihood of ``statistics``."""
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
        raise InputError(f"classes has {len(labels)} labels for {n_classes} rows of the table; give one label per row")
    index, positions = encode(labels, Kernels())
    if len(index) < n_classes:
        twice = next(label for i, label in enumerate(labels.tolist()) if label in labels[:i].tolist())
        raise InputError(f"classes names {twice!r} twice; give every row of the table a label of its own")
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
            f"feature_names is {list(names)} for {n_features} columns; give one text per column, or leave it out"
        )
    if len(set(names)) < n_features:
        raise InputError(f"feature_names is {list(names)}; give every column a name of its own")
    return names
