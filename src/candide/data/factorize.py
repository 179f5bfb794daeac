"""Cells of any type as integer codes and distinct labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from .arrays import describe_text_cells, is_missing, overflow_error, series_array, time_zone_of
from .columns import Column
from .conversion import to_text
from .index import EXACT, sort_labels

NUMBERS = (int, float, np.number, np.bool_, Decimal, Fraction)
# Up to this share, texts among numbers are reported as an error ("n/a"); above, the column is categorical.
_MAX_STRAY_SHARE = 0.1


class Factorized(NamedTuple):
    """The position of each row's label among distinct labels, -1 for missing cells."""

    codes: Array
    labels: list[Any]
    declared: bool = False  # the data type of the container is categorical

    def expand(self, values: Array, missing: Any) -> Array:
        """Return the value that belongs to the label of each row."""
        return np.asarray(np.append(values, np.asarray([missing], dtype=values.dtype))[self.codes])

    def rows_where(self, selected: list[bool]) -> Array:
        """Return the rows whose label is selected by a mask over labels."""
        return np.flatnonzero(self.expand(np.array(selected, dtype=bool), False))


def factorize(items: list[Any]) -> tuple[Array, list[Any]]:
    """Return the code of each item, and the distinct items in order of appearance."""
    place: defaultdict[Any, int] = defaultdict()
    place.default_factory = place.__len__  # a new item gets the next code
    codes = np.fromiter(map(place.__getitem__, items), dtype=np.int64, count=len(items))
    return codes, list(place)


def factorize_cells(items: list[Any], name: Any) -> Factorized:
    """Return cells of any types as codes and labels."""
    try:
        codes, labels = factorize(items)
    except TypeError:
        raise unhashable_error(items, name) from None
    missing = [is_missing(label) for label in labels]
    if any(missing):
        position = np.where(missing, -1, np.cumsum(~np.array(missing)) - 1)
        codes, labels = position[codes], [label for label in labels if not is_missing(label)]
    return Factorized(codes, labels)


def unhashable_error(items: Iterable[Any], name: Any) -> InputError:
    """Return the error for a cell that is a list, a dict or another unhashable object."""
    for row, item in enumerate(items):
        try:
            hash(item)
        except TypeError:
            found = f"column {name!r} contains a {type(item).__name__} at row {row} ({item!r})"
            return InputError(
                f"{found}; a cell must be a number, string, boolean or date; split the values into several columns"
            )
    return InputError(f"column {name!r} contains unhashable values; use numbers, strings, booleans or dates")


def category_column(name: Any, found: Factorized) -> Column:
    """Return a category column."""
    texts = set(map(type, found.labels)) == {str}
    plain = found.labels if texts else [python_label(label) for label in found.labels]
    try:
        labels = sort_labels([label for label in plain if label is not None])
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in plain}))
        raise InputError(
            f"column {name!r} contains values of type {kinds}, which cannot be sorted; use numbers, strings, booleans "
            "or dates"
        ) from None
    place = {label: code for code, label in enumerate(labels.tolist())}
    codes = np.fromiter((place.get(label, -1) for label in plain), dtype=np.int32, count=len(plain))
    return Column(name, "category", found.expand(codes, -1), labels)


def python_label(label: Any) -> Any:
    """Return a label as a Python object: int for integers and booleans, str for texts, None for missing cells."""
    if isinstance(label, str):
        return str.__str__(label)  # a member of an enumeration may have another str()
    if isinstance(label, np.generic) and label.dtype.kind in "biufS":
        label = label.item()
    if isinstance(label, (Decimal, Fraction)):
        label = float(label)
    if is_missing(label):
        return None
    if isinstance(label, float):
        return int(label) if label.is_integer() and abs(label) < 1 << 63 else label
    return int(label) if isinstance(label, bool) else label


# Types of which models keep the strings, by module and name, because model files cannot hold the values.
_KEPT_AS_TEXT = {("uuid", "UUID"), ("pandas", "Period"), ("pandas", "Interval")}


