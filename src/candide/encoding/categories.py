"""Columns of categories as they are (codes, texts, booleans, pandas and polars categoricals) to small codes.

A column keeps its labels: whole numbers as int64, everything else as objects. Missing is -1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.base import Extent
from ..kernels.data import Array, Dense
from .columns import aligned, as_frame, is_missing, is_sparse, not_empty, series_array, two_dimensional
from .index import Index, encode, ordered

# Whole-number codes below this are counted and looked up by their own value; larger ones are ranked first.
DIRECT_CODES = 1 << 12
# Whole numbers from here on are not all doubles: two of them may become one.
_EXACT = 1 << 53


def read_categories(X: Any) -> Dense:
    """Columns of categories from anything that holds them."""
    if is_sparse(X):
        raise InputError("sparse input is not supported by CategoricalNB: a category is no count; pass X.toarray()")
    frame = as_frame(X)
    if frame is not None:
        columns = tuple(_frame_column(series) for series in frame.iter_columns())
        return not_empty(Dense(columns, len(frame), len(columns)))
    values = two_dimensional(X)
    if values.dtype.kind not in "biuf":
        columns = tuple(_tidy(values[:, j]) for j in range(values.shape[1]))
        return not_empty(Dense(columns, *values.shape))
    if values.dtype == np.float16 or values.dtype.itemsize > 8 or not values.dtype.isnative:
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return not_empty(Dense(aligned(values), *values.shape))


def _frame_column(series: Any) -> Array:
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        values = series_array(series)
        rounded = values.dtype.kind == "f" and series.dtype.is_integer() and bool((np.abs(values) >= _EXACT).any())
        if values.dtype.kind in "biuf" and not rounded:
            return aligned(values)
    listed = series.dtype.is_nested() or series.dtype.is_integer()
    return _tidy(np.asarray(series.to_list() if listed else series_array(series), dtype=object))


def _tidy(values: Array) -> Array:
    """An object column of nothing but numbers and holes becomes numbers; others keep their objects."""
    if values.dtype.kind in "US":
        return values.astype(object)
    if values.dtype.kind != "O":
        return values
    items = values.tolist()
    kinds = {type(item) for item in items if not is_missing(item)}
    numbers = all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds)
    if not numbers and not kinds <= {bool, np.bool_}:
        return values
    if any(isinstance(item, (int, np.integer)) and not -_EXACT < item < _EXACT for item in items):
        return values
    return np.array([np.nan if is_missing(item) else item for item in items], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes of a batch, and for each column the label of every code (not all of which need occur)."""

    codes: Dense
    labels: tuple[Array, ...]

    @property
    def offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([len(column) for column in self.labels])]).astype(np.int64)


