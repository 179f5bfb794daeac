"""Checks that the parts of a decoded model are consistent, so that no kernel reads outside an array or scores NaN.

The decoder has checked types. These modules check shapes, ranges, and whether the parts of a model agree. Here are the
predicates on numbers that they share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.layouts import Array

# The squares of larger weights overflow.
MAX_WEIGHT = 1e150
# Relative error of sums that should be equal.
_ROUNDING = 1e-6
# The columns that a sparse table may have in any case, and for each stored cell.
_MAX_COLUMNS, _COLUMNS_PER_CELL = 1 << 26, 256


def are_offsets(offsets: Array, end: int) -> bool:
    """Return whether offsets ascend from 0 to the end.

    >>> are_offsets(np.array([0, 2, 2, 5]), 5), are_offsets(np.array([0, 3, 2, 5]), 5)
    (True, False)
    """
    bounded = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end
    return bool(bounded and (offsets[1:] >= offsets[:-1]).all())


def is_ascending(numbers: Array) -> bool:
    """Return whether each number is larger than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def max_columns(n_cells: int) -> int:
    """Return the largest number of columns of a sparse table with so many stored cells."""
    return max(_MAX_COLUMNS, _COLUMNS_PER_CELL * n_cells)


def is_canonical(data: Array, indices: Array, indptr: Array, n_columns: int) -> bool:
    """Return whether compressed rows are valid, with distinct columns in ascending order in every row.

    The number of columns is limited by the number of cells, because a model may allocate a number for each column.
    """
    types = data.dtype == np.float64 and indices.dtype == indptr.dtype and indices.dtype.itemsize >= 4
    if not (types and data.ndim == 1 and data.shape == indices.shape and are_offsets(indptr, len(data))):
        return False
    if not 0 <= n_columns <= max_columns(len(data)):
        return False
    ascending = indices[1:] > indices[:-1]
    begins = indptr[(indptr > 0) & (indptr < len(data))]
    ascending[begins - 1] = True
    return bool(ascending.all()) and are_positions(indices, n_columns)


def are_positions(numbers: Array, limit: int) -> bool:
    """Return whether all numbers are at least 0 and below the limit."""
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < limit)


def are_weights(numbers: Any) -> bool:
    """Return whether all numbers of an array or a sparse table are from 0 to ``MAX_WEIGHT``."""
    stored = stored_values(numbers)
    return not stored.size or bool(stored.min() >= 0 and stored.max() <= MAX_WEIGHT)


def are_finite(*arrays: Any) -> bool:
    """Return whether all numbers of some arrays are finite."""
    return all(bool(np.isfinite(array).all()) for array in arrays)


def is_symmetric(matrices: Array) -> bool:
    """Return whether matrices, in the last two axes, equal their transposes except for rounding."""
    difference = np.abs(matrices - matrices.swapaxes(-1, -2))
    return bool((difference <= _ROUNDING * np.abs(matrices).max(initial=0.0)).all())


def are_at_most(numbers: Array, sums: Array) -> bool:
    """Return whether numbers are at most these sums, except for rounding in additions and subtractions."""
    return bool((numbers <= sums + _ROUNDING * sums.max(initial=0.0)).all())


def stored_values(numbers: Any) -> Array:
    """Return an array itself, or the stored cells of a sparse table."""
    return numbers if isinstance(numbers, np.ndarray) else numbers.data
