"""One column of a frame as an array, or as codes and labels where the frame can tell them faster than we."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array
from .columns import series_array
from .index import EXACT
from .labels import Labelled, label_cells, unhashable


def series_cells(series: Any) -> Array | Labelled:
    """Numbers, dates and durations as arrays, everything else by its labels."""
    import narwhals.stable.v2 as nw

    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)  # NumPy has no such type
    dtype, name = series.dtype, series.name
    if dtype.is_nested():
        raise InputError(
            f"column {name!r} holds lists or records ({dtype}); a cell is one number, text, boolean or date; give each "
            "part its own column"
        )
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numbers(series, nw.Float32 if dtype == nw.Boolean else nw.Float64)
    if dtype == nw.Datetime and dtype.time_zone is not None:
        series = _zoned(series, dtype).dt.replace_time_zone(None)  # what the clock showed there
    if dtype.is_temporal() or dtype == nw.Unknown:
        return array_cells(series_array(series), name)
    declared = dtype == nw.Categorical or dtype == nw.Enum
    if series.implementation.is_pandas_like():
        return _pandas_labels(series.to_native(), name, declared)
    if series.implementation.is_pyarrow():
        return _arrow_labels(series.to_native(), declared)
    if series.implementation.is_polars() and (declared or dtype == nw.String):
        return _polars_labels(series if declared else series.cast(nw.Categorical), declared)
    return array_cells(series_array(series), name)


def _zoned(series: Any, dtype: Any) -> Any:
    """Of Arrow in a frame of pandas, pandas' own type: before version 3, the other one shows the clock of UTC."""
    import narwhals.stable.v2 as nw

    if not series.implementation.is_pandas_like() or "pyarrow" not in str(series.to_native().dtype):
        return series
    own = series.to_native().astype(f"datetime64[{dtype.time_unit}, {dtype.time_zone}]")
    return nw.from_native(own, series_only=True)


def array_cells(values: Array, name: Any) -> Array | Labelled:
    """A one-dimensional array: numbers, dates and durations as they are, everything else by its labels."""
    if values.dtype.kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {values.dtype}; pass real numbers")
    return values if values.dtype.kind in "biufmM" else label_cells(values.tolist(), name)


def _numbers(series: Any, with_holes: Any) -> Array | Labelled:
    values = series_array(series)
    if values.dtype.kind == "O":  # booleans with holes, decimals
        values = series_array(series.cast(with_holes))
    if values.dtype.kind == "f" and series.dtype.is_integer() and bool((np.abs(values) >= EXACT).any()):
        return label_cells(series.to_list(), series.name)  # holes made doubles of them, which round
    return array_cells(values, series.name)


def _pandas_labels(native: Any, name: Any, declared: bool) -> Labelled:
    if hasattr(native, "cat"):
        return Labelled(native.cat.codes.to_numpy(), native.cat.categories.tolist(), declared=True)
    try:
        codes, labels = native.factorize()
    except TypeError:
        raise unhashable(native.tolist(), name) from None
    return Labelled(codes, labels.tolist(), declared)


def _arrow_labels(native: Any, declared: bool) -> Labelled:
    encoded = native.dictionary_encode().combine_chunks()
    return Labelled(_codes(np.asarray(encoded.indices)), encoded.dictionary.to_pylist(), declared)


def _polars_labels(series: Any, declared: bool) -> Labelled:
    # A code belongs to all columns of the process, so only those that occur are asked for their labels.
    native = series.to_native()
    occurring = native.drop_nulls().unique()
    places = occurring.to_physical().to_numpy()
    place = np.full(int(places.max(initial=0)) + 2, -1, dtype=np.int32)
    place[places] = np.arange(len(places))
    return Labelled(place[_codes(native.to_physical().to_numpy())], occurring.to_list(), declared)


def _codes(numbers: Array) -> Array:
    """Codes that are doubles, because some are missing, as whole numbers again."""
    return numbers if numbers.dtype.kind != "f" else np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
