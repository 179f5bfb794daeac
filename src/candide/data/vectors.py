"""Columns of lists, or of vectors of Spark ML, as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array

# Vectors of up to so many numbers become dense rows, longer ones sparse rows: by the length alone, because a column
# of Spark ML holds both kinds of vectors.
_MOST_DENSE = 1024


def as_matrix(X: Any) -> Any:
    """Return one column of lists of equal length or of vectors, as features often come, as a matrix; all else as it is.

    >>> import pyarrow as pa
    >>> as_matrix(pa.table({"features": [[1.0, 2.0], [3.0, None]]}))
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    import pyarrow as pa

    if not isinstance(X, pa.Table) or X.num_columns != 1:
        return X
    name, kind = X.column_names[0], X.schema.types[0]
    if is_vector(kind):
        return _of_vectors(X.column(0).combine_chunks(), name)
    return (
        _of_lists(X.column(0).combine_chunks(), name) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else X
    )


def is_vector(kind: Any) -> bool:
    """Return whether a type of Arrow is that of the vectors of Spark ML."""
    import pyarrow as pa

    return pa.types.is_struct(kind) and [field.name for field in kind] == ["type", "size", "indices", "values"]


def _of_lists(lists: Any, name: str) -> Array:
    import pyarrow.compute as pc

    _check_lengths(lists, pc.list_value_length(lists), name, "lists")
    values: Array = lists.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(len(lists), -1)


def _of_vectors(vectors: Any, name: str) -> Any:
    """Return vectors as an array, or as a sparse matrix if they are long."""
    import pyarrow.compute as pc
    from scipy.sparse import csr_array

    _, sizes, indices, values = vectors.flatten()
    n_values = pc.list_value_length(values)
    lengths = pc.coalesce(sizes, n_values)  # dense vectors have no size
    _check_lengths(vectors, lengths, name, "vectors")
    n_columns = lengths[0].as_py() if len(vectors) else 0
    cells = values.flatten().to_numpy(zero_copy_only=False)
    if n_columns <= _MOST_DENSE and sizes.null_count == len(sizes):
        return cells.reshape(len(vectors), -1)
    indptr = np.concatenate([[0], np.cumsum(n_values.to_numpy(zero_copy_only=False), dtype=np.int64)])
    columns = np.arange(indptr[-1]) - np.repeat(indptr[:-1], np.diff(indptr))
    columns[np.repeat(sizes.is_valid().to_numpy(zero_copy_only=False), np.diff(indptr))] = indices.flatten().to_numpy()
    matrix = csr_array((cells, columns, indptr), shape=(len(vectors), n_columns))
    return matrix.toarray() if n_columns <= _MOST_DENSE else matrix


def _check_lengths(cells: Any, lengths: Any, name: str, what: str) -> None:
    """Raise an error for nulls, and for lists or vectors that are not of the same length."""
    import pyarrow.compute as pc

    shortest, longest = pc.min_max(lengths).values() if len(cells) else (None, None)
    if cells.null_count or shortest != longest:
        found = "a null" if cells.null_count else f"{what} of lengths {shortest} and {longest}"
        raise InputError(f"column {name!r} contains {found}; expected {what} of the same length in every row")
