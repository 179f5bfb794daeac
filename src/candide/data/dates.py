"""Dates as numbers, as calendar parts (month, weekday, hour), and as text in a given or detected format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from ..kernels.layouts import Array, Floats
from .conversion import to_datetime
from .factorize import Factorized

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
# For each part: its NumPy unit, the position of 1970-01-01T00 (a Thursday) among the labels, and the labels.
DATE_PARTS = {"month": ("M", 0, range(1, 13)), "weekday": ("D", 3, WEEKDAYS), "hour": ("h", 0, range(24))}
#: The format of ISO dates, which may have a time of day and are accepted with every other format too.
ISO = "%Y-%m-%d"
_SHAPE = re.compile(r"(\d+)([-/. ])(\d\d?)\2(\d+)(?:([ T])\d\d?:\d\d(:\d\d)?(\.\d{1,9})?( [AP]M)?)?", re.I | re.ASCII)
_DIRECTIVE = re.compile(r"%(.?)")
# For example, %j and %U are read differently by different programs.
_DIRECTIVES = "dmyYbBaAHIMSfp%"


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


def to_date(value: Any, format: str | None = None) -> datetime | None:
    """Return a date, or a text in ISO format or another format, as a local time; None for anything else.

    >>> to_date("12/28/2022", "%m/%d/%Y"), to_date("2022-12-28", "%m/%d/%Y"), to_date("28/12/2022")
    (datetime.datetime(2022, 12, 28, 0, 0), datetime.datetime(2022, 12, 28, 0, 0), None)
    """
    moment = to_datetime(value)
    if moment is None and format is not None and isinstance(value, str):
        try:
            return datetime.strptime(value.strip(), format)
        except ValueError:
            return None
    return moment


def is_date_format(format: str) -> bool:
    """Return whether a format has a day, a month and a year, in an order that is not mistaken for that of ISO dates.

    >>> [is_date_format(format) for format in ("%d.%m.%Y", "%b %d, %y", "%d.%m.", "%Y-%d-%m", "dd.mm.yyyy")]
    [True, True, False, False, False]
    """
    found = _DIRECTIVE.findall(format)
    parts = ("d", "mbB", "yY")
    complete = all(sum(directive in part for directive in found if directive) == 1 for part in parts)
    known = all(directive and directive in _DIRECTIVES for directive in found)
    return complete and known and not format.startswith("%Y-%d")


def describe_format(format: str | None) -> str:
    """Return a format as messages describe it."""
    return "ISO format" if format in (None, ISO) else f"the format {format}"


def as_iso(text: str) -> str:
    """Return a date in ISO format if only one format fits it, else an example of ISO format.

    >>> as_iso("12/28/2022"), as_iso("05/03/2022")
    ('2022-12-28', '2024-02-29')
    """
    formats = fitting_formats([text])
    moment = to_date(text, formats[0]) if len(formats) == 1 else None
    return "2024-02-29" if moment is None else str(moment).removesuffix(" 00:00:00")


def fitting_formats(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the formats of numeric dates that all cells fit; several if the order of day and month is not certain.

    >>> fitting_formats(["05/03/2022", "12/28/2022"]), fitting_formats(["05/03/2022"]), fitting_formats(["2022-05-03"])
    (('%m/%d/%Y',), ('%d/%m/%Y', '%m/%d/%Y'), ('%Y-%m-%d',))
    """
    fitting: tuple[str, ...] | None = None
    for cell in set(cells):
        found = _formats_of(cell.strip())
        fitting = found if fitting is None else tuple(format for format in fitting if format in found)
        if not fitting:
            return ()
    return fitting or ()


def _formats_of(cell: str) -> tuple[str, ...]:
    shape = _SHAPE.fullmatch(cell)
    if shape is None:
        return ()
    first, separator, second, third, before_time, seconds, fraction, noon = shape.groups()
    time = ""
    if before_time:
        time = f"{before_time}{'%I' if noon else '%H'}:%M{':%S' if seconds else ''}{'.%f' if fraction else ''}"
        time += " %p" if noon else ""
    if len(first) == 4 and len(third) < 3 and separator == "-" and not noon:
        return (ISO,) if _is_day(third, second) else ()
    numbers = first, second, third
    return tuple(
        separator.join(f"%{part}" for part in order) + time
        for order in _orders(separator, *map(len, numbers))
        if _is_day(numbers[order.index("d")], numbers[order.index("m")])
    )


def _orders(separator: str, first: int, second: int, third: int) -> tuple[str, ...]:
    """Return the possible orders of day, month and year in numbers with so many digits."""
    if first == 4 and third < 3:
        return ("Ymd",)
    if first > 2 or third not in (2, 4):
        return ()
    if third == 4:
        return ("dmY", "mdY")
    # 1.2.20 may be the number of a version, and 10 20 12 three numbers.
    if separator != "/" and (separator == " " or first + second < 4):
        return ()
    return ("dmy", "mdy", "ymd") if first == 2 else ("dmy", "mdy")


def _is_day(day: str, month: str) -> bool:
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12
