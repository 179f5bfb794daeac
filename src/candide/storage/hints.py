"""Whether a value is what a type hint says."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from .nouns import MEMBERS


@cache
def hints_of(noun: Any) -> dict[str, Any]:
    """The types of a noun's fields, by name."""
    return get_type_hints(noun)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type as dataclasses of the house declare them.

    >>> fits((1, 2), tuple[int, ...]), fits(1, float), fits(True, int), fits("a", Literal["a", "b"] | None)
    (True, True, False, True)
    """
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    return _fits_generic(value, hint) if get_args(hint) else _fits_class(value, hint)


def _fits_class(value: Any, hint: Any) -> bool:
    if hint in (int, float):
        numbers = (int, np.integer) if hint is int else (int, float, np.integer, np.floating)
        return isinstance(value, numbers) and not isinstance(value, bool)
    return isinstance(value, MEMBERS.get(hint, hint))


def _fits_generic(value: Any, hint: Any) -> bool:
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inside)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inside)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _is_dtype(value, inside[1])
    return isinstance(value, origin) and _fit_items(value, origin, inside)


def _is_dtype(value: Any, hint: Any) -> bool:
    wanted = get_args(hint)
    return not wanted or wanted[0] is Any or value.dtype == wanted[0]


def _fit_items(value: Any, origin: Any, inside: tuple[Any, ...]) -> bool:
    if origin is tuple and inside[-1] is not Ellipsis:
        return len(value) == len(inside) and all(map(fits, value, inside))
    if issubclass(origin, Mapping):
        return all(fits(key, inside[0]) and fits(item, inside[1]) for key, item in value.items())
    return all(fits(item, inside[0]) for item in value)
