"""Category columns (codes, strings, booleans, pandas and polars categoricals) as integer codes.

The labels of a column are int64 if all are whole numbers, and objects otherwise. The code of a missing cell is -1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InputError, warn
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense
from ..kernels.tables import Extent
from .arrays import aligned, as_2d_array, as_frame, check_not_empty, is_missing, is_sparse, series_array
from .columns import Column
from .conversion import is_ambiguous, is_number_text
from .dates import fitting_formats
from .index import EXACT, Index, encode, is_whole, label_type

# Numbers with separators of thousands, such as 18,042.99.
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
# The number of values that a warning lists.
_MAX_LISTED = 5
# Integer codes below this limit index the counts directly; larger ones are ranked first.
DIRECT_CODES = 1 << 12


def read_categories(X: Any) -> Dense:
    """Return columns of categories from an array, a data frame or lists."""
    if is_sparse(X):
        raise InputError("sparse input is not supported by CategoricalNB: categories are not counts; pass X.toarray()")
    frame = as_frame(X)
    if frame is not None:
        columns = tuple(_frame_column(series) for series in frame.iter_columns())
        return check_not_empty(Dense(columns, len(frame), len(columns), 0, tuple(frame.columns)))
    values = as_2d_array(X)
    if values.dtype.kind not in "biuf":
        columns = tuple(_simplify_objects(values[:, j]) for j in range(values.shape[1]))
        return check_not_empty(Dense(columns, *values.shape))
    if values.dtype == np.float16 or values.dtype.itemsize > 8 or not values.dtype.isnative:
        values = values.astype(np.float64 if values.dtype.kind == "f" else values.dtype.newbyteorder("="))
    return check_not_empty(Dense(aligned(values), *values.shape))


def _frame_column(series: Any) -> Array:
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        values = series_array(series)
        rounded = values.dtype.kind == "f" and series.dtype.is_integer() and bool((np.abs(values) >= EXACT).any())
        if values.dtype.kind in "biuf" and not rounded:
            return aligned(values)
    listed = series.dtype.is_nested() or series.dtype.is_integer()
    return _simplify_objects(np.asarray(series.to_list() if listed else series_array(series), dtype=object))


def _simplify_objects(values: Array) -> Array:
    """Return an object column as float64 if all its cells are numbers or missing; else the column as it is."""
    if values.dtype.kind in "US":
        return values.astype(object)
    if values.dtype.kind != "O":
        return values
    items = values.tolist()
    # The set of types decides most columns without a test of every cell.
    kinds = {kind for kind in set(map(type, items)) if kind.__name__ not in ("NoneType", "NAType", "NaTType")}
    numbers = all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds)
    flags = kinds <= {bool, np.bool_, float} and all(is_missing(item) for item in items if isinstance(item, float))
    if not (numbers or flags):
        return values
    if any(isinstance(item, (int, np.integer)) and abs(int(item)) >= EXACT for item in items):
        return values
    return np.array([np.nan if is_missing(item) else item for item in items], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class EncodedCategories:
    """Codes of a batch, and the label of every code for each column; some codes may not occur."""

    codes: Dense
    labels: tuple[Array, ...]

    @property
    def offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum([len(column) for column in self.labels])]).astype(np.int64)


def encode_categories(data: Dense, n_classes: int, kernels: Kernels) -> EncodedCategories:
    """Return codes and labels of a batch for training."""
    # Direct counts need one cell for each class and code: at most a sixteenth of the data, or half a megabyte per
    # column.
    limit = min(DIRECT_CODES, max(1 << 16, data.n_rows // 16) // n_classes)
    extents = _extents(data, kernels)
    if not isinstance(data.values, tuple) and all(e is not None and _has_direct_codes(e, limit) for e in extents):
        labels = tuple(np.arange(max(e.high, -1) + 1) for e in extents if e is not None)
        return EncodedCategories(data, labels)
    parts = [_encode_column(data.column(j), extents[j], limit, kernels, data.name(j)) for j in range(data.n_columns)]
    return EncodedCategories(Dense.of(tuple(codes for codes, _ in parts)), tuple(labels for _, labels in parts))


def _extents(data: Dense, kernels: Kernels) -> list[Extent | None]:
    """Return the extent of each numeric column, None for columns of objects; raise for infinite or negative cells."""
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
                f"Input X contains infinity: {data.name(j)} is infinite at row {row}; expected finite codes, or NaN "
                "for missing values; replace the value or drop the row"
            )
        if extent.low < 0 or (extent.first_fraction >= 0 and _minimum(data.column(j)) < 0):
            raise _negative_error(data.name(j), _minimum(data.column(j)))
    return found


def _minimum(column: Array) -> Any:
    return np.nanmin(column).item()


def _has_direct_codes(extent: Extent, limit: int) -> bool:
    return extent.high < limit and extent.first_fraction < 0 and extent.first_huge < 0


def _encode_column(
    column: Array, extent: Extent | None, limit: int, kernels: Kernels, name: str
) -> tuple[Array, Array]:
    if extent is not None and _has_direct_codes(extent, limit):
        return column, np.arange(max(extent.high, -1) + 1)
    if extent is not None and extent.first_fraction >= 0:
        row = extent.first_fraction
        warn(
            f"{name} contains numbers that are not integers (first: {column[row]} at row {row}); each distinct value "
            "is treated as a category; for measurements use GaussianNB"
        )
    known, index, positions = distinct_values(column, name, kernels)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[known] = positions
    return codes, index.labels


def distinct_values(column: Array, name: str, kernels: Kernels) -> tuple[Array, Index, Array]:
    """Return a mask of the rows with a value, the index of distinct values, and the position of each row's value."""
    if column.dtype == np.uint64 and (column > np.iinfo(np.int64).max).any():
        column = column.astype(object)
    if column.dtype.kind in "biu":
        index, positions = encode(column.astype(np.int64), kernels)
        return _all_rows(column), index, positions
    if column.dtype.kind == "f":
        known = ~np.isnan(column)
        values = column[known]
        index, positions = encode(values.astype(np.int64 if is_whole(values) else np.float64), kernels)
        return known, index, positions
    missing = {value for value in _values(column) if is_missing(value)}
    known = np.array([value not in missing for value in column.tolist()], dtype=bool) if missing else _all_rows(column)
    index, positions = encode(column[known], kernels)
    _check_not_negative(index.labels, name)
    return known, index, positions


