"""Checks of families of single columns, with their priors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import require
from ..registry import COLUMN_FAMILIES, name_of
from .predicates import are_finite, are_weights, is_symmetric
from .statistics import check_block_moments, check_categories, check_counts, check_moments

if TYPE_CHECKING:
    from ...families import Categorical
    from ...statistics import BlockMoments, CategoryCounts

# The logarithm of the gamma function of larger numbers overflows.
_MAX_PARAMETER = 1e100
_MAX_VALUES = 1 << 53
_ROUNDING = 1e-6


def _check_block(moments: BlockMoments, n_classes: int) -> int:
    """Check that scatter matrices are positive semidefinite, and return the number of columns."""
    n_columns = check_block_moments(moments, n_classes)
    scatter = moments.scatter
    require(is_symmetric(scatter), "the scatter of a block is not symmetric")
    least, most = (np.linalg.eigvalsh(scatter)[:, end] for end in (0, -1)) if scatter.size else (0.0, 0.0)
    require(bool(np.all(least >= -_ROUNDING * most)), "the scatter of a block is not positive semidefinite")
    return n_columns


# Checks of the statistics of families; each returns the number of columns.
_CHECKS: dict[str | None, Callable[[Any, int], int]] = {
    "block moments": _check_block,
    "category counts": check_categories,
    "counts": check_counts,
    "moments": check_moments,
}


def check_family(family: Any, statistics: Any, n_classes: int) -> int:
    """Check that a family and its statistics match, and return the number of columns."""
    registered = name_of(type(family))
    require(registered in COLUMN_FAMILIES, f"a {type(family).__name__} is not a family of columns")
    kind = family.statistic
    require(type(statistics) is kind, f"a {type(family).__name__} does not use {type(statistics).__name__}")
    n_columns = _CHECKS[name_of(kind)](statistics, n_classes)
    require(
        getattr(family, "overall", None) is None,
        "the family of a bound spec is resolved, which only fitted families are",
    )
    if registered == "bernoulli family":
        require(statistics.presence, "the counts are not counts of presence")
        require(family.threshold is None or are_finite(family.threshold), "a threshold is not finite")
    for name in ("var_smoothing", "ddof"):
        require(0 <= getattr(family, name, 0.0) <= _MAX_PARAMETER, f"{name} is not a number of at least 0")
    if registered == "categorical family":
        _check_categorical(family, statistics)
    else:
        check_prior(family.prior, n_classes, n_columns)
    return n_columns


def check_prior(prior: Any, n_classes: int, n_columns: int) -> None:
    """Check that a prior has one number, one for each column, or one for each class and column."""
    if prior is None:
        return
    extra = 1 if name_of(type(prior)) == "normal-inverse-wishart" else 0
    for field in fields(prior):
        values = np.asarray(getattr(prior, field.name))
        require(
            are_finite(values) and bool((np.abs(values) <= _MAX_PARAMETER).all()), "a prior contains invalid numbers"
        )
        wide = not values.ndim or values.shape[-1] == n_columns
        require(wide and values.ndim <= 2 + extra, f"a prior does not have {n_columns} columns")
        require(values.ndim != 2 + extra or values.shape[0] in (1, n_classes), "a prior has another number of classes")


def _check_categorical(family: Categorical, statistics: CategoryCounts) -> None:
    n_columns = len(statistics.labels)
    numbers = [labels for labels in statistics.labels if labels.dtype.kind in "if"]
    require(not any((labels < 0).any() for labels in numbers), "a category has a negative code")
    least = np.asarray(0 if family.min_categories is None else family.min_categories)
    whole = least.dtype.kind in "iu" and least.shape in ((), (n_columns,))
    require(
        whole and bool(((least >= 0) & (least < _MAX_VALUES)).all()), "min_categories are not numbers of categories"
    )
    if not isinstance(family.prior, tuple):
        check_prior(family.prior, len(statistics.rows), n_columns)
        return
    require(len(family.prior) == n_columns, "the number of priors is not the number of columns")
    for prior, n_values in zip(family.prior, family.n_values(statistics).tolist(), strict=True):
        check_prior(prior, 1, n_values)


def are_shares(values: Any, n_classes: int) -> bool:
    """Return whether values are probabilities of the classes."""
    shaped = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (n_classes,)
    return shaped and are_weights(values) and bool(np.isclose(values.sum(), 1.0))
