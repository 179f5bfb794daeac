"""Parameters of estimators, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError

# Values of parameters that nobody gave, known by identity: ``MultinomialNB(estimate="mle")`` means no pseudo-count, but
# ``MultinomialNB(estimate="mle", alpha=1.0)`` contradicts itself. (``float`` of a text makes an object of its own.)
DEFAULTS = {"alpha": float("1.0"), "beta": float("1.0"), "var_smoothing": float("1e-9")}


def is_given(name: str, value: Any) -> bool:
    """Whether a user gave this parameter, be it with the value that it has anyway."""
    return value is not None and value is not DEFAULTS.get(name)


def number(value: Any, name: str, most: float = np.inf) -> float:
    """A finite real parameter from 0 to ``most``."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (real and 0 <= value <= most and value < np.inf):
        limit = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
        raise ParameterError(f"{name} is {value!r}; it must be a number {limit}")
    return float(value)


def whole_number(value: Any, name: str) -> int:
    """A whole parameter above 0."""
    if not (is_whole(value) and value >= 1):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number above 0")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, and no flag."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def flag(value: Any, name: str) -> bool:
    """A parameter that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """A parameter that is one of several words."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return str(value)