def encode_categories(data: Dense, n_classes: int, kernels: Kernels) -> Coded:
    """Codes and labels of a batch for learning."""
    # Counting by value costs memory for every value up to the largest: at most a sixteenth of the data.
    limit = min(DIRECT_CODES, max(256, data.n_rows // (16 * n_classes)))
    extents = _extents(data, kernels)
    if not isinstance(data.values, tuple) and all(e is not None and _direct(e, limit) for e in extents):
        labels = tuple(np.arange(max(e.high, -1) + 1) for e in extents if e is not None)
        return Coded(data, labels)
    parts = [_encode_column(data.column(j), extents[j], limit, kernels, j) for j in range(data.n_columns)]
    return Coded(Dense.of(tuple(codes for codes, _ in parts)), tuple(labels for _, labels in parts))


def _extents(data: Dense, kernels: Kernels) -> list[Extent | None]:
    """What each numeric column holds; None for columns of objects."""
    if not isinstance(data.values, tuple):
        found: list[Extent | None] = list(kernels.scan(data))
    else:
        found = [kernels.scan(Dense.of((c,)))[0] if c.dtype.kind in "biuf" else None for c in data.values]
    for j, extent in enumerate(found):
        if extent is None:
            continue
        if extent.first_infinite >= 0:
            row = data.first_row + extent.first_infinite
            raise InputError(
                f"Input X contains infinity: column {j} is infinite at row {row}; codes must be finite, or NaN "
                "where they are missing; replace or drop it"
            )
        if extent.low < 0 or (extent.first_fraction >= 0 and _lowest(data.column(j)) < 0):
            lowest = _lowest(data.column(j))
            raise InputError(
                f"Negative values in data passed to CategoricalNB (input X): column {j} holds {lowest}; codes "
                "start at 0; use NaN for a missing value, or pass the categories as texts"
            )
    return found


def _lowest(column: Array) -> Any:
    return np.nanmin(column).item()


def _direct(extent: Extent, limit: int) -> bool:
    return extent.high < limit and extent.first_fraction < 0 and extent.first_huge < 0


def _encode_column(column: Array, extent: Extent | None, limit: int, kernels: Kernels, j: int) -> tuple[Array, Array]:
    if extent is not None and _direct(extent, limit):
        return column, np.arange(max(extent.high, -1) + 1)
    if extent is not None and extent.first_fraction >= 0:
        row = extent.first_fraction
        warnings.warn(
            f"column {j} holds numbers that are not whole (first: {column[row]} at row {row}); each distinct value is "
            "taken as a category; for measurements use GaussianNB",
            UserWarning,
            stacklevel=2,
        )
    known, index, positions = _distinct(column, kernels)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[known] = positions
    return codes, index.labels


def _distinct(column: Array, kernels: Kernels) -> tuple[Array, Index, Array]:
    """Which rows are known, the distinct values of those, and the position of each."""
    if column.dtype == np.uint64 and (column > np.iinfo(np.int64).max).any():
        column = column.astype(object)
    if column.dtype.kind in "biu":
        known = np.ones(len(column), dtype=bool)
        index, positions = encode(column.astype(np.int64), kernels)
        return known, index, positions
    if column.dtype.kind == "f":
        known = ~np.isnan(column)
        values = column[known]
        whole = bool((values == np.trunc(values)).all()) and bool((np.abs(values) < _EXACT).all())
        index, positions = encode(values.astype(np.int64) if whole else values.astype(np.float64), kernels)
        return known, index, positions
    known = np.array([not is_missing(value) for value in column.tolist()], dtype=bool)
    index, positions = encode(column[known], kernels)
    return known, index, positions


def join_labels(a: Array, b: Array) -> Array:
    """The labels of both columns in the order that every column keeps."""
    if a.dtype.kind != "O" and b.dtype.kind != "O":
        return np.union1d(a, b)
    if not len(a) or not len(b):
        return a if len(a) else b
    return ordered([*a.tolist(), *b.tolist()])


@dataclass(frozen=True, slots=True)
class Lookup:
    """How one column's values find their slot.

    ``direct``: by their own value, one slot for each code below ``range_end``. Else by their place among the labels,
    followed, if there is a range, by one slot for all codes of the range that nobody saw. The last slot, at ``size``,
    belongs to values outside of all this.
    """

    labels: Array
    range_end: int  # 0: no range
    direct: bool

    @property
    def size(self) -> int:
        return self.range_end if self.direct else len(self.labels) + bool(self.range_end)

    def slot(self, label: Any, place: int) -> int:
        """The slot of a value whose place among the labels is known (below 0: not there)."""
        if place >= 0 and not self.direct:
            return place
        inside = isinstance(label, (int, float)) and label == int(label) and 0 <= label < self.range_end
        if not inside:
            return self.size
        return int(label) if self.direct else len(self.labels)


def look_up(data: Dense, lookups: tuple[Lookup, ...], kernels: Kernels) -> Dense:
    """Slots of a batch for predicting; what has no slot gets the last one, what is missing -1."""
    extents = _extents(data, kernels)
    plain = [
        lookup.direct and extent is not None and extent.first_fraction < 0 and extent.first_huge < 0
        for lookup, extent in zip(lookups, extents, strict=True)
    ]
    if all(plain) and not isinstance(data.values, tuple):
        return data
    columns = [
        data.column(j) if plain[j] else _look_up_column(data.column(j), lookups[j], kernels)
        for j in range(data.n_columns)
    ]
    return Dense.of(tuple(columns))


def _look_up_column(column: Array, lookup: Lookup, kernels: Kernels) -> Array:
    known, index, positions = _distinct(column, kernels)
    places = index.positions_in(Index(lookup.labels))
    place = np.array([lookup.slot(*pair) for pair in zip(index.labels.tolist(), places, strict=True)], dtype=np.int64)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[known] = place[positions]
    return codes
