"""Checks of the training rows that a model keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.layouts import Dense, Sparse, TextRows
from ...statistics import Sample
from ...statistics.hashing import hashes_agree, row_hashes
from ...statistics.kept_rows import Kept, MixedRows
from ..errors import require
from ..registry import name_of
from . import are_at_most, are_offsets, are_positions, are_weights
from .statistics import check_rows

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
    require(
        sample.threshold.shape == (n_classes,) and sample.budget >= 0, "the thresholds of the training rows are invalid"
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
    require(are_at_most(sample.represented(), sample.rows), "the training rows have more weight than their classes")
    _check_kept(sample.data, n_rows, n_columns)
    if kind == "categorical family":
        require(
            not any(map(_has_negative, _columns_of(sample.data))), "a training row has a category with a negative code"
        )
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
                "the number of texts is not the number of training rows",
            )
    elif isinstance(data, Dense):
        _check_dense(data, n_rows, n_columns)
    elif isinstance(data, Sparse):
        _check_sparse(data, n_rows, n_columns)
    else:
        assert isinstance(data, TextRows)
        require(data.n_rows == n_rows, "the number of texts is not the number of training rows")


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
    require(are_offsets(data.indptr, len(data.values)), "the row pointers of sparse training rows do not ascend")
    require(are_positions(data.indices, n_columns), "a cell of a training row has an invalid column")
    require(
        data.values.dtype == np.float64 and not np.isinf(data.values).any(),
        "a cell of a training row is not a finite number",
    )