def plain_labels(found: Factorized) -> Factorized:
    """Return cells with UUIDs, periods and intervals, and dates that are declared as categories, as strings."""
    kinds = {kind for kind in set(map(type, found.labels)) if kind is not str}
    odd = {kind for kind in kinds if (kind.__module__.partition(".")[0], kind.__name__) in _KEPT_AS_TEXT}
    odd |= {kind for kind in kinds if found.declared and hasattr(kind, "to_pydatetime")}
    if not odd:
        return found
    labels = [to_text(label) or str(label) if type(label) in odd else label for label in found.labels]
    return found._replace(labels=labels)


def unbox_cells(found: Factorized, name: Any, *, numbers: bool = True) -> Array | Factorized:
    """Return dates, times, durations and, if requested, numbers that are objects as an array; others unchanged."""
    kinds = set(map(type, found.labels))
    if not kinds or kinds == {str}:
        return found
    if all(issubclass(kind, NUMBERS) for kind in kinds):
        return _numbers(found, name) if numbers else found
    if all(issubclass(kind, (date, np.datetime64)) for kind in kinds):
        moments = [label.replace(tzinfo=None) if isinstance(label, datetime) else label for label in found.labels]
        return found.expand(np.array(moments, dtype="datetime64[us]"), "NaT")
    if all(issubclass(kind, (timedelta, np.timedelta64)) for kind in kinds):
        return found.expand(np.array(found.labels, dtype="timedelta64[us]"), "NaT")
    if all(issubclass(kind, time) for kind in kinds):
        return found.expand(np.array([_seconds(label) for label in found.labels]), np.nan)
    return found


def _seconds(clock: time) -> float:
    return clock.hour * 3600.0 + clock.minute * 60.0 + clock.second + clock.microsecond / 1e6


def _numbers(found: Factorized, name: Any) -> Floats:
    try:
        return found.expand(np.array([float(label) for label in found.labels]), np.nan)
    except OverflowError:
        rows = found.rows_where([_is_too_large(label) for label in found.labels])
        raise overflow_error(name, int(rows[0])) from None


def _is_too_large(label: Any) -> bool:
    try:
        float(label)
    except OverflowError:
        return True
    return False


def parse_numbers(found: Factorized, name: Any) -> Floats:
    """Return labels as numbers, including numbers written as text; raise for others."""
    values = [_number(label) for label in found.labels]
    rows = found.rows_where([value is None for value in values])
    if len(rows):
        raise InputError(f"{_describe_stray_texts(found, name, rows)}; expected only numbers; clean the values")
    return found.expand(np.array(values, dtype=np.float64), np.nan)


def _number(label: Any) -> float | None:
    try:
        return float(label)
    except (TypeError, ValueError, OverflowError):
        return None


def reject_stray_texts(found: Factorized, name: Any) -> None:
    """Raise an error for a column of numbers with a few texts in it."""
    is_text = [isinstance(label, str) for label in found.labels]
    if all(is_text) or not any(is_text):
        return
    is_number = [isinstance(label, NUMBERS) for label in found.labels]
    texts, n_numbers = found.rows_where(is_text), len(found.rows_where(is_number))
    if len(texts) <= _MAX_STRAY_SHARE * (len(texts) + n_numbers):
        raise InputError(
            f"{_describe_stray_texts(found, name, texts)} among numbers; pass columns={{{name!r}: 'categorical'}} or "
            "clean the values"
        )


def _describe_stray_texts(found: Factorized, name: Any, rows: Array) -> str:
    return describe_text_cells(name, len(rows), found.labels[found.codes[rows[0]]], int(rows[0]))


def series_cells(series: Any, zone: tzinfo | None = None) -> Array | Factorized:
    """Return numbers, dates and durations of a series as arrays, everything else factorized.

    Dates with a time zone are read in local time: of ``zone``, or of their own zone.
    """
    import narwhals.stable.v2 as nw

    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)  # NumPy has no such type
    dtype, name = series.dtype, series.name
    if dtype.is_nested():
        raise InputError(
            f"column {name!r} contains lists or records ({dtype}); a cell must be a number, string, boolean or date; "
            "split the values into several columns"
        )
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _series_numbers(series, nw.Float32 if dtype == nw.Boolean else nw.Float64)
    if time_zone_of(series) is not None:
        return _local_times(series, zone)
    if str(getattr(series.to_native(), "type", "")) == "month_day_nano_interval":
        return _intervals(series.to_native(), name)
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


