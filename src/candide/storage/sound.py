"""What numbers from a file must be before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .verdict import NOT_A_MODEL as NOT_A_MODEL
from .verdict import Unsound as Unsound
from .verdict import judged
from .verdict import require as require

# Weights beyond this have squares that are no numbers.
MOST_WEIGHT = 1e150
# What sums may differ by that should be equal, for each unit of the largest.
_ROUNDING = 1e-6
# Columns of a sparse table without regard to what is in it, and for each cell that is.
_MOST_COLUMNS, _COLUMNS_PER_CELL = 1 << 26, 256


@contextmanager
def refusing(verdict: str, remedy: str | None = None) -> Iterator[None]:
    """As :func:`judged`; NumPy is silent about numbers that are none, which the checks find."""
    with judged(verdict, remedy), np.errstate(all="ignore"):
        yield


@cache
def known_zones() -> set[str]:
    """Names of time zones; others may be those of any file, and are never looked up."""
    from zoneinfo import available_timezones

    return available_timezones()


def rises_within(offsets: Array, end: int) -> bool:
    """Whether offsets rise from 0 to the end.

    >>> rises_within(np.array([0, 2, 2, 5]), 5), rises_within(np.array([0, 3, 2, 5]), 5)
    (True, False)
    """
    bounded = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end
    return bool(bounded and (offsets[1:] >= offsets[:-1]).all())


def ascends(numbers: Array) -> bool:
    """Whether each number is larger than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def most_columns(n_cells: int) -> int:
    """How wide a sparse table of so many cells may be."""
    return max(_MOST_COLUMNS, _COLUMNS_PER_CELL * n_cells)


def is_canonical(data: Array, indices: Array, indptr: Array, n_columns: int) -> bool:
    """Whether compressed rows are in order: columns within the table, in ascending order and distinct in every row.

    The table is no wider than what is in it lets one expect: what is made of it may have a number for each column.
    """
    types = data.dtype == np.float64 and indices.dtype == indptr.dtype and indices.dtype.itemsize >= 4
    if not (types and data.ndim == 1 and data.shape == indices.shape and rises_within(indptr, len(data))):
        return False
    if not 0 <= n_columns <= most_columns(len(data)):
        return False
    rising = indices[1:] > indices[:-1]
    begins = indptr[(indptr > 0) & (indptr < len(data))]
    rising[begins - 1] = True
    return bool(rising.all()) and lie_within(indices, n_columns)


def lie_within(numbers: Array, limit: int) -> bool:
    """Whether all are positions below the limit."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < limit)


def are_weights(numbers: Any) -> bool:
    """Whether all are finite, not too large, and 0 or more; None holds none."""
    stored = cells_of(numbers)
    return not stored.size or bool(stored.min() >= 0 and stored.max() <= MOST_WEIGHT)


def are_finite(*numbers: Any) -> bool:
    """Whether all numbers of arrays are finite; their sum is not where one is not, and mostly tells."""
    return all(bool(np.isfinite(each).all()) for each in numbers)


def is_symmetric(matrices: Array) -> bool:
    """Whether matrices, in the last two axes, are equal to their transposes but for rounding."""
    off = np.abs(matrices - matrices.swapaxes(-1, -2))
    return bool((off <= _ROUNDING * np.abs(matrices).max(initial=0.0)).all())


def is_within(numbers: Array, most: Array) -> bool:
    """Whether numbers are at most such sums, but for what adding and subtracting leaves of them."""
    return bool((numbers <= most + _ROUNDING * most.max(initial=0.0)).all())


def cells_of(numbers: Any) -> Array:
    """What an array holds, or a sparse table stores."""
    return numbers if isinstance(numbers, np.ndarray) else numbers.data