def _values(column: Array) -> set[Any]:
    try:
        return set(column.tolist())
    except TypeError:
        return set()  # an unhashable value: encode raises the error


def _all_rows(column: Array) -> Array:
    return np.ones(len(column), dtype=bool)


def _check_not_negative(labels: Array, name: str) -> None:
    """Raise an error for negative numbers in a column of mixed labels, as for a column of numbers."""
    low = [label for label in labels.tolist() if isinstance(label, (int, float)) and label < 0]
    if low:
        raise _negative_error(name, low[0])


def _negative_error(name: str, lowest: Any) -> InputError:
    return InputError(
        f"Negative values in data passed to CategoricalNB (input X): {name} contains {lowest}; codes start at 0; use "
        "NaN for missing values, or pass the categories as strings"
    )


@dataclass(frozen=True, slots=True)
class Lookup:
    """The mapping from the values of one column to slots of a table of scores.

    If ``direct``, a value is its own slot, one for each code below ``range_end``. Otherwise the slot is the position
    among the labels, followed, if there is a range, by one slot for all codes of the range that were not seen in
    training. The slot ``size`` is for all other values.
    """

    labels: Array
    range_end: int  # 0: no range
    direct: bool

    @property
    def size(self) -> int:
        return self.range_end if self.direct else len(self.labels) + bool(self.range_end)

    def slot(self, label: Any, position: int) -> int:
        """Return the slot of a value from its position among the labels, which is negative for unseen values."""
        if position >= 0 and not self.direct:
            return position
        inside = isinstance(label, (int, float)) and 0 <= label < self.range_end and label == int(label)
        if not inside:
            return self.size
        return int(label) if self.direct else len(self.labels)


def look_up(data: Dense, lookups: tuple[Lookup, ...], kernels: Kernels) -> Dense:
    """Return the slots of a batch for prediction: the last slot for unseen values, -1 for missing cells."""
    extents = _extents(data, kernels)
    plain = [
        lookup.direct and extent is not None and extent.first_fraction < 0 and extent.first_huge < 0
        for lookup, extent in zip(lookups, extents, strict=True)
    ]
    if all(plain) and not isinstance(data.values, tuple):
        return data
    columns = [
        data.column(j) if plain[j] else _look_up_column(data.column(j), data.name(j), lookups[j], kernels)
        for j in range(data.n_columns)
    ]
    return Dense.of(tuple(columns))


def _look_up_column(column: Array, name: str, lookup: Lookup, kernels: Kernels) -> Array:
    known, index, positions = distinct_values(column, name, kernels)
    check_same_type(index.labels, lookup.labels, name)
    places = index.positions_in(Index(lookup.labels))
    place = np.array([lookup.slot(*pair) for pair in zip(index.labels.tolist(), places, strict=True)], dtype=np.int64)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[known] = place[positions]
    return codes


