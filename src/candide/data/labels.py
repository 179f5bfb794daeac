"""Cells of any objects as codes and distinct labels; from there to categories, or to the numbers and times they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from .columns import found_texts, is_missing, too_large
from .index import ordered
from .typed import Column

NUMBERS = (int, float, np.number, np.bool_, Decimal, Fraction)
# Among numbers, this share of texts or less is a slip ("n/a"), more is a column of categories.
_FEW_TEXTS = 0.1


class Labelled(NamedTuple):
    """Where the label of each row stands among distinct ones, -1 if it is missing."""

    codes: Array
    labels: list[Any]
    declared: bool = False  # the container says that these are categories, though they be numbers

    def spread(self, values: Array, hole: Any) -> Array:
        """For each row the value that belongs to its label."""
        return np.asarray(np.append(values, np.asarray([hole], dtype=values.dtype))[self.codes])

    def rows_of(self, is_odd: list[bool]) -> Array:
        """The rows whose label is one of the odd ones."""
        return np.flatnonzero(self.spread(np.array(is_odd, dtype=bool), False))


def distinct(items: list[Any]) -> tuple[Array, list[Any]]:
    """For each item where it stands among the distinct ones, and those in the order in which they came."""
    place: defaultdict[Any, int] = defaultdict()
    place.default_factory = place.__len__  # a new one comes after those known
    codes = np.fromiter(map(place.__getitem__, items), dtype=np.int64, count=len(items))
    return codes, list(place)


def label_cells(items: list[Any], name: Any) -> Labelled:
    """Cells of any types."""
    try:
        codes, labels = distinct(items)
    except TypeError:
        raise unhashable(items, name) from None
    holes = [is_missing(label) for label in labels]
    if any(holes):
        place = np.where(holes, -1, np.cumsum(~np.array(holes)) - 1)
        codes, labels = place[codes], [label for label, hole in zip(labels, holes, strict=True) if not hole]
    return Labelled(codes, labels)


def unhashable(items: Iterable[Any], name: Any) -> InputError:
    """The error for a cell that holds several things."""
    for row, item in enumerate(items):
        try:
            hash(item)
        except TypeError:
            found = f"column {name!r} holds a {type(item).__name__} at row {row} ({item!r})"
            return InputError(f"{found}; a cell is one number, text, boolean or date; give each part its own column")
    return InputError(f"column {name!r} holds cells that cannot be told apart; use numbers, texts, booleans or dates")


def category(name: Any, found: Labelled) -> Column:
    """A column of categories."""
    texts = set(map(type, found.labels)) == {str}
    plain = found.labels if texts else [plain_label(label) for label in found.labels]
    try:
        labels = ordered([label for label in plain if label is not None])
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in plain}))
        raise InputError(
            f"column {name!r} holds cells of type {kinds}, which cannot be put in order; use numbers, texts, booleans "
            "or dates"
        ) from None
    place = {label: code for code, label in enumerate(labels.tolist())}
    codes = np.fromiter((place.get(label, -1) for label in plain), dtype=np.int32, count=len(plain))
    return Column(name, "category", found.spread(codes, -1), labels)


def plain_label(label: Any) -> Any:
    """A label as people write it: whole numbers and booleans are int, texts are str, holes are None."""
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


def unboxed(found: Labelled, name: Any, *, numbers: bool = True) -> Array | Labelled:
    """Dates, times of day, durations and, if asked for, numbers that came as objects, in an array; else as they are."""
    kinds = set(map(type, found.labels))
    if not kinds or kinds == {str}:
        return found
    if all(issubclass(kind, NUMBERS) for kind in kinds):
        return _numbers(found, name) if numbers else found
    if all(issubclass(kind, (date, np.datetime64)) for kind in kinds):
        moments = [label.replace(tzinfo=None) if isinstance(label, datetime) else label for label in found.labels]
        return found.spread(np.array(moments, dtype="datetime64[us]"), "NaT")
    if all(issubclass(kind, (timedelta, np.timedelta64)) for kind in kinds):
        return found.spread(np.array(found.labels, dtype="timedelta64[us]"), "NaT")
    if all(issubclass(kind, time) for kind in kinds):
        return found.spread(np.array([_seconds(label) for label in found.labels]), np.nan)
    return found


def _seconds(clock: time) -> float:
    return clock.hour * 3600.0 + clock.minute * 60.0 + clock.second + clock.microsecond / 1e6


def _numbers(found: Labelled, name: Any) -> Floats:
    try:
        return found.spread(np.array([float(label) for label in found.labels]), np.nan)
    except OverflowError:
        rows = found.rows_of([_is_too_large(label) for label in found.labels])
        raise too_large(name, int(rows[0])) from None


def _is_too_large(label: Any) -> bool:
    try:
        float(label)
    except OverflowError:
        return True
    return False


def numbers_among(found: Labelled, name: Any) -> Floats:
    """Labels as numbers, also those written as text; what is no number is refused."""
    values = [_number(label) for label in found.labels]
    rows = found.rows_of([value is None for value in values])
    if len(rows):
        raise InputError(f"{_texts(found, name, rows)}; a column of numbers needs numbers; clean the values")
    return found.spread(np.array(values, dtype=np.float64), np.nan)


def _number(label: Any) -> float | None:
    try:
        return float(label)
    except (TypeError, ValueError, OverflowError):
        return None


def refuse_few_texts(found: Labelled, name: Any) -> None:
    """Raises for what is plainly a column of numbers with a few texts in it."""
    is_text = [isinstance(label, str) for label in found.labels]
    if all(is_text) or not any(is_text):
        return
    is_number = [isinstance(label, NUMBERS) for label in found.labels]
    texts, n_numbers = found.rows_of(is_text), len(found.rows_of(is_number))
    if len(texts) <= _FEW_TEXTS * (len(texts) + n_numbers):
        raise InputError(
            f"{_texts(found, name, texts)} among numbers; pass columns={{{name!r}: 'categorical'}} or clean the values"
        )


def _texts(found: Labelled, name: Any, rows: Array) -> str:
    return found_texts(name, len(rows), found.labels[found.codes[rows[0]]], int(rows[0]))
