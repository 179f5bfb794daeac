"""Spark's columns of arrays as tables without names."""

from __future__ import annotations

from typing import Any

from ..exceptions import InputError


def as_matrix(X: Any) -> Any:
    """One column of equally long lists, as features come, as rows and columns; all else as it is.

    >>> import pyarrow as pa
    >>> as_matrix(pa.table({"features": [[1.0, 2.0], [3.0, None]]}))
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    import pyarrow as pa

    if not isinstance(X, pa.Table) or X.num_columns != 1:
        return X
    name, kind = X.column_names[0], X.schema.types[0]
    if pa.types.is_struct(kind) and "values" in [field.name for field in kind]:
        raise InputError(
            f"column {name!r} holds vectors of Spark's machine learning; make arrays of them, with "
            f"pyspark.ml.functions.vector_to_array({name!r})"
        )
    return _stacked(X.column(0).combine_chunks(), name) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else X


def _stacked(lists: Any, name: str) -> Any:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(lists)
    shortest, longest = pc.min_max(lengths).values() if len(lists) else (None, None)
    if lists.null_count or shortest != longest:
        found = "a null" if lists.null_count else f"lists of {shortest} and of {longest}"
        raise InputError(f"column {name!r} holds {found}; give every row a list, and all lists the same length")
    return lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
