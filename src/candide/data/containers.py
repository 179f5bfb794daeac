"""Containers of tables: column names, row selection, imputation, and conversion to the original cell types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array
from .arrays import as_2d_array, as_array, as_frame, as_series, is_missing, is_sparse, time_zone_of
from .conversion import in_zone, time_zone
from .index import is_whole
from .sparse import checked_rows


class Imputation(NamedTuple):
    """A mask of the missing cells of a column, and the imputed value of every cell."""

    missing: Array
    values: Array


def records_to_columns(X: Any) -> Any:
    """Return a list of dicts, one for each row, as columns, with None where a dict omits one; others unchanged.

    >>> records_to_columns([{"age": 31, "job": "cook"}, {"age": 58}])
    {'age': [31, 58], 'job': ['cook', None]}
    """
    if not isinstance(X, (list, tuple)) or not X or not all(isinstance(row, Mapping) for row in X):
        return X
    names = dict.fromkeys(name for row in X for name in row)
    return {name: [row.get(name) for row in X] for name in names}


def column_names(X: Any) -> tuple[Any, ...] | None:
    """Return the names of the columns; None if they have none."""
    if is_sparse(X):  # first, because some sparse matrices are dicts
        return None
    if isinstance(X, Mapping):
        return tuple(X)
    frame = as_frame(X)
    return None if frame is None else tuple(frame.columns)


def frame_library(X: Any) -> Any:
    """Return the library of a data frame, for ``new_frame``; None if ``X`` is not a data frame."""
    frame = None if isinstance(X, Mapping) or is_sparse(X) else as_frame(X)
    return None if frame is None else frame.implementation


def frame_library_by_name(name: str | None) -> Any:
    """Return the library of data frames with this name; None for None."""
    import narwhals as nw

    return None if name is None else nw.Implementation(name)


def select_existing(X: Any, names: Sequence[Any]) -> Any:
    """Return the columns with these names, as far as the table has them.

    >>> select_existing({"a": [1], "b": [2], "c": [3]}, ["c", "a", "d"])
    {'c': [3], 'a': [1]}
    """
    if isinstance(X, Mapping):
        return {name: X[name] for name in names if name in X}
    frame = as_frame(X)
    assert frame is not None
    known = set(frame.columns)
    return X if known == set(names) else frame.select([name for name in names if name in known]).to_native()


def rename_columns(X: Any, names: Sequence[Any]) -> dict[Any, Any]:
    """Return the columns under new names, by position."""
    columns = _column_list(X)
    if len(columns) != len(names):
        raise InputError(
            f"X has {len(columns)} features, but NaiveBayes is expecting {len(names)} features as input; pass the "
            "columns it was trained on"
        )
    return dict(zip(names, columns, strict=True))


def _column_list(X: Any) -> list[Any]:
    if is_sparse(X):
        return list(checked_rows(X).toarray().T)
    if isinstance(X, Mapping):
        return list(X.values())
    frame = as_frame(X)
    return list(as_2d_array(X).T) if frame is None else [series.to_native() for series in frame.iter_columns()]


def count_rows(X: Any) -> int | None:
    """Return the number of rows of any input of ``fit``; None if it is not known before reading."""
    if isinstance(X, Mapping) and not is_sparse(X):
        return next((len(values) for values in X.values()), 0)
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else None


def take_rows(X: Any, rows: Array) -> Any:
    """Return some rows, by ascending positions, in a container of the same type.

    >>> take_rows({"age": [31, 58, 40], "job": ["cook", "smith", None]}, np.array([0, 2]))
    {'age': [31, 40], 'job': ['cook', None]}
    """
    import narwhals.stable.v2 as nw

    if is_sparse(X):
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: take_rows(values, rows) for name, values in X.items()}
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if isinstance(X, np.ndarray):
        return X[rows]
    if nw.dependencies.is_into_series(X):
        return nw.from_native(X, series_only=True)[rows].to_native()
    frame = as_frame(X)
    if frame is not None:
        return frame[rows, :].to_native()
    # Arrow arrays and the like.
    return X.take(rows) if hasattr(X, "take") else as_array(X, "X")[rows]


def fill_missing(X: Any, fillings: Mapping[Any, Imputation]) -> Any:
    """Return ``X`` with imputed values in the missing cells of some columns, by name or position.

    >>> age = Imputation(missing=np.array([False, True]), values=np.array([40.0, 44.0]))
    >>> fill_missing({"age": [31.0, None], "job": ["cook", "smith"]}, {"age": age})
    {'age': [31.0, 44.0], 'job': ['cook', 'smith']}
    """
    if is_sparse(X):
        return _fill_matrix(X, fillings)
    if isinstance(X, Mapping):
        return {name: _fill_column(values, fillings.get(name)) for name, values in X.items()}
    frame = as_frame(X)
    if frame is None:
        return _fill_array(as_2d_array(X), fillings)
    new = [_fill_series(frame.get_column(name), filling) for name, filling in fillings.items()]
    return frame.with_columns(*new).to_native() if new else X


def _fill_column(values: Any, filling: Imputation | None) -> Any:
    """Fill one column of a dict: a series, an array or a list."""
    import narwhals.stable.v2 as nw

    if filling is None:
        return values
    if nw.dependencies.is_into_series(values):
        return _fill_series(nw.from_native(values, series_only=True), filling).to_native()
    array = as_array(values, "a column")
    column = _fill_array(array[:, None], {0: filling})[:, 0]
    return type(values)(column.tolist()) if isinstance(values, (list, tuple)) else column


def _fill_array(values: Array, fillings: Mapping[Any, Imputation]) -> Array:
    out = values.copy()
    for j, filling in fillings.items():
        cells = values[:, j]
        known = first_valid(cells)
        out[filling.missing, j] = [to_cell_type(known, guess) for guess in filling.values[filling.missing].tolist()]
    return out


def _fill_series(series: Any, filling: Imputation) -> Any:
    """Fill the missing cells of a series in its own data type: integers are rounded."""
    places = np.flatnonzero(filling.missing)
    guesses = [to_cell_type(first_valid(series), guess) for guess in filling.values[places].tolist()]
    if series.dtype.is_integer():
        guesses = [round(guess) for guess in guesses]
    return _scatter(series, places, guesses)


def _scatter(series: Any, places: Array, guesses: Any) -> Any:
    import narwhals.stable.v2 as nw

    if series.implementation.is_polars() and series.dtype in (nw.Categorical, nw.Enum):
        # Polars before 1.32 cannot write texts into a column of categories: it raises, or leaves them missing.
        texts = series.cast(nw.String).scatter(places, guesses).to_native()
        return nw.from_native(texts.cast(series.to_native().dtype), series_only=True)
    if series.implementation.is_polars() and series.dtype.is_temporal():
        # Polars writes the microseconds of Python's dates into a column of nanoseconds.
        guesses = nw.new_series(series.name, guesses, series.dtype, backend=series.implementation)
    if not series.implementation.is_pyarrow():
        return series.scatter(places, guesses)
    # pyarrow cannot write durations or categories into a column.
    cells = dict(enumerate(series.to_list())) | dict(zip(places.tolist(), guesses, strict=True))
    new = nw.new_series(series.name, list(cells.values()), backend=series.implementation).to_native()
    return nw.from_native(new.cast(series.to_native().type), series_only=True).alias(series.name)


def _fill_matrix(X: Any, fillings: Mapping[Any, Imputation]) -> Any:
    """Fill the stored NaN cells of a sparse matrix."""
    matrix = checked_rows(X).tocoo(copy=True).astype(np.float64)
    for j, filling in fillings.items():
        here = np.flatnonzero((matrix.col == j) & np.isnan(matrix.data))
        matrix.data[here] = filling.values[matrix.row[here]]
    return matrix.asformat(X.format)


def storage_types(X: Any) -> dict[Any, str]:
    """Return the storage type of each column, by name or position, in words for messages.

    Readers of text formats, which store texts alone, say in the metadata of a field what they look like.

    >>> storage_types({"age": [31, 58], "job": np.array(["cook", "smith"], dtype=object)})
    {'age': 'storage type int64', 'job': 'storage type object'}
    """
    if isinstance(X, Mapping) and not is_sparse(X):
        columns: dict[Any, Any] = {name: _dtype(values) for name, values in X.items()}
    elif is_sparse(X) or as_frame(X) is None:
        values = X if is_sparse(X) else as_array(X, "X")
        columns = dict.fromkeys(range(values.shape[1]), values.dtype)
    elif hasattr(X, "schema") and hasattr(X.schema, "field"):  # pyarrow
        return {field.name: _metadata(field, DECIDED) or f"storage type {field.type}" for field in X.schema}
    else:
        frame = as_frame(X)
        assert frame is not None
        columns = {series.name: series.to_native().dtype for series in frame.iter_columns()}
    return {name: f"storage type {dtype}" for name, dtype in columns.items()}


def column_values(X: Any, name: Any) -> list[Any]:
    """Return the cells of a column that are not missing, by name or position."""
    if isinstance(X, Mapping):
        cells = as_array(X[name], "a column").tolist()
    else:
        frame = as_frame(X)
        cells = as_2d_array(X)[:, name].tolist() if frame is None else frame.get_column(name).to_list()
    return [cell for cell in cells if not is_missing(cell)]


#: Metadata keys under which file readers store how the type of a column was decided, its declared type, and the formats
#: that its dates fit, one in each line.
DECIDED, DECLARED, DATE_FORMATS = b"candide.decided", b"candide.declared", b"candide.date_formats"


def declared_types(X: Any) -> dict[Any, str]:
    """Return the types of columns that were declared when a file was opened."""
    return _all_metadata(X, DECLARED)


def date_formats(X: Any) -> dict[Any, str]:
    """Return the formats in which the dates of a text file were read, except ISO format."""
    return {name: formats.partition("\n")[0] for name, formats in _all_metadata(X, DATE_FORMATS).items()}


def _all_metadata(X: Any, key: bytes) -> dict[Any, str]:
    fields = X.schema if hasattr(X, "schema") and hasattr(X.schema, "field") else ()
    found = {field.name: _metadata(field, key) for field in fields}
    return {name: value for name, value in found.items() if value}


def _metadata(field: Any, key: bytes) -> str:
    return str((field.metadata or {}).get(key, b"").decode())


def _dtype(values: Any) -> Any:
    dtype = getattr(values, "dtype", None)
    return getattr(values, "type", None) or as_array(values, "a column").dtype if dtype is None else dtype


# Rows that are searched first for a cell with a value.
_FIRST_ROWS = 64


def time_zones(examples: Mapping[Any, Any]) -> dict[Any, tzinfo]:
    """Return the time zones of those columns whose neutral cell has one."""
    found = {name: cell.tzinfo for name, cell in examples.items() if isinstance(cell, datetime)}
    return {name: zone for name, zone in found.items() if zone is not None}


def neutral_cells(X: Any) -> dict[Any, Any]:
    """Return a neutral cell (0, False, 1970-01-01) for each column of booleans, integers or times.

    The keys are names or positions. The cells have the type of a column but do not reveal its data.

    >>> neutral_cells({"age": [31, 58], "job": ["cook", "smith"], "member": [None, True]})
    {'age': 0, 'member': False}
    """
    found = {name: _neutral_cell(cell) for name, cell in _first_cells(X).items()}
    return {name: example for name, example in found.items() if example is not None}


def _first_cells(X: Any) -> dict[Any, Any]:
    if is_sparse(X):
        return {}
    if isinstance(X, Mapping):
        return {name: _first_cell(values, name) for name, values in X.items()}
    frame = as_frame(X)
    if frame is None:
        values = as_2d_array(X)
        return {} if values.dtype.kind in "biuf" else {j: first_valid(values[:, j]) for j in range(values.shape[1])}
    return {name: _first(frame.get_column(name)) for name, dtype in frame.schema.items() if not dtype.is_float()}


def _first_cell(values: Any, name: Any) -> Any:
    series = as_series(values)
    return first_valid(as_array(values, f"column {name!r}")) if series is None else _first(series)


def _first(series: Any) -> Any:
    cell, zone = first_valid(series), time_zone_of(series)
    return datetime(1970, 1, 1, tzinfo=time_zone(zone)) if cell is None and zone is not None else cell


def first_valid(cells: Any) -> Any:
    """Return the first cell of an array or a series that is not missing; None if all are."""
    slices = slice(_FIRST_ROWS), slice(_FIRST_ROWS, None)
    return next((cell for part in slices for cell in _cell_list(cells[part]) if not is_missing(cell)), None)


def _cell_list(cells: Any) -> list[Any]:
    if not isinstance(cells, np.ndarray):
        return list(cells.to_list())
    # NumPy would return integers for units finer than microseconds.
    exact = cells.astype(f"{cells.dtype.kind}8[us]") if cells.dtype.kind in "mM" else cells
    return list(exact.tolist())


def _neutral_cell(cell: Any) -> Any:
    """Return a neutral cell of the same type; None for texts and floats."""
    if isinstance(cell, (bool, np.bool_)):
        return False
    if isinstance(cell, (int, np.integer)):
        return 0
    if isinstance(cell, datetime):
        return datetime(1970, 1, 1, tzinfo=time_zone(cell.tzinfo))
    if isinstance(cell, date):
        return date(1970, 1, 1)
    is_duration = isinstance(cell, timedelta) or type(cell).__name__ == "MonthDayNano"
    return timedelta() if is_duration else time() if isinstance(cell, time) else None


def to_cell_type(example: Any, number: Any) -> Any:
    """Return a number converted to the type of ``example``."""
    if isinstance(number, datetime) and number.tzinfo is not None and isinstance(example, datetime):
        return in_zone(number, number.tzinfo) if example.tzinfo is None else number.astimezone(example.tzinfo)
    if not isinstance(number, (int, float)):
        return number
    if isinstance(example, (bool, np.bool_)):
        return number >= 0.5
    if isinstance(example, datetime):
        return _localize(datetime(1970, 1, 1) + timedelta(days=number), example.tzinfo)
    if isinstance(example, date):
        return date(1970, 1, 1) + timedelta(days=round(number))
    if isinstance(example, timedelta):
        return timedelta(seconds=number)
    return (datetime.min + timedelta(seconds=number)).time() if isinstance(example, time) else number


def _localize(moment: datetime, zone: Any) -> datetime:
    # Time zones of pytz apply daylight saving time in localize only.
    return zone.localize(moment) if hasattr(zone, "localize") else moment.replace(tzinfo=zone)


def to_cell_types(example: Any, cells: Array) -> Array:
    """Return numbers converted to the type of ``example``; missing cells and other objects stay as they are.

    >>> to_cell_types(date(1970, 1, 1), np.array([19782.0, np.nan])).tolist()
    [datetime.date(2024, 2, 29), None]
    """
    from .dates import days_to_datetimes
    from .factorize import NUMBERS

    if example is None or not all(isinstance(cell, (*NUMBERS, type(None))) for cell in cells.tolist()):
        return cells
    numbers = cells.astype(np.float64)
    known = ~np.isnan(numbers)
    if isinstance(example, int):
        return numbers.astype(type(example)) if known.all() and is_whole(numbers) else numbers
    if isinstance(example, date) and getattr(example, "tzinfo", None) is None:
        return days_to_datetimes(numbers).astype("datetime64[us]" if isinstance(example, datetime) else "datetime64[D]")
    out = np.full(len(numbers), None, dtype=object)
    out[known] = [to_cell_type(example, number) for number in numbers[known].tolist()]
    return out
