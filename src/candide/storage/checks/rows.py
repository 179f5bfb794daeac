"""Training rows that a model keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...families import Categorical
from ...families.table import TableFamily
from ...families.text import TextFamily
from ...kernels.layouts import Dense, Sparse, TextRows
from ...statistics import Sample
from ...statistics.cells import Kept
from ...statistics.hashing import hashes_agree, row_hashes
from ...statistics.mixed_rows import MixedRows
from ..sound import are_weights, is_within, lie_within, require, rises_within
from .statistics import check_rows

# How rows are kept; as numbers where nothing is said.
_KEPT: dict[Any, tuple[type[Any], ...]] = {
    Categorical: (Dense,),
    TableFamily: (Dense, MixedRows),
    TextFamily: (TextRows,),
}
_MOST_COPIES = 1 << 53


def check_sample(sample: Sample, family: Any, n_classes: int, n_columns: int) -> None:
    """Rows with their classes, weights and numbers of copies, as a family reads them."""
    require(isinstance(sample.data, _KEPT.get(type(family), (Dense, Sparse))), "rows are none that the model reads")
    check_rows(sample.rows, n_classes)
    require(sample.threshold.shape == (n_classes,) and sample.budget >= 0, "a sample has no thresholds")
    classes, hashes, weight, copies = sample.entries
    n_rows = len(classes)
    require(all(part.shape == (n_rows,) for part in sample.entries), "what is known of rows is of other rows")
    require(lie_within(classes, n_classes), "a row is of a class that is not there")
    require(are_weights(weight) and bool((weight > 0).all()), "a row has no weight")
    counted = copies.dtype == np.int64 and lie_within(copies - 1, _MOST_COPIES)
    require(counted, "a row was not seen once")
    require(is_within(sample.represented(), sample.rows), "rows weigh more than their classes")
    _check_kept(sample.data, n_rows, n_columns)
    if isinstance(family, Categorical):
        require(not any(map(_has_negative, _columns_of(sample.data))), "a row has a category with a negative code")
    # Whatever was changed in a row, its hash is another.
    require(isinstance(sample.grouped, bool), "rows are in groups, or not")
    found = row_hashes(sample.data)
    same = hashes_agree(hashes, found) if sample.grouped else np.array_equal(hashes, found)
    require(same, "rows are not those that were learned")


def _columns_of(data: Any) -> tuple[Any, ...]:
    return data.values if isinstance(data.values, tuple) else (data.values,)


def _has_negative(cells: Any) -> bool:
    return cells.dtype.kind in "if" and bool((cells < 0).any())


def _check_kept(data: Kept, n_rows: int, n_columns: int) -> None:
    if isinstance(data, MixedRows):
        _check_dense(data.cells, n_rows, n_columns)
        for column, texts in data.texts.items():
            require(lie_within(np.array([column]), n_columns) and texts.n_rows == n_rows, "texts are of other rows")
    elif isinstance(data, Dense):
        _check_dense(data, n_rows, n_columns)
    elif isinstance(data, Sparse):
        _check_sparse(data, n_rows, n_columns)
    else:
        assert isinstance(data, TextRows)
        require(data.n_rows == n_rows, "texts are of other rows")


def _check_dense(data: Dense, n_rows: int, n_columns: int) -> None:
    sized = (data.n_rows, data.n_columns, data.first_row) == (n_rows, n_columns, 0)
    require(sized and (data.names is None or len(data.names) == n_columns), "cells are of other rows or columns")
    if isinstance(data.values, np.ndarray):
        right = data.values.shape == (n_rows, n_columns) and data.values.dtype == np.float64
        require(right and not np.isinf(data.values).any(), "cells are no numbers")
        return
    require(len(data.values) == n_columns, "cells are of other columns")
    for column in data.values:
        require(column.shape == (n_rows,) and column.dtype.kind in "ifO", "a column has other rows")
        require(column.dtype.kind != "f" or not np.isinf(column).any(), "cells are no numbers")


def _check_sparse(data: Sparse, n_rows: int, n_columns: int) -> None:
    require((data.n_columns, data.first_row) == (n_columns, 0), "cells are of other columns")
    whole = data.indptr.dtype == data.indices.dtype == np.int64
    require(whole and len(data.indptr) == n_rows + 1, "sparse rows are none")
    require(data.values.shape == data.indices.shape == (len(data.values),), "sparse cells have no columns")
    require(rises_within(data.indptr, len(data.values)), "sparse rows do not follow one another")
    require(lie_within(data.indices, n_columns), "a cell is of a column that is not there")
    require(data.values.dtype == np.float64 and not np.isinf(data.values).any(), "cells are no numbers")
