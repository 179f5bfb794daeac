"""Checks of statistics (counts, moments, categories, grids, kept rows) and of families of single columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.arrays import is_missing, is_sparse
from ...kernels.counting import floats_of
from ...kernels.layouts import Array, Dense, Floats, Sparse, TextRows
from ...statistics.counts import CompressedRows
from ...statistics.hashing import hashes_agree, row_hashes
from ...statistics.kept_rows import MixedRows
from ..errors import require
from ..registry import COLUMN_FAMILIES, name_of
from . import (
    MAX_WEIGHT,
    are_at_most,
    are_finite,
    are_offsets,
    are_positions,
    are_weights,
    is_ascending,
    is_budget,
    is_symmetric,
    stored_values,
)

if TYPE_CHECKING:
    from ...families import Categorical
    from ...statistics import BlockMoments, CategoryCounts, Counts, Grid, Moments, Sample
    from ...statistics.kept_rows import Kept

_MANTISSA_BITS = 52


def check_rows(rows: Floats, n_classes: int) -> None:
    """Check the weights of the classes."""
    require(rows.shape == (n_classes,), f"the number of weights differs from the number of classes, {n_classes}")
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
        "the weight of a column exceeds that of the rows",
    )
    require(
        are_finite(moments.mean) and not (moments.scatter < 0).any(), "a mean is not finite, or a scatter is negative"
    )
    require(allow_infinite_scatter or are_finite(moments.scatter), "a scatter is not finite")
    known = (moments.weight > 0) & np.isfinite(moments.scatter)
    require(are_finite(moments.scatter[known] / moments.weight[known]), "a variance is not finite")
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
    require(are_at_most(moments.weight, moments.rows), "the weight of a block exceeds that of the rows")
    known = moments.weight > 0
    require(are_finite(moments.scatter[known] / moments.weight[known, None, None]), "a covariance is not finite")
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
        require(is_ascending(labels), "labels are not distinct and sorted")
        require(labels.dtype.kind not in "fmM" or bool(np.isfinite(labels).all()), "a label is missing or infinite")
    else:
        items = labels.tolist()
        require(len(set(items)) == len(items) and not any(map(is_missing, items)), "labels are not distinct")


def check_grid(grid: Grid, n_classes: int) -> int:
    """Check the statistic, and return the number of columns."""
    check_rows(grid.rows, n_classes)
    n_cells = len(grid.key)
    whole = grid.offsets.dtype == np.int64 and grid.shift.dtype.kind in "iu"
    require(whole and are_offsets(grid.offsets, n_cells), "the cell offsets of a grid are invalid")
    require(grid.key.shape == grid.shift.shape == (n_cells,), "the cells of a grid have no keys")
    require(
        are_positions(grid.shift, _MANTISSA_BITS + 1) and are_finite(floats_of(grid.key)),
        "the cells of a grid are not finite",
    )
    rising = np.append(grid.key[1:] > grid.key[:-1], True)
    rising[np.maximum(grid.offsets[1:] - 1, 0)] = True
    require(bool(rising.all()), "the cells of a grid column are not increasing")
    count = grid.count
    require(is_sparse(count) and count.shape == (n_cells, n_classes), "the cells of a grid have no counts")
    require(are_weights(count.data), "a count is negative or not a number")
    return len(grid.offsets) - 1


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
    require(registered in COLUMN_FAMILIES, f"a {type(family).__name__} is not a column family")
    kind = family.statistic
    require(type(statistics) is kind, f"a {type(family).__name__} does not use {type(statistics).__name__}")
    n_columns = _CHECKS[name_of(kind)](statistics, n_classes)
    require(
        getattr(family, "overall", None) is None,
        "the family of a bound spec has fitted parameters",
    )
    if registered == "bernoulli family":
        require(statistics.presence, "the counts are not presence counts")
        require(family.threshold is None or are_finite(family.threshold), "a threshold is not finite")
    for name in ("var_smoothing", "ddof"):
        require(0 <= getattr(family, name, 0.0) <= _MAX_PARAMETER, f"{name} is not a non-negative number")
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
        require(
            values.ndim != 2 + extra or values.shape[0] in (1, n_classes), "a prior has a different number of classes"
        )


def _check_categorical(family: Categorical, statistics: CategoryCounts) -> None:
    n_columns = len(statistics.labels)
    numbers = [labels for labels in statistics.labels if labels.dtype.kind in "if"]
    require(not any((labels < 0).any() for labels in numbers), "a category has a negative code")
    least = np.asarray(0 if family.min_categories is None else family.min_categories)
    whole = least.dtype.kind in "iu" and least.shape in ((), (n_columns,))
    require(
        whole and bool(((least >= 0) & (least < _MAX_VALUES)).all()),
        "min_categories is not a number of categories, or one per column",
    )
    if not isinstance(family.prior, tuple):
        check_prior(family.prior, len(statistics.rows), n_columns)
        return
    require(len(family.prior) == n_columns, "the number of priors differs from the number of columns")
    for prior, n_values in zip(family.prior, family.n_values(statistics).tolist(), strict=True):
        check_prior(prior, 1, n_values)


def are_shares(values: Any, n_classes: int) -> bool:
    """Return whether values are probabilities of the classes."""
    shaped = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (n_classes,)
    return shaped and are_weights(values) and bool(np.isclose(values.sum(), 1.0))


# The layouts of rows for each family; other families keep numbers.
_KEPT: dict[str | None, tuple[type[Any], ...]] = {
    "categorical family": (Dense,),
    "table family": (Dense, MixedRows),
    "text family": (TextRows,),
}
_MAX_COPIES = 1 << 53


def check_sample(sample: Sample, family: Any, n_classes: int, n_columns: int) -> None:
    """Check the layout of rows, and their classes, weights, numbers of copies and hashes."""
    kind = name_of(type(family))
    require(
        isinstance(sample.data, _KEPT.get(kind, (Dense, Sparse))),
        "the training rows have a layout that the model does not use",
    )
    check_rows(sample.rows, n_classes)
    floor = sample.thresholds.floor
    require(
        floor.shape == (n_classes,) and floor.dtype == np.uint64 and is_budget(sample.budget),
        "the thresholds or the budget of the training rows are invalid",
    )
    classes, hashes, weight, copies = sample.entries
    n_rows = len(classes)
    require(
        all(part.shape == (n_rows,) for part in sample.entries),
        "the classes, hashes, weights and copies of training rows differ in number",
    )
    require(are_positions(classes, n_classes), "a training row has an invalid class")
    require(are_weights(weight) and bool((weight > 0).all()), "a training row has an invalid weight")
    counted = copies.dtype == np.int64 and are_positions(copies - 1, _MAX_COPIES)
    require(counted, "a training row has an invalid number of copies")
    require(
        are_at_most(sample.represented(), sample.rows), "the weight of the training rows exceeds that of their classes"
    )
    _check_kept(sample.data, n_rows, n_columns)
    if kind == "categorical family":
        require(not any(map(_has_negative, _columns_of(sample.data))), "a training row has a negative category code")
    require(isinstance(sample.grouped, bool), "the flag of groups is not a Boolean")
    # A row that was changed has another hash.
    found = row_hashes(sample.data)
    same = hashes_agree(hashes, found) if sample.grouped else np.array_equal(hashes, found)
    require(same, "the training rows do not match their hashes")


def _columns_of(data: Any) -> tuple[Any, ...]:
    return data.values if isinstance(data.values, tuple) else (data.values,)


def _has_negative(cells: Any) -> bool:
    return cells.dtype.kind in "if" and bool((cells < 0).any())


def _check_kept(data: Kept, n_rows: int, n_columns: int) -> None:
    if isinstance(data, MixedRows):
        _check_dense(data.cells, n_rows, n_columns)
        for column, texts in data.texts.items():
            require(
                are_positions(np.array([column]), n_columns) and texts.n_rows == n_rows,
                "the number of texts differs from the number of training rows",
            )
    elif isinstance(data, Dense):
        _check_dense(data, n_rows, n_columns)
    elif isinstance(data, Sparse):
        _check_sparse(data, n_rows, n_columns)
    else:
        assert isinstance(data, TextRows)
        require(data.n_rows == n_rows, "the number of texts differs from the number of training rows")


def _check_dense(data: Dense, n_rows: int, n_columns: int) -> None:
    sized = (data.n_rows, data.n_columns, data.first_row) == (n_rows, n_columns, 0)
    require(
        sized and (data.names is None or len(data.names) == n_columns),
        "the cells of training rows have an unexpected shape",
    )
    if isinstance(data.values, np.ndarray):
        right = data.values.shape == (n_rows, n_columns) and data.values.dtype == np.float64
        require(right and not np.isinf(data.values).any(), "a cell of a training row is not a finite number")
        return
    require(len(data.values) == n_columns, "the cells of training rows have an unexpected number of columns")
    for column in data.values:
        require(
            column.shape == (n_rows,) and column.dtype.kind in "ifO",
            "a column of training rows has an unexpected shape or type",
        )
        require(
            column.dtype.kind != "f" or not np.isinf(column).any(), "a cell of a training row is not a finite number"
        )


def _check_sparse(data: Sparse, n_rows: int, n_columns: int) -> None:
    require(
        (data.n_columns, data.first_row) == (n_columns, 0),
        "the cells of training rows have an unexpected number of columns",
    )
    whole = data.indptr.dtype == data.indices.dtype == np.int64
    require(whole and len(data.indptr) == n_rows + 1, "the row pointers of sparse training rows are invalid")
    require(
        data.values.shape == data.indices.shape == (len(data.values),),
        "the cells and columns of sparse training rows differ in number",
    )
    require(are_offsets(data.indptr, len(data.values)), "the row pointers of sparse training rows are not increasing")
    require(are_positions(data.indices, n_columns), "a cell of a training row has an invalid column")
    require(
        data.values.dtype == np.float64 and not np.isinf(data.values).any(),
        "a cell of a training row is not a finite number",
    )