def _local_times(series: Any, zone: tzinfo | None) -> Array:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        arrow = getattr(native.dtype, "pyarrow_dtype", None)
        if arrow is not None:  # before pandas 3, the Arrow type gives UTC instead of local time
            native = native.astype(f"datetime64[{arrow.unit}, {arrow.tz}]")
        native = native if zone is None else native.dt.tz_convert(zone)
        return np.asarray(native.dt.tz_localize(None).to_numpy())
    offset = None if zone is None else zone.utcoffset(None)
    if zone is not None:
        series = series.dt.convert_time_zone(str(zone) if offset is None else "UTC")
    times = series_array(series.dt.replace_time_zone(None))
    return times + np.timedelta64(offset) if offset else times


def _intervals(native: Any, name: Any) -> Array:
    """Return intervals of Arrow, which DuckDB's INTERVAL becomes, as durations; a day has 24 hours."""
    cells = native.combine_chunks()
    fields = np.dtype([("months", "i4"), ("days", "i4"), ("nanoseconds", "i8")])
    found = np.frombuffer(cells.buffers()[1] or b"", fields)[cells.offset : cells.offset + len(cells)]
    known = np.asarray(cells.is_valid())
    odd = known & (found["months"] != 0)
    if odd.any():
        row = int(odd.argmax())
        raise InputError(
            f"column {name!r} contains an interval of {found['months'][row]} months at row {row}; expected intervals "
            "of days and times, because months differ in length; convert the column to days or seconds in the query"
        )
    microseconds = found["days"] * np.int64(86_400_000_000) + found["nanoseconds"] // 1000
    return np.where(known, microseconds.astype("timedelta64[us]"), np.timedelta64("NaT", "us"))


def array_cells(values: Array, name: Any) -> Array | Factorized:
    """Return numbers, dates and durations of an array as they are, everything else factorized."""
    if values.dtype.kind == "c":
        raise InputError(f"Complex data not supported: column {name!r} is of type {values.dtype}; pass real numbers")
    return values if values.dtype.kind in "biufmM" else factorize_cells(values.tolist(), name)


def _series_numbers(series: Any, nullable_type: Any) -> Array | Factorized:
    import narwhals.stable.v2 as nw

    values = series_array(series)
    if values.dtype.kind == "O" and series.dtype == nw.Decimal:  # a cast by Arrow is off by an ulp
        values = np.array([np.nan if is_missing(cell) else float(cell) for cell in values.tolist()])
    if values.dtype.kind == "O":  # booleans with nulls
        values = series_array(series.cast(nullable_type))
    if values.dtype.kind == "f" and series.dtype.is_integer() and bool((np.abs(values) >= EXACT).any()):
        return factorize_cells(series.to_list(), series.name)  # nulls converted them to float64, which rounds
    return array_cells(values, series.name)


def _pandas_labels(native: Any, name: Any, declared: bool) -> Factorized:
    if hasattr(native, "cat"):
        return Factorized(native.cat.codes.to_numpy(), native.cat.categories.tolist(), declared=True)
    try:
        codes, labels = native.factorize()
    except TypeError:
        raise unhashable_error(native.tolist(), name) from None
    return Factorized(codes, labels.tolist(), declared)


def _arrow_labels(native: Any, declared: bool) -> Factorized:
    encoded = native.dictionary_encode().combine_chunks()
    return Factorized(_integer_codes(np.asarray(encoded.indices)), encoded.dictionary.to_pylist(), declared)


def _polars_labels(series: Any, declared: bool) -> Factorized:
    # Codes are shared by all columns of the process, so labels are read only for codes that occur.
    native = series.to_native()
    occurring = native.drop_nulls().unique()
    places = occurring.to_physical().to_numpy()
    place = np.full(int(places.max(initial=0)) + 2, -1, dtype=np.int32)
    place[places] = np.arange(len(places))
    return Factorized(place[_integer_codes(native.to_physical().to_numpy())], occurring.to_list(), declared)


def _integer_codes(numbers: Array) -> Array:
    """Return codes as integers; they are float64 if some are missing."""
    return numbers if numbers.dtype.kind != "f" else np.where(np.isnan(numbers), -1, numbers).astype(np.int64)
