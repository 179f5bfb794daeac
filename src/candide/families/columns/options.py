"""What may be asked of the families of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError


class Option(NamedTuple):
    """What an option may be: a test, and the same in words."""

    allows: Callable[[Any], bool]
    words: str


def one_of(*allowed: str) -> Option:
    """One of several words."""
    return Option(lambda value: isinstance(value, str) and value in allowed, f"one of {', '.join(map(repr, allowed))}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


_ABOVE_0 = Option(lambda value: _is_number(value) and 0 < value < np.inf, "a number above 0")
FROM_0 = Option(lambda value: _is_number(value) and 0 <= value < np.inf, "a number of at least 0")
_SHARE = Option(lambda value: _is_number(value) and 0 < value <= 1, "a number above 0 and at most 1")
_SEVERAL = Option(lambda value: isinstance(value, Integral) and int(value) >= 2, "an integer of at least 2")

_NORMAL = {"var_smoothing": FROM_0}
_VALUES = {"alpha": _ABOVE_0, "unseen": one_of("ignore", "smooth")}
OPTIONS: dict[str, dict[str, Option]] = {
    "gaussian": _NORMAL,
    "student": {},
    "lognormal": _NORMAL,
    "power": _NORMAL,
    "kernel": {"width": _SHARE, "strength": _ABOVE_0},
    "bins": {
        "method": one_of("frequency", "proportional", "mdlp", "modl"), "n_bins": _SEVERAL, "strength": _ABOVE_0,
    },
    "poisson": {},
    "bernoulli": _VALUES,
    "categorical": _VALUES,
}  # fmt: skip


def check_options(of: str, family: str, given: Mapping[Any, Any], allowed: Mapping[str, Option] | None = None) -> None:
    """Refuses options that a family does not have, and values that they cannot have; ``of`` says which column.

    >>> check_options("column 'age'", "kernel", {"width": 2})
    Traceback (most recent call last):
        ...
    candide.exceptions.ParameterError: column 'age': width of 'kernel' is 2; it must be a number above 0 and at most 1
    """
    allowed = OPTIONS.get(family, {}) if allowed is None else allowed
    for option, value in given.items():
        if option not in allowed:
            has = ", ".join(allowed) or "none"
            raise ParameterError(f"{of}: {family!r} has no option {option!r}; it has {has}")
        if not allowed[option].allows(value):
            raise ParameterError(f"{of}: {option} of {family!r} is {value!r}; it must be {allowed[option].words}")
    method = given.get("method", "frequency")
    if "n_bins" in given and method != "frequency":
        raise ParameterError(f"{of}: method {method!r} finds the number of bins itself; leave out n_bins")
