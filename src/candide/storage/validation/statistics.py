"""Checks of statistics: counts, moments, categories and grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.arrays import is_missing, is_sparse
from ...kernels.grid_cells import floats_of
from ...kernels.layouts import Array, Floats
from ...statistics.counts import CompressedRows
from ..errors import require
from .predicates import (
    MAX_WEIGHT,
    are_at_most,
    are_finite,
    are_offsets,
    are_positions,
    are_weights,
    is_ascending,
    stored_values,
)

if TYPE_CHECKING:
    from ...statistics import BlockMoments, CategoryCounts, Counts, Grid, Moments

_MANTISSA_BITS = 52


def check_rows(rows: Floats, n_classes: int) -> None:
    """Check the weights of the classes."""
    require(rows.shape == (n_classes,), f"the number of weights is not the number of classes, {n_classes}")
    require(are_weights(rows), f"the weights of classes are not all numbers from 0 to {MAX_WEIGHT:g}")


def check_counts(counts: Counts, n_classes: int) -> int:
    """Check the statistic, and return the number of columns."""
    check_rows(counts.rows, n_classes)
    n_columns = _width(counts.cells, n_classes)
    if counts.missing is not None:
        require(
            _width(counts.missing, n_classes) == n_columns, "the numbers of columns of counts and missing cells differ"
        )
        require(_is_within(counts.missing, counts.rows), "there are more missing cells than rows")
    if counts.presence:
        require(_is_within(counts.cells, counts.rows), "there are more present cells than rows")
    return n_columns


def _width(table: Any, n_classes: int) -> int:
    """Check a dense or sparse table of weights, and return its number of columns."""
    known = is_sparse(table) or isinstance(table, CompressedRows)
    known = known or (isinstance(table, np.ndarray) and table.dtype == np.float64)
    require(
        known and table.ndim == 2 and table.shape[0] == n_classes, f"the counts are not a table of {n_classes} classes"
    )
    require(are_weights(stored_values(table)), "a count is negative or not a number")
    return int(table.shape[1])


def _is_within(table: Any, rows: Floats) -> bool:
    """Return whether no cell is larger than the weight of its class."""
    if isinstance(table, np.ndarray):
        return are_at_most(table, rows[:, None])
    filled = np.flatnonzero(np.diff(table.indptr))
    largest = np.zeros(len(rows))
    if len(filled):
        largest[filled] = np.maximum.reduceat(table.data, table.indptr[filled])
    return are_at_most(largest, rows)


def check_moments(moments: Moments, n_classes: int, *, allow_infinite_scatter: bool = False) -> int:
    """Check moments, and return the number of columns.

    The scatter of very large numbers may overflow, which ``allow_infinite_scatter`` permits.
    """
    check_rows(moments.rows, n_classes)
    shape = moments.weight.shape
    alike = moments.mean.shape == moments.scatter.shape == shape
    require(len(shape) == 2 and shape[0] == n_classes and alike, f"the moments are not tables of {n_classes} classes")
    require(
        are_weights(moments.weight) and _is_within(moments.weight, moments.rows),
        "a column has more weight than the rows",
    )
    require(
        are_finite(moments.mean) and not (moments.scatter < 0).any(), "a mean is not finite, or a scatter is negative"
    )
    require(allow_infinite_scatter or are_finite(moments.scatter), "a scatter is not finite")
    return int(shape[1])


def check_block_moments(moments: BlockMoments, n_classes: int) -> int:
    """Check the statistic, and return the number of columns."""
    check_rows(moments.rows, n_classes)
    require(moments.mean.ndim == 2, "the means of a block are not a table")
    n_columns = moments.mean.shape[1]
    shapes = moments.weight.shape, moments.mean.shape[0], moments.scatter.shape
    require(
        shapes == ((n_classes,), n_classes, (n_classes, n_columns, n_columns)), "the moments of a block differ in shape"
    )
    require(
        are_weights(moments.weight) and are_finite(moments.mean, moments.scatter), "a block contains invalid numbers"
    )
    sizes = np.abs(moments.mean).max(initial=0.0), np.sqrt(np.abs(moments.scatter).max(initial=0.0))
    require(max(sizes) <= MAX_WEIGHT, "a block contains numbers whose squares overflow")
    require(are_at_most(moments.weight, moments.rows), "a block has more weight than the rows")
    return int(n_columns)


def check_categories(counts: CategoryCounts, n_classes: int) -> int:
    """Check the statistic, and return the number of columns."""
    check_rows(counts.rows, n_classes)
    for labels in counts.labels:
        check_labels(labels)
    n_slots = sum(map(len, counts.labels))
    require(
        counts.count.shape == (n_classes, n_slots) and are_weights(counts.count),
        "the counts do not match the categories",
    )
    return len(counts.labels)


def check_labels(labels: Array) -> None:
    """Check that labels are distinct, and numeric labels ascending."""
    require(labels.ndim == 1, "labels are not a list")
    if labels.dtype.kind in "biufmM":
        require(is_ascending(labels), "labels are not distinct and ascending")
        require(labels.dtype.kind not in "fmM" or bool(np.isfinite(labels).all()), "a label is missing or infinite")
    else:
        items = labels.tolist()
        require(len(set(items)) == len(items) and not any(map(is_missing, items)), "labels are not distinct")


def check_grid(grid: Grid, n_classes: int) -> int:
    """Check the statistic, and return the number of columns."""
    check_rows(grid.rows, n_classes)
    n_cells = len(grid.key)
    whole = grid.offsets.dtype == np.int64 and grid.shift.dtype.kind in "iu"
    require(whole and are_offsets(grid.offsets, n_cells), "the offsets of the cells of a grid are invalid")
    require(grid.key.shape == grid.shift.shape == (n_cells,), "the cells of a grid have no keys")
    require(
        are_positions(grid.shift, _MANTISSA_BITS + 1) and are_finite(floats_of(grid.key)),
        "the cells of a grid are not finite",
    )
    rising = np.append(grid.key[1:] > grid.key[:-1], True)
    rising[np.maximum(grid.offsets[1:] - 1, 0)] = True
    require(bool(rising.all()), "the cells of a grid column do not ascend")
    count = grid.count
    require(is_sparse(count) and count.shape == (n_cells, n_classes), "the cells of a grid have no counts")
    require(are_weights(count.data), "a count is negative or not a number")
    return len(grid.offsets) - 1
