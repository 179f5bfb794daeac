"""Dates as numbers and as calendar parts (month, weekday, hour)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..kernels.layouts import Array, Floats
from .factorize import Factorized

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
# For each part: its NumPy unit, the position of 1970-01-01T00 (a Thursday) among the labels, and the labels.
DATE_PARTS = {"month": ("M", 0, range(1, 13)), "weekday": ("D", 3, WEEKDAYS), "hour": ("h", 0, range(24))}


def date_parts(name: Any, when: Array, named: Mapping[Any, Any]) -> Iterator[tuple[Any, Floats | Factorized]]:
    """Yield a date as days since 1970, and its month, weekday and, if there are times of day, hour.

    If the date itself is ``named``, only the named parts are made: a model needs the parts that it was trained with,
    whether or not a batch of rows has times of day.

    >>> when = np.array(["2024-02-29T18:00", "NaT"], dtype="datetime64[s]")
    >>> for part, cells in date_parts("when", when, {}):
    ...     print(part, cells.tolist() if isinstance(cells, np.ndarray) else cells.codes.tolist())
    when [19782.75, nan]
    when.month [1, -1]
    when.weekday [3, -1]
    when.hour [18, -1]
    """
    yield name, datetimes_to_days(when)
    for part in DATE_PARTS:
        if f"{name}.{part}" in named or (name not in named and (part != "hour" or _has_times(when))):
            yield f"{name}.{part}", _date_part(when, part)


def has_date_parts(name: Any, named: Mapping[Any, Any]) -> bool:
    """Return whether parts of a date of this name are requested."""
    return any(f"{name}.{part}" in named for part in DATE_PARTS)


def _has_times(when: Array) -> bool:
    return bool(((when != when.astype("datetime64[D]")) & ~np.isnat(when)).any())


def _date_part(when: Array, part: str) -> Factorized:
    unit, first, labels = DATE_PARTS[part]
    position = (when.astype(f"datetime64[{unit}]").astype(np.int64) + first) % len(labels)
    return Factorized(np.where(np.isnat(when), -1, position).astype(np.int32), list(labels), declared=True)


def datetimes_to_days(when: Array) -> Floats:
    """Return days since 1970-01-01, with fractions."""
    return np.asarray((when - np.datetime64(0, "D")) / np.timedelta64(1, "D"))


def days_to_datetimes(number: Floats) -> Array:
    """Return dates from days since 1970-01-01."""
    known = np.isfinite(number)
    ticks = np.where(known, number, 0.0) * 86_400e6
    return np.where(known, ticks.astype("datetime64[us]"), np.datetime64("NaT", "us"))


def durations_to_seconds(duration: Array) -> Floats:
    """Return durations as seconds."""
    return np.asarray(duration / np.timedelta64(1, "s"))


def date_categories(when: Array) -> Factorized:
    """Return dates as categories, labeled by their ISO text without a time of midnight."""
    known = ~np.isnat(when)
    moments, positions = np.unique(when[known].astype("datetime64[us]"), return_inverse=True)
    codes = np.full(len(when), -1, dtype=np.int32)
    codes[known] = positions
    return Factorized(codes, [str(moment.item()).removesuffix(" 00:00:00") for moment in moments], declared=True)
