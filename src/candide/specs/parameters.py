"""Checks of single parameters, and of ``parameter_prior``, ``estimate`` and ``class_prior`` as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..priors import ESTIMATES, Dirichlet, Estimate
from .class_prior import ClassPrior


def number(value: Any, name: str, most: float = np.inf, otherwise: str = "") -> float:
    """Return a finite real parameter from 0 to ``most``; ``otherwise`` describes other allowed values, for errors."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (real and 0 <= value <= most and value < np.inf):
        limit = "a non-negative number" if most == np.inf else f"a number from 0 to {most:g}"
        raise ParameterError(f"{name} is {value!r}; expected {limit}{otherwise}")
    return float(value)


def whole_number(value: Any, name: str) -> int:
    """Return an integer parameter above 0."""
    if not (is_whole(value) and value >= 1):
        raise ParameterError(f"{name} is {value!r}; expected a positive integer")
    return int(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def flag(value: Any, name: str) -> bool:
    """Return a boolean parameter."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Return a parameter that is one of several names."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")
    return str(value)


def read_estimate(estimate: Any, default: Estimate) -> Estimate:
    """Return the checked kind of estimate."""
    if estimate is None:
        return default
    if not isinstance(estimate, str) or estimate not in ESTIMATES:
        raise ParameterError(f"estimate is {estimate!r}; expected None, {', '.join(map(repr, ESTIMATES))}")
    checked: Estimate = estimate
    return checked


def read_prior(given: Any, kinds: tuple[type, ...], n_features: int, names: Sequence[Any] | None) -> Any:
    """Return the prior for all columns: one object, or one per column (a list or dict) combined."""
    if isinstance(given, kinds):
        _check_shape(given, n_features)
        return given
    if isinstance(given, Mapping):
        given = _in_order(given, n_features, names)
    allowed = " or ".join(kind.__name__ for kind in kinds)
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, kinds) for one in given):
        raise ParameterError(f"parameter_prior is {given!r}; expected a candide.priors.{allowed}, or one per column")
    if len(given) != n_features:
        raise ParameterError(
            f"parameter_prior has {len(given)} priors for {n_features} columns; pass one prior per column"
        )
    return tuple(given)


def stacked(priors: Any) -> Any:
    """Return the priors of single columns as one prior with an entry for each column."""
    if not isinstance(priors, tuple):
        return priors
    kind = type(priors[0])
    if any(type(one) is not kind for one in priors):
        raise ParameterError("the priors of the columns have different types; pass priors of the same type")
    columns = {field.name: [getattr(one, field.name) for one in priors] for field in fields(kind)}
    if any(np.ndim(value) for values in columns.values() for value in values):
        raise ParameterError("the prior of a column contains an array; expected single numbers")
    return kind(**{name: np.array(values) for name, values in columns.items()})


def _in_order(given: Mapping[Any, Any], n_features: int, names: Sequence[Any] | None) -> list[Any]:
    """Return priors by column name (x0, x1, … for columns without names) or position, in table order."""
    printed = [f"x{j}" for j in range(n_features)] if names is None else list(names)
    places = {name: j for j, name in enumerate(printed)} | {j: j for j in range(n_features)}
    found: dict[int, Any] = {}
    for key, prior in given.items():
        if key not in places or places[key] in found:
            what = f"two priors for column {key!r}" if key in places else f"a prior for the unknown column {key!r}"
            raise _wrong_column(what, printed)
        found[places[key]] = prior
    for j in range(n_features):
        if j not in found:
            raise _wrong_column(f"no prior for column {printed[j]!r}", printed)
    return [found[j] for j in range(n_features)]


def _wrong_column(what: str, printed: list[Any]) -> ParameterError:
    return ParameterError(f"parameter_prior has {what}; pass one prior for each of {printed[:10]}")


def _check_shape(prior: Any, n_features: int) -> None:
    for field in fields(prior):
        shape = np.shape(getattr(prior, field.name))
        if shape and (len(shape) > 2 or shape[-1] != n_features):
            raise ParameterError(
                f"{field.name} of the parameter_prior has shape {shape} for {n_features} columns; pass one number, "
                "one per column, or one row per class"
            )


def check_height(prior: Any, n_classes: int) -> None:
    """Check that a prior with one row per class has as many rows as there are classes."""
    by_column = isinstance(prior, tuple)
    for one in prior if by_column else (prior,):
        for name, value in ({} if one is None else vars(one)).items():
            if np.ndim(value) < 2 or (len(value) == n_classes and not by_column):
                continue
            what = "or one per value of the column" if by_column else "one per column, or one row per class, in order"
            raise ParameterError(
                f"{name} of a prior has shape {np.shape(value)} for {n_classes} classes; pass one number, {what}"
            )


def class_prior_of(given: Any, fitted: bool, class_weight: Any) -> ClassPrior:
    """Return the class prior for the parameters of an estimator."""
    if not isinstance(fitted, (bool, np.bool_)):
        raise ParameterError(f"fit_prior is {fitted!r}; expected True or False")
    weights, word = _read_class_weight(class_weight), given if isinstance(given, str) else None
    if word not in (None, "smoothed", "uniform"):
        raise ParameterError(
            f"the class prior is {given!r}; expected None (class frequencies), 'smoothed', 'uniform', a Dirichlet, or "
            "one probability per class (in sorted order, or a dict by label)"
        )
    if given is None or word == "uniform":
        return ClassPrior(None, bool(fitted) and given is None, weights)
    if word is None and not isinstance(given, Dirichlet):
        return ClassPrior(_read_shares(given), bool(fitted), weights)
    if not fitted:
        raise ParameterError(
            f"fit_prior is False, which makes the class prior uniform, but class_prior is {given!r}, which estimates "
            "it from the rows; omit one of them"
        )
    return ClassPrior(None, True, weights, 1.0 if word else given.concentration)


def _read_shares(given: Any) -> Any:
    if isinstance(given, Mapping):
        return {label: number(share, f"the class prior of {label!r}") for label, share in given.items()}
    try:
        return np.array(given, dtype=np.float64)  # a copy: the caller may change its own later
    except (TypeError, ValueError):
        raise ParameterError(f"the class prior is {given!r}; expected one probability per class, or None") from None


def _read_class_weight(class_weight: Any) -> Any:
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ParameterError(f"class_weight is {class_weight!r}; expected a dict, 'balanced' or None")
    for label, weight in class_weight.items():
        number(weight, f"class_weight of {label!r}")
    return dict(class_weight)
