"""Choice of the model of a column: by leave-one-out loss, or from the family that the user sets.

Constants and identifiers are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np

from ...data.column_kinds import has_several_words
from ...data.dates import has_date_parts
from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats
from ...statistics import Moments
from ...statistics.grid import Cells
from ...statistics.table import TableStatistics
from ..base import CELLS
from .base import ALPHAS, CodedColumn, ColumnModel, Unseen, categorical
from .bins import BIN_NUMBERS, STRENGTHS, bins, mdlp, merge_into_ranges, modl, proportional, supervised_bins, usual_bins
from .histogram import (
    LEAST,
    Categories,
    Numbers,
    Seen,
    are_whole,
    equal_frequency,
    log_shares,
    loss_of_nothing,
    may_be_whole,
    occupied,
    seen_of,
    table_losses,
    with_atoms,
)
from .kernel_density import WIDTHS, kernels
from .parametric import ParametricColumn, gaussian, lognormal, poisson, power, student, with_missing

# Models whose losses differ by less than this are considered equal.
_TIE = 1e-9
# Integers with at most this many distinct values are also tried as categories.
_FEW_VALUES = 20

Missing = Literal["auto", "ignore", "category", "error"]


def candidates_for_numbers(
    cells: Cells, moments: Moments, missing: Floats, treat_missing: Missing = "auto", alpha: float | None = None
) -> list[ColumnModel]:
    """Return the candidate models of a numeric column; the first one is chosen in case of ties.

    >>> cells = Cells(np.arange(30.0), np.arange(30.0), np.ones((30, 2)))
    >>> moments = Moments(np.full(2, 30.0), *(np.full((2, 1), part) for part in (30.0, 14.5, 2247.5)))
    >>> models = candidates_for_numbers(cells, moments, np.zeros(2))
    >>> list(dict.fromkeys(model.family for model in models))
    ['bins', 'kernel', 'gaussian', 'student', 'poisson']
    """
    seen = with_atoms(Numbers(cells, moments, missing))
    small = merge_into_ranges(seen)
    whole = are_whole(cells)
    # The shares of at most two values describe a column completely.
    many = len(cells.low) > 2 or not whole
    # Parametric distributions have no point masses.
    distributions = _distributions(seen, whole) if many and not len(seen.atoms) else []
    models: list[ColumnModel] = []
    for missing_code in missing_options(missing, treat_missing):
        if many:
            models += [*usual_bins(small, missing_code), *kernels(small, missing_code)]
            models += map(with_missing, distributions) if missing_code else distributions
        if whole and len(cells.low) <= _FEW_VALUES:
            models += categoricals(seen, alpha, "smooth", missing_code)
    return models


def _distributions(seen: Numbers, whole: bool) -> list[ParametricColumn]:
    if not np.isfinite(seen.moments.scatter).all():
        return []  # numbers whose squares overflow
    counts = whole and seen.cells.low[0] >= 0
    return [gaussian(seen), student(seen), *([poisson(seen)] if counts else [])]


def candidates_for_categories(
    labels: Array, count: Floats, missing: Floats, treat_missing: Missing = "auto", alpha: float | None = None,
    unseen: Unseen = "smooth",
) -> list[ColumnModel]:  # fmt: skip
    """Return the candidate models of a categorical column: pseudo-counts, and treatments of missing cells.

    >>> models = candidates_for_categories(np.array(["a", "b"]), np.array([[5.0, 1.0], [0.0, 4.0]]), np.zeros(2))
    >>> [model.describe() for model in models][:2]
    ['2 values, alpha 0.05', '2 values, alpha 0.2']
    """
    seen = Categories(labels, np.asarray(count).T, missing)
    return [
        model
        for missing_code in missing_options(missing, treat_missing)
        for model in categoricals(seen, alpha, unseen, missing_code)
    ]


def categoricals(
    seen: Numbers | Categories, alpha: float | None, unseen: Unseen, missing_code: bool
) -> list[CodedColumn]:
    """Return a model for each candidate pseudo-count."""
    return [categorical(seen, value, unseen, missing_code) for value in (ALPHAS if alpha is None else (alpha,))]


def missing_options(missing: Floats, treat_missing: Missing) -> tuple[bool, ...]:
    """Return whether missing cells are tried as a value: no, yes, or both."""
    if treat_missing == "auto":
        return (False, True) if missing.any() else (False,)
    return (treat_missing == "category",)


def choose(
    candidates: Sequence[ColumnModel], log_prior: Floats, row: float | Floats = 1.0, losses: Floats | None = None
) -> tuple[ColumnModel, dict[str, float]]:
    """Return the model with the lowest loss (the first one in case of ties), and the lowest loss of each family.

    Without ``losses``, leave-one-out losses are computed.

    >>> models = candidates_for_categories(np.array(["a", "b"]), np.array([[9.0, 1.0], [0.0, 5.0]]), np.zeros(2))
    >>> model, losses = choose(models, np.log([2 / 3, 1 / 3]))
    >>> model.describe(), {family: round(loss, 4) for family, loss in losses.items()}
    ('2 values, alpha 0.5', {'categorical': 0.2952})
    """
    losses = class_losses(candidates, log_prior, row) if losses is None else losses
    least: dict[str, float] = {}
    for model, loss in zip(candidates, losses.tolist(), strict=True):
        least[model.family] = min(loss, least.get(model.family, np.inf))
    return candidates[int((losses <= losses.min() + _TIE).argmax())], least


def class_losses(models: Sequence[ColumnModel], log_prior: Floats, row: float | Floats = 1.0) -> Floats:
    """Return the losses of several models, computed in one batch for tables over codes; NaN counts as infinite."""
    coded = [(i, model) for i, model in enumerate(models) if type(model) is CodedColumn]
    n_cells = sum(len(log_prior) for _ in coded) * max((len(model.count) for _, model in coded), default=0)
    if len(coded) < 2 or n_cells > CELLS:
        coded = []
    out = np.full(len(models), np.nan)
    if coded:
        out[[i for i, _ in coded]] = _together([model for _, model in coded], log_prior, row)
    done = {i for i, _ in coded}
    for i, model in enumerate(models):
        if i not in done:
            out[i] = model.class_loss(log_prior, row)
    return np.where(np.isnan(out), np.inf, out)


def _together(models: list[CodedColumn], log_prior: Floats, row: float | Floats) -> Floats:
    """Return tables of different lengths as one padded array; padding has no rows."""
    shape = len(models), max(len(model.count) for model in models), len(log_prior)
    smooth, count, base, own = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2]), np.ones(shape[:2])
    for i, model in enumerate(models):
        n_codes = len(model.count)
        count[i, :n_codes], base[i, :n_codes] = model.count, model.base
        if model.smoother is None:
            smooth[i, :n_codes] = model.count
        else:
            smooth[i, :n_codes], own[i, :n_codes] = model.smoother @ model.count, model.own
    part = np.maximum(smooth + base[:, :, None], LEAST)
    whole = count.sum(axis=1) + base.sum(axis=1)[:, None]
    sums = table_losses(part, whole, own, count, count, log_prior, row)
    nothing = np.array([loss_of_nothing(model.ignored, log_prior) for model in models])
    return np.asarray((sums + nothing) / max(models[0].weight, 1e-300))


# Minimum information in bits for a note on a dropped column.
_MIN_BITS = 0.05


def reason_to_drop(statistics: TableStatistics, j: int) -> str:
    """Return why a column is dropped (constant or identifier), or an empty string if it is kept."""
    place, row = statistics.place(j), statistics.row_weight
    known = float((statistics.observed(j) / row).sum())
    if statistics.kinds[j] == "category":
        labels = statistics.categories.labels[place]
        if len(labels) > 20 and len(labels) > 0.9 * known:
            # The first rows may have been too few to detect texts.
            perhaps = "; for texts, choose the family 'text'" if has_several_words(labels.tolist()) else ""
            return "an identifier: nearly every value is unique" + perhaps
        return "constant" if len(labels) < 2 else ""
    cells = statistics.grid.column(place)
    if len(cells.low) < 2 and (cells.low == cells.high).all():
        return "constant"
    with np.errstate(over="ignore", invalid="ignore"):
        _, _, variance = statistics.moments.only(place).pooled()
    numbered = _is_numbering(cells._replace(count=cells.count / row), float(variance[0]), known)
    # Consecutive days are not identifiers.
    is_date = numbered and has_date_parts(statistics.names[j], dict.fromkeys(statistics.names))
    return "an identifier: the rows are numbered" if numbered and not is_date else ""


def note_on_ranks(gained: Floats) -> str:
    """Return a note on a dropped row number: it may be the rank of a measurement, which cannot be detected."""
    bits = float(gained) / np.log(2.0)
    return (
        (f", although it has {bits:.2f} bits of information about the class; if the numbers are ranks, choose a family")
        if bits >= _MIN_BITS
        else ""
    )


def _is_numbering(cells: Cells, variance: float, known: float) -> bool:
    """Return whether a column numbers the rows, or is a random subset of such numbers: distinct integers with few gaps.

    The counts of the cells are numbers of rows.
    """
    # The difference of numbers that are far apart may overflow.
    if known <= 20 or max(abs(cells.low[0]), abs(cells.high[-1])) > 2.0**53:
        return False
    first, last = np.ceil(cells.low), np.floor(cells.high)
    n_whole, size = last - first + 1, last[-1] - first[0] + 1
    if size > 3 * known or (cells.count.sum(axis=1) > n_whole + 1e-9).any():
        return False
    return bool(abs(variance * 12 / (size**2 - 1) - 1) <= 0.1)


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
    return kernels(merge_into_ranges(seen), missing_code, widths, strengths)


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
    """Return a model of a named family, from ``cells`` and ``moments``, or ``labels`` and ``count``, and ``missing``.

    Options that are not set are chosen by leave-one-out loss, as families are. The class prior is ``log_prior``, by
    default the class frequencies; ``row`` is the mean weight of a row of each class.

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
    make = _candidates_of(family, seen, name, alpha, unseen, parts_and_options)
    models = [model for missing_code in missing_options(missing, treat_missing) for model in make(seen, missing_code)]
    if len(models) == 1:
        return models[0]
    return choose(models, log_shares(_rows(seen)) if log_prior is None else log_prior, row)[0]