def check_same_type(queried: Array, learned: Array, name: str) -> bool:
    """Return whether a column has labels of the type seen in training; warn if not.

    '1' is not 1: all values of a column of another type are unseen, which is most likely a mistake.
    """
    kinds = [{label_type(label) for label in labels.tolist()} for labels in (queried, learned)]
    if not all(kinds) or kinds[0] & kinds[1]:
        return True
    warn(
        f"{name} contains values such as {queried.tolist()[0]!r}, but was trained with values such as "
        f"{learned.tolist()[0]!r}, so none of them is a known category; pass values of the type used in training"
    )
    return False


# If at least so many rows have unseen categories only, the column is most likely encoded differently.
_MIN_UNSEEN_ROWS = 10


def warn_if_not_categories(column: Column) -> None:
    """Warn if most categories of a column of a text file are numbers or dates, and tell which are not.

    Codes with leading zeros are no numbers, so nothing is said of a column that has some.

    >>> import warnings
    >>> column = Column("age", "category", np.array([0, 1, 2, 0], dtype=np.int32), np.array(["31", "40", "?"], object))
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_if_not_categories(column)
    >>> print(found[0].message)
    column 'age' is read as categories, because 25.0% of its cells are not numbers: '?'; if they mark missing cells, \
pass missing=['?'] to candide.read (--missing '?' on the command line); otherwise declare the type, such as \
schema={'age': 'category'} (--type age=category on the command line)
    """
    assert column.labels is not None
    labels, known = column.labels.tolist(), column.values[column.values >= 0]
    codes = np.unique(known).tolist()
    what, odd = "numbers", [code for code in codes if not is_number_text(labels[code])]
    if len(odd) == len(codes):
        what, odd = "dates", [code for code in codes if not fitting_formats([labels[code]])]
    grouped = [code for code in odd if _THOUSANDS.fullmatch(labels[code])]
    if not odd or 2 * (len(odd) - len(grouped)) >= len(codes) or any(is_ambiguous(labels[code]) for code in odd):
        return
    share, shown = np.isin(known, odd).mean(), [labels[code] for code in odd[:_MAX_LISTED]]
    marks = [label for label in shown if not _THOUSANDS.fullmatch(label)]
    name, listed = column.name, ", ".join(map(repr, shown)) + (", …" if len(odd) > len(shown) else "")
    advice = ["write numbers without separators of thousands, such as 18042.99"] if grouped else []
    if marks:
        options = " ".join(f"--missing {mark!r}" for mark in marks)
        advice.append(
            f"if they mark missing cells, pass missing={marks} to candide.read ({options} on the command line)"
        )
    warn(
        f"column {name!r} is read as categories, because {share:.1%} of its cells are not {what}: {listed}; "
        f"{'; '.join(advice)}; otherwise declare the type, such as schema={{{name!r}: 'category'}} "
        f"(--type {name}=category on the command line)"
    )


def warn_if_all_unseen(column: Column, learned: Array) -> None:
    """Warn if no category of a column was seen in training and the types differ or the rows are many.

    >>> import warnings
    >>> column = Column("city", "category", np.array([0], dtype=np.int32), np.array([3]))
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_if_all_unseen(column, np.array(["Paris", "Rome"]))
    >>> print(found[0].message)
    column 'city' contains values such as 3, but was trained with values such as 'Paris', so none of them is a \
known category; pass values of the type used in training
    """
    assert column.labels is not None
    known = column.values[column.values >= 0]
    if not len(known) or not len(learned) or (Index(column.labels).positions_in(Index(learned))[known] >= 0).any():
        return
    queried, name = column.labels[np.unique(known)], f"column {column.name!r}"
    if not check_same_type(queried, learned, name) or len(known) < _MIN_UNSEEN_ROWS:
        return
    warn(
        f"{name} contains values such as {queried.tolist()[0]!r}, but was trained with values such as "
        f"{learned.tolist()[0]!r}, and none of {len(known)} rows has a known category; check the spelling of the "
        "values"
    )


def unseen_categories(column: Column, learned: Array) -> dict[Any, int]:
    """Return the categories of a column that were not seen in training, with the number of rows of each.

    >>> column = Column("city", "category", np.array([0, 1, 0], dtype=np.int32), np.array(["Oslo", "Rome"]))
    >>> unseen_categories(column, np.array(["Paris", "Rome"]))
    {'Oslo': 2}
    """
    assert column.labels is not None
    is_new = Index(column.labels).positions_in(Index(learned)) < 0
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.labels))
    labels = column.labels.tolist()
    return {labels[place]: int(counts[place]) for place in np.flatnonzero(is_new & (counts > 0))}
