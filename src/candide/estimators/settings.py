"""Parameters of estimators, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..model.plan import ClassPrior


def class_prior_of(given: Any, fitted: bool, class_weight: Any) -> ClassPrior:
    """A class prior from an estimator's parameters."""
    if not isinstance(fitted, (bool, np.bool_)):
        raise ParameterError(f"fit_prior is {fitted!r}; it must be True or False")
    values = None
    if given is not None:
        try:
            values = np.array(given, dtype=np.float64)  # a copy: the caller may change its own later
        except (TypeError, ValueError):
            raise ParameterError(f"the class prior is {given!r}; give one probability per class, or None") from None
    if not (class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced")):
        if not isinstance(class_weight, Mapping):
            raise ParameterError(f"class_weight is {class_weight!r}; it must be a dict, 'balanced' or None")
        for label, weight in class_weight.items():
            number(weight, f"class_weight of {label!r}")
        class_weight = dict(class_weight)
    return ClassPrior(values, bool(fitted), class_weight)


def number(value: Any, name: str, most: float = np.inf) -> float:
    """A finite real parameter from 0 to ``most``."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (real and 0 <= value <= most and value < np.inf):
        limit = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
        raise ParameterError(f"{name} is {value!r}; it must be a number {limit}")
    return float(value)
