"""Arrays, sparse matrices and data frames as arrays of numbers that the kernels read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ..exceptions import CellTypeError, InputError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse

# Data types that kernels read without conversion; all others are converted to float64.
KERNEL_DTYPES = {np.dtype(t) for t in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")}
# Above this number of columns a copy into one array is cheaper than handling each column separately.
_MAX_SEPARATE_COLUMNS, MANY_COLUMNS = 512, 64

Rows = TypeVar("Rows", bound=Any)


def read_numbers(X: Any) -> Data:
    """Return rows of numbers from an array, a sparse matrix, a data frame or lists; missing values become NaN.

    >>> read_numbers([[1, 2], [3, None]]).floats()
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in KERNEL_DTYPES and X.flags.aligned:
        return check_not_empty(Dense(X, *X.shape))
    if is_sparse(X):
        return check_not_empty(_sparse_numbers(X))
    frame = as_frame(X)
    if frame is not None:
        return check_not_empty(_frame_numbers(frame))
    return check_not_empty(Dense.of(_numbers(as_2d_array(X))))


def _frame_numbers(frame: Any) -> Dense:
    values, names = as_single_array(frame), tuple(frame.columns)
    if values is not None:
        return Dense.of(values, names)
    columns = tuple(number_column(series, series.name) for series in frame.iter_columns())
    data = Dense(columns, len(frame), len(columns), 0, names)
    return Dense.of(data.floats(), names) if len(columns) > _MAX_SEPARATE_COLUMNS else data


def as_single_array(frame: Any) -> Array | None:
    """Return a data frame as one array if that is cheap, which is faster than reading many columns; else None."""
    native = frame.to_native()
    if frame.implementation.is_pandas() and len(frame.columns):
        first = native.dtypes.iloc[0]
        alike = isinstance(first, np.dtype) and first in KERNEL_DTYPES and bool((native.dtypes == first).all())
        return aligned(native.to_numpy()) if alike else None
    many = frame.implementation.is_polars() and len(frame.columns) > MANY_COLUMNS
    if many and all(dtype.is_numeric() for dtype in frame.schema.dtypes()):
        values = native.to_numpy()
        return aligned(values) if values.dtype in KERNEL_DTYPES else None
    return None


def is_sparse(X: Any) -> bool:
    """Return whether ``X`` is a scipy sparse matrix or array, without importing scipy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def as_frame(X: Any) -> Any | None:
    """Return a narwhals frame over a table of pandas, polars, pyarrow and others; None if ``X`` is not a table."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return None
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(X):
        try:
            return nw.from_native(X, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            raise InputError(f"two columns of X have the same name ({error}); give each a unique name") from None
    reject_lazy_table(X)
    return None


def as_series(values: Any) -> Any | None:
    """Return a narwhals series over a column of pandas, polars, pyarrow and others; None if it is not one.

    So are an index and an array of pandas, and an array of pyarrow: as NumPy arrays, they lose their types.
    """
    import narwhals.stable.v2 as nw

    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(values, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        values = pandas.Series(values)
    elif arrow is not None and isinstance(values, arrow.Array):
        values = arrow.chunked_array([values])
    return nw.from_native(values, series_only=True) if nw.dependencies.is_into_series(values) else None


def time_zone_of(series: Any) -> Any:
    """Return the time zone of a series of dates, as its library has it; None if it has none."""
    # narwhals does not know all zones of pandas.
    dtype = getattr(series.to_native(), "dtype", None)
    return getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None) or getattr(series.dtype, "time_zone", None)


def is_in_memory(X: Any) -> bool:
    """Return whether ``X`` is a data frame or a series in memory."""
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X))


# Tables that are not in memory, recognized by their attributes, and what to pass instead.
_LAZY_TABLES = (
    (("collect", "collect_schema"), "X.collect()"),
    (
        ("sql_query", "to_arrow_table"),
        "X.to_arrow_table(); to count in DuckDB: candide.fit_sql(model, None, X, label=…)",
    ),
    (("read_next_batch", "read_all"), "X.read_all()"),
    (("to_batches", "to_table", "count_rows"), "X.to_table(); for files larger than memory: candide.read(…)"),
    (("batches", "to_table", "roles"), "X.to_table(); fit, evaluate and score accept it directly, without y"),
    (("columns", "num_columns", "to_struct_array"), "pyarrow.Table.from_batches([X])"),
)


def reject_lazy_table(X: Any) -> None:
    """Raise an error for lazy frames, relations, datasets and readers, whose rows are not in memory."""
    for has, instead in _LAZY_TABLES:
        if all(hasattr(type(X), name) for name in has):
            package = type(X).__module__.partition(".")[0].lstrip("_")
            raise InputError(f"X is a {package} {type(X).__name__}, which is not in memory; pass {instead}")


def new_frame(columns: dict[Any, Array], backend: Any) -> Any:
    """Return a data frame of a library, given as a narwhals implementation, with these columns."""
    import narwhals.stable.v2 as nw

    return nw.from_dict({str(name): column.tolist() for name, column in columns.items()}, backend=backend).to_native()


def frame_like(X: Any, columns: list[Array]) -> Any | None:
    """Return a data frame of the same library and with the same names as ``X``; None if ``X`` is not a data frame."""
    frame = as_frame(X)
    if frame is None:
        return None
    import narwhals.stable.v2 as nw

    made = dict(zip(frame.columns, columns, strict=True))
    out = nw.from_dict({name: column.tolist() for name, column in made.items()}, backend=frame.implementation)
    native = out.to_native()
    if hasattr(native, "set_index") and hasattr(X, "index"):
        native.index = X.index  # pandas
    return native


