"""The model of a column whose family is set by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats
from ...statistics.grid import Cells
from .base import ColumnModel, Unseen
from .bins import BIN_NUMBERS, STRENGTHS, bins, mdlp, micro, modl, proportional, supervised_bins
from .choose import Missing, categoricals, choose, missing_options
from .histogram import Categories, Numbers, Seen, equal_frequency, log_shares, may_be_whole, occupied, seen_of
from .kernel_density import WIDTHS, kernels
from .parametric import ParametricColumn, gaussian, lognormal, poisson, power, student, with_missing

SUPERVISED: dict[str, Callable[[Cells], Array]] = {"mdlp": mdlp, "modl": modl}


def _bins(
    seen: Numbers,
    missing_code: bool,
    method: str = "frequency",
    n_bins: int | None = None,
    strength: float | None = None,
) -> Sequence[ColumnModel]:
    strengths = STRENGTHS if strength is None else (strength,)
    if method in SUPERVISED:
        return [supervised_bins(seen, SUPERVISED[method], a, missing_code) for a in strengths]
    seen = seen._replace(cells=occupied(seen.cells))
    weight = seen.cells.count.sum(axis=1)
    if method == "proportional":
        firsts = [proportional(weight)]
    else:
        firsts = [equal_frequency(weight, n, seen.atoms) for n in (BIN_NUMBERS if n_bins is None else (n_bins,))]
    return [bins(seen, first, a, missing_code) for first in firsts for a in strengths]


def _kernel(
    seen: Numbers, missing_code: bool, width: float | None = None, strength: float | None = None
) -> Sequence[ColumnModel]:
    widths, strengths = WIDTHS if width is None else (width,), STRENGTHS if strength is None else (strength,)
    return kernels(micro(seen), missing_code, widths, strengths)


def _distribution(
    make: Callable[..., ParametricColumn], seen: Numbers, missing_code: bool, **options: Any
) -> list[Any]:
    model = make(seen, **options)
    return [with_missing(model) if missing_code else model]


_OF_NUMBERS: dict[str, Callable[..., Sequence[ColumnModel]]] = {
    "bins": _bins,
    "kernel": _kernel,
    "poisson": partial(_distribution, poisson),
    **{make.__name__: partial(_distribution, make) for make in (gaussian, student, lognormal, power)},
}


def named_column(
    family: str, *, missing: Floats, treat_missing: Missing = "auto", alpha: float | None = None,
    unseen: Unseen = "smooth", name: Any = "x", log_prior: Floats | None = None, row: float | Floats = 1.0,
    **parts_and_options: Any,
) -> ColumnModel:  # fmt: skip
    """A model of the family named, from ``cells`` and ``moments``, or ``labels`` and ``count``, and ``missing``.

    What the options leave open is chosen as among families: by the loss with every row left out, under ``log_prior``,
    else under the shares of the classes; ``row`` is what a row of each class weighs.

    ============ ==========================================================================================
    family       options
    ============ ==========================================================================================
    bins         ``method`` ("frequency", "proportional", "mdlp", "modl"), ``n_bins`` for equal frequency,
                 ``strength``: rows that the shares of all classes together count for
    kernel       ``width`` on the scale of ranks, ``strength``
    gaussian     ``var_smoothing``; also lognormal, power
    categorical  ``alpha``, ``unseen``; also bernoulli; of numbers too
    ============ ==========================================================================================

    >>> model = named_column("categorical", labels=np.array(["a", "b"]), count=np.array([[3.0, 1.0], [0.0, 4.0]]),
    ...                      missing=np.zeros(2), alpha=1.0, unseen="ignore")
    >>> np.exp(model.table()).round(3)
    array([[0.667, 0.167],
           [0.333, 0.833]])
    """
    names = ("cells", "moments", "labels", "count")
    parts = {key: parts_and_options.pop(key) for key in names if key in parts_and_options}
    seen = seen_of(missing=missing, **parts)
    make = _maker(family, seen, name, alpha, unseen, parts_and_options)
    models = [model for missing_code in missing_options(missing, treat_missing) for model in make(seen, missing_code)]
    if len(models) == 1:
        return models[0]
    return choose(models, log_shares(_rows(seen)) if log_prior is None else log_prior, row)[0]


def _maker(
    family: str, seen: Seen, name: Any, alpha: float | None, unseen: Unseen, options: dict[str, Any]
) -> Callable[[Any, bool], Sequence[ColumnModel]]:
    if family not in OPTIONS:
        raise ParameterError(f"column {name!r}: {family!r} is no family; choose one of {', '.join(OPTIONS)}")
    check_options(f"column {name!r}", family, options)
    if family not in _OF_NUMBERS:
        return partial(_named_values, family, name, alpha, unseen)
    if isinstance(seen, Categories):
        raise ParameterError(
            f"column {name!r} holds categories, and {family!r} needs numbers; pass columns={{'numbers': {family!r}}} "
            f"to have it for all numbers, or columns={{{name!r}: 'categorical'}}"
        )
    lack = _lack(family, seen)
    if lack:
        raise ParameterError(f"column {name!r} {lack}")
    return partial(_OF_NUMBERS[family], **options)


def _lack(family: str, numbers: Numbers) -> str:
    """Return why a family is impossible for a column, and what to do; empty if it is possible."""
    cells = occupied(numbers.cells)
    low = float(cells.low[0])
    if isinstance(_OF_NUMBERS[family], partial) and not np.isfinite(numbers.moments.scatter).all():
        return (
            f"holds numbers whose squares overflow, and {family!r} needs them below about 1e150; "
            "choose 'kernel' or 'bins', or rescale the column"
        )
    if family == "lognormal" and low <= 0 and len(numbers.cells.low):
        return f"goes down to {low:g}, and 'lognormal' needs numbers above 0; choose 'power' or 'kernel'"
    if family == "poisson" and low < 0:
        return f"goes down to {low:g}, and 'poisson' needs whole numbers from 0 on; choose 'bins' or 'gaussian'"
    if family == "poisson" and not may_be_whole(cells).all():
        odd = float(cells.low[may_be_whole(cells).argmin()])
        return f"holds decimals (near {odd:g}), and 'poisson' needs whole numbers from 0 on; choose 'kernel' or 'bins'"
    return ""


def _named_values(
    family: str, name: Any, alpha: float | None, unseen: Unseen, seen: Seen, missing_code: bool
) -> Sequence[ColumnModel]:
    models = categoricals(seen, alpha, unseen, missing_code)
    if family == "categorical":
        return models
    labels = models[0].labels
    if labels is not None and len(labels) > 2:
        raise ParameterError(
            f"column {name!r} holds {len(labels)} different values, and 'bernoulli' knows two; choose 'categorical'"
        )
    return [replace(model, family="bernoulli") for model in models]


def _rows(seen: Seen) -> Floats:
    count = seen.cells.count if isinstance(seen, Numbers) else seen.count
    return np.asarray(count.sum(axis=0) + seen.missing)


class Option(NamedTuple):
    """The allowed values of an option: a predicate and its description."""

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