def _candidates_of(
    family: str, seen: Seen, name: Any, alpha: float | None, unseen: Unseen, options: dict[str, Any]
) -> Callable[[Any, bool], Sequence[ColumnModel]]:
    if family not in OPTIONS:
        raise ParameterError(f"column {name!r}: {family!r} is not a family; expected one of {', '.join(OPTIONS)}")
    check_options(f"column {name!r}", family, options)
    if family not in _OF_NUMBERS:
        return partial(_named_values, family, name, alpha, unseen)
    if isinstance(seen, Categories):
        raise ParameterError(
            f"column {name!r} contains categories, but {family!r} needs numbers; pass columns={{'numbers': "
            f"{family!r}}} to use it for all numeric columns, or columns={{{name!r}: 'categorical'}}"
        )
    lack = _why_impossible(family, seen)
    if lack:
        raise ParameterError(f"column {name!r} {lack}")
    return partial(_OF_NUMBERS[family], **options)


def _why_impossible(family: str, numbers: Numbers) -> str:
    """Return why a family cannot model a column and what to do, or an empty string if it can."""
    cells = occupied(numbers.cells)
    low = float(cells.low[0])
    if isinstance(_OF_NUMBERS[family], partial) and not np.isfinite(numbers.moments.scatter).all():
        return (
            f"contains numbers whose squares overflow, but {family!r} needs magnitudes below about 1e150; choose "
            "'kernel' or 'bins', or rescale the column"
        )
    if family == "lognormal" and low <= 0 and len(numbers.cells.low):
        return f"has a minimum of {low:g}, but 'lognormal' needs positive numbers; choose 'power' or 'kernel'"
    if family == "poisson" and low < 0:
        return f"has a minimum of {low:g}, but 'poisson' needs non-negative integers; choose 'bins' or 'gaussian'"
    if family == "poisson" and not may_be_whole(cells).all():
        odd = float(cells.low[may_be_whole(cells).argmin()])
        return f"contains decimals (near {odd:g}), but 'poisson' needs non-negative integers; choose 'kernel' or 'bins'"
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
            f"column {name!r} contains {len(labels)} distinct values, but 'bernoulli' allows only two; choose "
            "'categorical'"
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
    """Return an option whose value is one of several words."""
    return Option(lambda value: isinstance(value, str) and value in allowed, f"one of {', '.join(map(repr, allowed))}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


_ABOVE_0 = Option(lambda value: _is_number(value) and 0 < value < np.inf, "a positive number")
FROM_0 = Option(lambda value: _is_number(value) and 0 <= value < np.inf, "a non-negative number")
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
    """Raise an error for unknown options of a family and for invalid values; ``of`` names the column.

    >>> check_options("column 'age'", "kernel", {"width": 2})
    Traceback (most recent call last):
        ...
    candide.exceptions.ParameterError: column 'age': width of 'kernel' is 2; expected a number above 0 and at most 1
    """
    allowed = OPTIONS.get(family, {}) if allowed is None else allowed
    for option, value in given.items():
        if option not in allowed:
            has = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            raise ParameterError(f"{of}: {family!r} has no option {option!r}; {has}")
        if not allowed[option].allows(value):
            raise ParameterError(f"{of}: {option} of {family!r} is {value!r}; expected {allowed[option].words}")
    method = given.get("method", "frequency")
    if "n_bins" in given and method != "frequency":
        raise ParameterError(f"{of}: method {method!r} chooses the number of bins automatically; omit n_bins")
