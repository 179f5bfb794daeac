"""Checks of single parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError


def number(value: Any, name: str, most: float = np.inf) -> float:
    """Return a finite real parameter from 0 to ``most``."""
    real = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (real and 0 <= value <= most and value < np.inf):
        limit = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
        raise ParameterError(f"{name} is {value!r}; it must be a number {limit}")
    return float(value)


def whole_number(value: Any, name: str) -> int:
    """Return an integer parameter above 0."""
    if not (is_whole(value) and value >= 1):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number above 0")
    return int(value)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def flag(value: Any, name: str) -> bool:
    """Return a boolean parameter."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def choice(value: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Return a parameter that is one of several names."""
    if not isinstance(value, str) or value not in allowed:
        raise ParameterError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return str(value)
