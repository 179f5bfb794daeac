"""The form in which samples store rows: equal rows are equal arrays, regardless of their container.

Numbers are stored as doubles in one array, with 0.0 for −0.0 and a single NaN. Sparse rows stay sparse: sorted, without
zeros. A column that does not fit in doubles is a separate array: int64 for large integers, else objects, in which a
number is a float, a name is a str, and a missing label is None. Categories are read from any of these. Texts are stored
separately.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, TypeGuard

import numpy as np

from ..data.arrays import is_missing
from ..data.columns import Column, Columns
from ..data.index import EXACT
from ..data.labeled_rows import concatenate_rows, same_layout
from ..exceptions import MergeError
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse, TextRows
from ..lazy import dataclass


@dataclass(frozen=True)
class MixedRows:
    """Rows with texts: ``cells`` has all columns, with 0 for texts and NaN for missing ones; ``texts`` has the texts.

    A column that contains only missing values is not a text column yet.
    """

    cells: Dense
    texts: dict[int, TextRows]

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    def text(self, j: int) -> TextRows:
        """Return the texts of a column."""
        return self.texts[j] if j in self.texts else TextRows.all_missing(self.n_rows)


# Types of rows that a sample may keep.
Kept = Data | TextRows | MixedRows


def stored(data: Kept | Columns, rows: Array) -> Kept:
    """Return a copy of some rows in the kept form."""
    if isinstance(data, TextRows):
        return data.stored(rows)
    if isinstance(data, Sparse):
        return _stored_sparse(data.matrix()[rows])
    cells, texts = parted(data)
    dense = _stored_dense(cells, rows)
    return MixedRows(dense, {j: own.stored(rows) for j, own in texts.items()}) if texts else dense


def parted(data: Dense | Columns | MixedRows) -> tuple[Dense | Columns, dict[int, TextRows]]:
    """Return the cells, and the texts by column."""
    if isinstance(data, MixedRows):
        return data.cells, data.texts
    return data, data.texts() if isinstance(data, Columns) else {}


def _stored_dense(data: Dense | Columns, rows: Array) -> Dense:
    if isinstance(data, Dense) and not isinstance(data.values, tuple) and is_numeric(data.values):
        return Dense.of(doubles(data.values[rows]))
    return _dense_of([_stored_column(column_at(data, j), rows) for j in range(data.n_columns)])


def _dense_of(columns: list[Array]) -> Dense:
    doubles_alone = all(column.dtype == np.float64 for column in columns)
    return Dense.of(np.column_stack(columns) if doubles_alone else tuple(columns))


def joined(a: Kept, b: Kept) -> Kept:
    """Concatenate rows; the result is sparse if one of them is. Types are narrowed later, when rows are selected."""
    if isinstance(a, MixedRows) or isinstance(b, MixedRows):
        return _joined_mixed(_as_mixed(a), _as_mixed(b))
    if same_layout(a, b):
        kept: Kept = concatenate_rows([a, b])
        return kept
    assert not isinstance(a, TextRows)
    assert not isinstance(b, TextRows)
    if isinstance(a, Sparse) or isinstance(b, Sparse):
        from scipy.sparse import vstack

        return Sparse.of(vstack([_as_sparse(a), _as_sparse(b)], format="csr"))
    return Dense.of(tuple(_end_to_end(a.column(j), b.column(j)) for j in range(a.n_columns)))


def may_change(data: Kept, other: Kept) -> bool:
    """Return whether kept rows can be added or removed one by one."""
    if isinstance(data, MixedRows) and isinstance(other, MixedRows):
        return data.texts.keys() == other.texts.keys() and same_layout(data.cells, other.cells)
    return isinstance(data, (Dense, TextRows)) and isinstance(other, (Dense, TextRows)) and same_layout(data, other)


def with_rows(data: Kept, places: Array, other: Kept, rows: Array) -> Kept:
    """Insert some rows of another object of the same form before those at ``places``."""
    if isinstance(data, MixedRows) and isinstance(other, MixedRows):
        cells = with_rows(data.cells, places, other.cells, rows)
        assert isinstance(cells, Dense)
        return MixedRows(cells, {j: _with_texts(own, places, other.texts[j], rows) for j, own in data.texts.items()})
    if isinstance(data, TextRows) and isinstance(other, TextRows):
        return _with_texts(data, places, other, rows)
    assert isinstance(data, Dense)
    assert isinstance(other, Dense)
    if isinstance(data.values, tuple) and isinstance(other.values, tuple):
        columns = zip(data.values, other.values, strict=True)
        return Dense.of(tuple(np.insert(mine, places, theirs[rows]) for mine, theirs in columns))
    return Dense.of(np.insert(np.asarray(data.values), places, np.asarray(other.values)[rows], axis=0))


def _with_texts(data: TextRows, places: Array, other: TextRows, rows: Array) -> TextRows:
    order = np.insert(np.arange(data.n_rows), places, data.n_rows + rows)
    both: TextRows = concatenate_rows([data, other])
    return both.stored(order)


def without_rows(data: Kept, gone: Array) -> Kept:
    """Return the rows without those at some positions."""
    if isinstance(data, MixedRows):
        cells = without_rows(data.cells, gone)
        assert isinstance(cells, Dense)
        kept = np.delete(np.arange(data.n_rows), gone)
        return MixedRows(cells, {j: own.stored(kept) for j, own in data.texts.items()})
    if isinstance(data, TextRows):
        return data.stored(np.delete(np.arange(data.n_rows), gone))
    assert isinstance(data, Dense)
    if isinstance(data.values, tuple):
        return _dense_of([_narrowed(np.delete(column, gone)) for column in data.values])
    return Dense.of(np.delete(data.values, gone, axis=0))


def _narrowed(column: Array) -> Array:
    """Return a column in the narrowest type, after rows were removed: without strings it may be numeric."""
    if column.dtype != object or any(type(label) is str for label in column):
        return column
    return _stored_column(column, np.arange(len(column)))


def _as_mixed(data: Kept) -> MixedRows:
    assert isinstance(data, (Dense, MixedRows))
    return data if isinstance(data, MixedRows) else MixedRows(data, {})


def _joined_mixed(a: MixedRows, b: MixedRows) -> MixedRows:
    cells = joined(a.cells, b.cells)
    assert isinstance(cells, Dense)
    return MixedRows(cells, {j: concatenate_rows([a.text(j), b.text(j)]) for j in sorted({*a.texts, *b.texts})})


def row_bytes(data: Kept | Columns) -> Array:
    """Return the bytes of each kept row; a label counts as one pointer."""
    if isinstance(data, TextRows):
        return data.sizes() + 8
    if not isinstance(data, Sparse):
        cells, texts = parted(data)
        return sum((own.sizes() for own in texts.values()), np.full(cells.n_rows, 8 * cells.n_columns))
    bounds = data.indptr
    if not data.values.all():
        bounds = np.concatenate([[0], np.cumsum(data.values != 0)])[bounds]
    return np.asarray(16 * np.diff(bounds).astype(np.int64) + 8)


def column_at(data: Dense | Columns, j: int) -> Array | Column:
    """Return one column: an array, or the codes and labels of categories."""
    if isinstance(data, Dense):
        return data.column(j)
    column = data.columns[j]
    return column.values if column.labels is None else column


def is_numeric(values: Array | Column) -> TypeGuard[Array]:
    """Return whether all cells are exact doubles; large integers may not be."""
    if isinstance(values, Column):
        return False
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return values.dtype.kind in "biuf"
    return bool(values.min(initial=0) > -EXACT and values.max(initial=0) < EXACT)


def doubles(values: Array) -> Floats:
    """Return a copy as doubles in which equal numbers have equal bits."""
    with np.errstate(invalid="ignore"):  # a NaN may be a signaling one
        cells = np.array(values, dtype=np.float64, order="C")
    missing = np.isnan(cells)
    if missing.any():
        cells[missing] = np.nan
    cells += 0.0  # −0.0 becomes 0.0
    return cells


def coded(column: Array | Column) -> tuple[Array, list[Any]]:
    """Return the position of each row's label, and the kept form of all labels, some of which may not occur."""
    if isinstance(column, Column):
        assert column.labels is not None
        return column.values, [*map(_plain, column.labels.tolist()), None]  # the code -1 selects the last entry
    from ..data.factorize import factorize

    codes, labels = factorize(column.tolist())
    return codes, [_plain(label) for label in labels]


