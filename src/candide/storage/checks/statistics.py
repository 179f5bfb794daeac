"""Sums and moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.arrays import is_missing, is_sparse
from ...kernels.grid_cells import floats_of
from ...kernels.layouts import Array, Floats
from ...statistics import BlockMoments, CategoryCounts, Counts, Moments
from ...statistics.grid import Grid
from ...statistics.stored_counts import CompressedRows
from ..sound import (
    MOST_WEIGHT,
    are_finite,
    are_weights,
    ascends,
    cells_of,
    is_within,
    lie_within,
    require,
    rises_within,
)

_MANTISSA_BITS = 52


def check_rows(rows: Floats, n_classes: int) -> None:
    """The weight of each class."""
    require(rows.shape == (n_classes,), f"there is not a weight for each of {n_classes} classes")
    require(are_weights(rows), f"the weights of classes are not all numbers from 0 to {MOST_WEIGHT:g}")


def check_counts(counts: Counts, n_classes: int) -> int:
    """How many columns there are."""
    check_rows(counts.rows, n_classes)
    n_columns = _width(counts.cells, n_classes)
    if counts.missing is not None:
        require(_width(counts.missing, n_classes) == n_columns, "missing cells are of other columns than counts")
        require(_is_within(counts.missing, counts.rows), "there are more missing cells than rows")
    if counts.presence:
        require(_is_within(counts.cells, counts.rows), "there are more cells that are on than rows")
    return n_columns


def _width(table: Any, n_classes: int) -> int:
    """Columns of a table of weights, dense or sparse."""
    known = is_sparse(table) or isinstance(table, CompressedRows)
    known = known or (isinstance(table, np.ndarray) and table.dtype == np.float64)
    require(known and table.ndim == 2 and table.shape[0] == n_classes, f"counts are not those of {n_classes} classes")
    require(are_weights(cells_of(table)), "a count is below 0, or no number")
    return int(table.shape[1])


def _is_within(table: Any, rows: Floats) -> bool:
    """Whether no cell is larger than its row's weight."""
    if isinstance(table, np.ndarray):
        return is_within(table, rows[:, None])
    filled = np.flatnonzero(np.diff(table.indptr))
    largest = np.zeros(len(rows))
    if len(filled):
        largest[filled] = np.maximum.reduceat(table.data, table.indptr[filled])
    return is_within(largest, rows)


def check_moments(moments: Moments, n_classes: int, *, wild: bool = False) -> int:
    """How many columns there are. ``wild``: of numbers near the end of their range, the scatter may be beyond it."""
    check_rows(moments.rows, n_classes)
    shape = moments.weight.shape
    alike = moments.mean.shape == moments.scatter.shape == shape
    require(len(shape) == 2 and shape[0] == n_classes and alike, f"moments are not those of {n_classes} classes")
    require(are_weights(moments.weight) and _is_within(moments.weight, moments.rows), "columns weigh more than rows")
    require(are_finite(moments.mean) and not (moments.scatter < 0).any(), "a mean is no number, or a scatter below 0")
    require(wild or are_finite(moments.scatter), "a scatter is no number")
    return int(shape[1])


def check_block_moments(moments: BlockMoments, n_classes: int) -> int:
    """How many columns there are."""
    check_rows(moments.rows, n_classes)
    require(moments.mean.ndim == 2, "the means of a block are no table")
    n_columns = moments.mean.shape[1]
    shapes = moments.weight.shape, moments.mean.shape[0], moments.scatter.shape
    require(shapes == ((n_classes,), n_classes, (n_classes, n_columns, n_columns)), "the moments of a block differ")
    require(are_weights(moments.weight) and are_finite(moments.mean, moments.scatter), "a block holds no numbers")
    sizes = np.abs(moments.mean).max(initial=0.0), np.sqrt(np.abs(moments.scatter).max(initial=0.0))
    require(max(sizes) <= MOST_WEIGHT, "a block holds numbers whose squares are none")
    require(is_within(moments.weight, moments.rows), "a block weighs more than its rows")
    return int(n_columns)


def check_categories(counts: CategoryCounts, n_classes: int) -> int:
    """How many columns there are."""
    check_rows(counts.rows, n_classes)
    for labels in counts.labels:
        check_labels(labels)
    n_slots = sum(map(len, counts.labels))
    require(counts.count.shape == (n_classes, n_slots) and are_weights(counts.count), "counts and categories differ")
    return len(counts.labels)


def check_labels(labels: Array) -> None:
    """Labels are distinct, and numbers among themselves in order."""
    require(labels.ndim == 1, "labels are no list")
    if labels.dtype.kind in "biufmM":
        require(ascends(labels), "labels are not in order, or not distinct")
        require(labels.dtype.kind not in "fmM" or bool(np.isfinite(labels).all()), "a label is missing or infinite")
    else:
        items = labels.tolist()
        require(len(set(items)) == len(items) and not any(map(is_missing, items)), "labels are not distinct")


def check_grid(grid: Grid, n_classes: int) -> int:
    """How many columns there are."""
    check_rows(grid.rows, n_classes)
    n_cells = len(grid.key)
    whole = grid.offsets.dtype == np.int64 and grid.shift.dtype.kind in "iu"
    require(whole and rises_within(grid.offsets, n_cells), "the cells of columns do not follow one another")
    require(grid.key.shape == grid.shift.shape == (n_cells,), "cells have no keys")
    require(lie_within(grid.shift, _MANTISSA_BITS + 1) and are_finite(floats_of(grid.key)), "cells hold no numbers")
    rising = np.append(grid.key[1:] > grid.key[:-1], True)
    rising[np.maximum(grid.offsets[1:] - 1, 0)] = True
    require(bool(rising.all()), "the cells of a column are not in order")
    count = grid.count
    require(is_sparse(count) and count.shape == (n_cells, n_classes), "cells have no counts")
    require(are_weights(count.data), "a count is below 0, or no number")
    return len(grid.offsets) - 1