def as_array(values: Any, name: str) -> Array:
    """Return ``values`` as an array. A list of texts and other objects becomes an object array: NumPy would turn NaN
    into "nan".


    So does a list of texts of which one ends in a NUL character, which NumPy would strip.
    """
    if isinstance(values, np.ma.MaskedArray):
        objects = np.array(values.data, dtype=object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    try:
        array = np.asarray(_one_chunk(values))
    except ValueError as error:
        raise InputError(f"{name} is not an array ({error}); pass rows of the same length") from None
    if array.dtype.kind not in "US" or isinstance(values, np.ndarray):
        return array
    if hasattr(values, "to_list"):  # a series of polars
        values = values.to_list()
    if not isinstance(values, (list, tuple)):
        return array
    objects = np.asarray(values, dtype=object)
    if not all(isinstance(value, (str, bytes)) for value in objects.flat):
        return objects
    return array if np.strings.str_len(array).sum() == sum(map(len, objects.flat)) else objects


def aligned(values: Array) -> Array:
    """Return ``values``, copied if they are not aligned, as in packed records; kernels need alignment."""
    return values if values.flags.aligned else values.copy()


def as_2d_array(X: Any) -> Array:
    """Return ``X`` as a two-dimensional array of any data type."""
    if X is None or isinstance(X, (str, bytes)):
        raise InputError(f"Expected 2D array, got {X!r} instead; pass a table of numbers, rows × columns")
    if isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
        raise InputError(
            "X is a list of dicts, one for each row; expected a table; pass a dict of columns, or pandas.DataFrame(X)"
        )
    values = as_array(X, "X")
    if values.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of type {values.dtype}; pass real numbers")
    if values.ndim != 2:
        shape = "scalar array" if values.ndim == 0 else f"{values.ndim}D array"
        is_series = hasattr(X, "iloc")
        one_row = "df.iloc[[i]] for a row of a data frame" if is_series else "X.reshape(1, -1) for a single row"
        raise InputError(
            f"Expected 2D array, got {shape} instead (shape {values.shape}). Reshape your data: "
            f"X.reshape(-1, 1) for a single column, {one_row}"
        )
    return values


def series_array(series: Any) -> Array:
    """Return a column of a data frame as an array of any data type."""
    if series.implementation.is_pyarrow():
        return np.asarray(_one_chunk(series.to_native()))
    return np.asarray(series.to_numpy())


def _one_chunk(values: Any) -> Any:
    # pyarrow's chunked arrays lose nulls among dictionary-encoded values: they turn into the last value.
    return values.combine_chunks() if hasattr(values, "combine_chunks") else values


def number_column(series: Any, name: str) -> Array:
    """Return a column of a data frame as numbers; nulls become NaN."""
    dtype = series.dtype
    if dtype.is_temporal():
        what = f"column {name!r} contains dates or times ({dtype})"
        raise InputError(f"{what}; pass numbers, such as days since a reference date")
    values = series_array(series)
    if values.ndim == 1 and values.dtype in KERNEL_DTYPES:
        return aligned(values)
    return _parse_objects(np.asarray(values, dtype=object), name)


def missing_cells(column: Array) -> Array:
    """Return a mask of the missing cells of a column of numbers or categories."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    return np.fromiter((is_missing(value) for value in column.tolist()), dtype=bool, count=len(column))


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    if isinstance(value, (float, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _numbers(values: Array) -> Array:
    if values.dtype in KERNEL_DTYPES:
        return aligned(values)
    if values.dtype.kind in "mM":
        raise InputError(
            f"X contains dates or times ({values.dtype}); pass numbers, such as days since a reference date"
        )
    if values.dtype.kind in "OUS":
        if values.dtype.kind == "O":
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                return values.astype(np.float64)
        columns = [_parse_objects(values[:, j].astype(object), j) for j in range(values.shape[1])]
        return np.column_stack(columns) if columns else np.empty(values.shape)
    return np.asarray(values, dtype=np.float64)


def _parse_objects(values: Array, name: str | int) -> Floats:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    out = np.full(len(values), np.nan)
    texts: list[int] = []
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        try:
            out[row] = float(value)
        except ValueError:
            texts.append(row)
        except OverflowError:
            raise overflow_error(name, row) from None
        except TypeError as error:
            found = f"column {name!r} contains a {type(value).__name__} at row {row}"
            raise CellTypeError(f"{found}; {error}; pass one number per cell") from None
    if texts:
        raise InputError(
            f"{describe_text_cells(name, len(texts), values[texts[0]], texts[0])}, but this model needs numbers; "
            "clean the values, or use CategoricalNB for categories"
        )
    return out


def overflow_error(name: Any, row: int) -> InputError:
    """Return the error for an integer beyond the range of float64. Its digits are not shown: there may be too many."""
    return InputError(f"column {name!r} contains a number beyond 1.8e308 at row {row}; rescale the column")


def describe_text_cells(name: Any, n_texts: int, first: Any, row: int) -> str:
    """Return the first half of a message about strings in a column of numbers."""
    return f"column {name!r} contains {n_texts} text value{'s' if n_texts > 1 else ''} (first: {first!r} at row {row})"


def _sparse_numbers(X: Any) -> Sparse:
    from .sparse import checked_rows

    matrix = checked_rows(X)
    data = Sparse.of(matrix)
    # Cells that are stored twice are added, as scipy does. A matrix in canonical format has none.
    if not matrix.has_canonical_format and Kernels().has_repeats(data):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        return Sparse.of(matrix)
    return data


def check_not_empty(data: Rows) -> Rows:
    """Return ``data`` if it has at least one row and one column; raise otherwise."""
    shape = (data.n_rows, data.n_columns)
    if 0 in shape:
        what = "feature(s)" if data.n_rows else "sample(s)"
        raise InputError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required; pass rows")
    return data