def _plain(label: Any) -> Any:
    if isinstance(label, (np.number, np.bool_, np.bytes_)):
        label = label.item()
    if is_missing(label):
        return None
    if isinstance(label, str):
        return str.__str__(label)  # members of an enumeration may override str()
    if isinstance(label, float) or (isinstance(label, int) and _is_double(label)):
        return float(label) + 0.0
    return label


def _is_double(number: int) -> bool:
    return abs(number) < 1 << 64 and float(number) == number


def _stored_column(column: Array | Column, rows: Array) -> Array:
    if is_numeric(column):
        return doubles(column[rows])
    taken = column.take(rows)
    if isinstance(taken, np.ndarray) and taken.dtype == object and _are_kept_so(set(map(type, taken.tolist()))):
        return np.asarray(taken)
    codes, labels = coded(taken)
    occurs = np.bincount(codes + 1, minlength=len(labels) + 1) > 0  # the code -1 selects the last entry
    occurring = np.flatnonzero(occurs) - 1
    places = np.cumsum(occurs)[codes + 1] - 1
    return np.asarray(_label_array([labels[code] for code in occurring.tolist()])[places])


def _are_kept_so(kinds: set[type]) -> bool:
    """Return whether labels of these types, in an array of objects, are in the kept form."""
    return str in kinds and kinds <= {str, NoneType}


def _label_array(labels: list[Any]) -> Array:
    """Return labels in the narrowest type, which depends on these labels alone."""
    kinds = set(map(type, labels))
    if kinds <= {float, NoneType}:
        return np.array(labels, dtype=np.float64)
    if kinds <= {float, int} and all(label == int(label) and -(1 << 63) <= label < 1 << 63 for label in labels):
        return np.array(list(map(int, labels)), dtype=np.int64)
    return _objects(labels)


def _objects(labels: list[Any]) -> Array:
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def _end_to_end(a: Array, b: Array) -> Array:
    if a.dtype == b.dtype:
        return np.concatenate([a, b])
    return _objects([*a.tolist(), *b.tolist()])


def _stored_sparse(matrix: Any) -> Sparse:
    matrix.eliminate_zeros()
    matrix.sort_indices()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return Sparse(indptr, indices, doubles(matrix.data), matrix.shape[1])


def _as_sparse(data: Data) -> Any:
    if isinstance(data, Sparse):
        return data.matrix()
    from scipy.sparse import csr_array

    try:
        return csr_array(data.floats())
    except (TypeError, ValueError) as error:
        raise MergeError(
            f"categorical columns cannot be added to sparse rows ({error}); pass dense rows to both models"
        ) from None
