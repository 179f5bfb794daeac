"""Tables of any container as typed columns: numbers, coded categories and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from typing import Any

import numpy as np

from ..exceptions import InputError, warn
from ..kernels.layouts import Array, Dense, TextRows
from ..kernels.tables import infinite_cell
from .arrays import (
    MANY_COLUMNS,
    as_2d_array,
    as_array,
    as_frame,
    as_series,
    as_single_array,
    check_not_empty,
    is_sparse,
    time_zone_of,
)
from .column_kinds import build_column, build_columns
from .column_types import Cells, ColumnType
from .columns import Column, Columns, Kind
from .conversion import in_zone
from .factorize import Factorized, array_cells, series_cells
from .sparse import checked_rows

# A sparse matrix with more columns holds words or the like, too many for a model per column.
MOST_SPARSE_COLUMNS = 4096
# Rows per block: columns of one array are interleaved in memory, so blocks of rows read each cache line once.
_BLOCK_ROWS = 1 << 13


def read_table(
    X: Any, kinds: Mapping[Any, Kind] | None = None, types: Mapping[Any, ColumnType] | None = None,
    zones: Mapping[Any, tzinfo] | None = None,
) -> Columns:  # fmt: skip
    """Return the typed columns of a data frame, a dict of columns, a 2-D array, lists of rows, or a sparse matrix.

    Numbers and booleans (0 and 1) become number columns. Strings, categoricals and mixed objects become categories;
    many distinct texts of several words become text columns. A date becomes a number column, the days since 1970 in
    local time, and the categories ``month``, ``weekday`` and, if times of day occur, ``hour``. Durations and times of
    day become numbers, in seconds. Strings that look like numbers stay strings.

    ``kinds`` sets the kinds of columns by name: a number column may be read as categories, strings as numbers or
    texts. The kind "missing" sets nothing. For a date in ``kinds``, only the parts in ``kinds`` are made. ``types`` are
    the types of columns of ``X`` by name; their cells are converted, or refused if a value would change its meaning.
    ``zones`` are the time zones in which dates are read, by name; in other columns, those of the dates themselves.

    >>> table = read_table({"age": [31, None, 58], "job": ["cook", "smith", None]})
    >>> [(column.name, column.kind, column.values.tolist()) for column in table.columns]
    [('age', 'number', [31.0, nan, 58.0]), ('job', 'category', [0, 1, -1])]
    >>> table.columns[1].labels.tolist()
    ['cook', 'smith']
    """
    made = [
        column
        for name, cells in _table_cells(X, zones)
        for column in build_columns(name, _in_zone(cells, zones, name), kinds or {}, types or {})
    ]
    n_rows = len(made[0].values) if made else _n_rows(X)
    return _check_finite(_check_names(_check_lengths(check_not_empty(Columns(tuple(made), n_rows)))))


def table_of(
    data: Dense, kinds: tuple[Kind, ...], names: tuple[Any, ...], texts: Mapping[int, TextRows] | None = None
) -> Columns:
    """Return the table of rows as a ``Sample`` keeps them; ``texts`` are those of text columns, by position.

    >>> table = read_table([[1.5, "a"], [2.5, None]])
    >>> again = table_of(table.dense(), table.kinds, table.names)
    >>> again.kinds, again.columns[1].values.tolist()
    (('number', 'category'), [0, -1])
    """
    texts = texts or {}
    columns = [
        Column(name, "text", data.column(j), texts=texts[j])
        if j in texts
        else build_column(name, array_cells(data.column(j), name), kind)
        for j, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return Columns(tuple(columns), data.n_rows, data.first_row)


def _table_cells(X: Any, zones: Mapping[Any, tzinfo] | None) -> Iterator[tuple[Any, Cells]]:
    if is_sparse(X):
        return _sparse_cells(X)
    if isinstance(X, Mapping):
        return _mapping_cells(X, zones)
    frame = as_frame(X)
    if frame is None:
        values = as_2d_array(X)
        return _array_cells(values, range(values.shape[1]))
    # One array avoids the overhead of many separate columns, but copies; few columns are read one by one.
    whole = as_single_array(frame) if len(frame.columns) > MANY_COLUMNS else None
    if whole is not None:
        return _array_cells(whole, frame.columns)
    return ((series.name, _series_cells(series, zones)) for series in frame.iter_columns())


def _series_cells(series: Any, zones: Mapping[Any, tzinfo] | None) -> Cells:
    zone = None if zones is None else zones.get(series.name)
    if zones is not None and zone is None and time_zone_of(series) is not None:
        warn(
            f"column {series.name!r} has the time zone {time_zone_of(series)}, but the model was trained on dates "
            "without one; its local time is used; convert it to the zone of training"
        )
    return series_cells(series, zone)


def _in_zone(cells: Cells, zones: Mapping[Any, tzinfo] | None, name: Any) -> Cells:
    """Return cells of Python objects with dates in the zone of their column."""
    if not zones or name not in zones or not isinstance(cells, Factorized):
        return cells
    return cells._replace(labels=[in_zone(label, zones[name]) for label in cells.labels])


def _n_rows(X: Any) -> int:
    """Return the number of rows of a table without columns."""
    frame = None if isinstance(X, Mapping) or is_sparse(X) else as_frame(X)
    return len(frame) if frame is not None else int(np.shape(X)[0]) if np.ndim(X) else 0


def _array_cells(values: Array, names: Iterable[Any]) -> Iterator[tuple[Any, Cells]]:
    return ((name, array_cells(values[:, j], name)) for j, name in enumerate(names))


def _mapping_cells(X: Mapping[Any, Any], zones: Mapping[Any, tzinfo] | None) -> Iterator[tuple[Any, Cells]]:
    for name, values in X.items():
        series = as_series(values)
        if series is not None:
            yield name, _series_cells(series.alias(name), zones)
            continue
        array = as_array(values, f"column {name!r}")
        if array.ndim != 1:
            what = "a single value" if array.ndim == 0 else f"an array of shape {array.shape}"
            raise InputError(f"column {name!r} is {what}; pass one value per row")
        yield name, array_cells(array, name)


def _sparse_cells(X: Any) -> Iterator[tuple[Any, Cells]]:
    if X.ndim == 2 and X.shape[1] > MOST_SPARSE_COLUMNS:
        raise InputError(
            f"X is sparse and has {X.shape[1]} columns; expected at most {MOST_SPARSE_COLUMNS}; for word counts "
            "use MultinomialNB, or select the relevant columns"
        )
    values = as_2d_array(checked_rows(X).toarray(order="F"))
    return _array_cells(values, range(values.shape[1]))


def _check_lengths(table: Columns) -> Columns:
    odd = next((column for column in table.columns if len(column.values) != table.n_rows), None)
    if odd is not None:
        found = f"column {odd.name!r} has {len(odd.values)} cells, {table.name(0)} has {table.n_rows}"
        raise InputError(f"{found}; pass columns of the same length")
    return table


def _check_names(table: Columns) -> Columns:
    names = table.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"two columns have the name {twice!r} (a date column 'x' also adds 'x.month', 'x.weekday' and 'x.hour'); "
            "give each a unique name"
        )
    return table


def _check_finite(table: Columns) -> Columns:
    floats = [column for column in table.columns if column.kind == "number" and column.values.dtype.kind == "f"]
    for begin in range(0, table.n_rows, _BLOCK_ROWS):
        for column in floats:
            if np.isinf(column.values[begin : begin + _BLOCK_ROWS]).any():
                raise infinite_cell(Dense.of((column.values,), (column.name,)))
    return table
