"""Lossless conversion of single values: numbers, booleans and dates from texts, and texts from all of them.

A value that cannot be converted without a change of its meaning gives None.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..exceptions import InputError

# Digits with leading zeros are an identifier, not a number.
_NUMBER = re.compile(
    r"[ \t]*[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+|inf|infinity|nan)(?:e[+-]?[0-9]+)?[ \t]*", re.IGNORECASE
)
_DIGITS = re.compile(r"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?[ \t]*", re.IGNORECASE)
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d:?\d\d)?)?")
_OFFSET = re.compile(r"(?:UTC)?([+-]\d\d:?\d\d)")
_BOOLEANS = {"true": True, "false": False}
_NUMBERS = (int, float, np.number, Decimal, Fraction)


def is_number_text(text: str) -> bool:
    """Return whether a text is a number in the usual notation.

    >>> [is_number_text(text) for text in ("17", "-0.5", "1e3", "007", "1_000", "0x10")]
    [True, True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None


def is_boolean_text(text: str) -> bool:
    """Return whether a text is one of true, True, TRUE, false, False and FALSE."""
    return text.lower() in _BOOLEANS and text in (text.lower(), text.upper(), text.capitalize())


def is_date_text(text: str) -> bool:
    """Return whether a text is a date in ISO format, with or without a time of day.

    >>> [is_date_text(text) for text in ("2024-02-29", "2024-02-29 18:00:00", "2023-02-29", "29.2.2024", "2024")]
    [True, True, False, False, False]
    """
    return to_datetime(text) is not None


def to_number(value: Any) -> float | None:
    """Return a number, a boolean as 0 or 1, or a text that is a number as a float; None for anything else.

    >>> [to_number(value) for value in (17, True, "17.0", "007", "old")]
    [17.0, 1.0, 17.0, None, None]
    """
    if isinstance(value, (bool, np.bool_, *_NUMBERS)):
        return float(value)
    return float(value) if isinstance(value, str) and is_number_text(value) else None


def to_exact_number(value: Any) -> float | int | None:
    """Return what ``to_number`` does, whole numbers as integers of any size.

    >>> [to_exact_number(value) for value in ("9007199254740993", 2.0, "0.5")]
    [9007199254740993, 2, 0.5]
    """
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = to_number(value)
    if number is None or not number.is_integer() or abs(number) >= 1 << 63:
        return number
    return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdigit() else int(number)


def to_boolean(value: Any) -> bool | None:
    """Return a boolean, the number 0 or 1, or a text of either as a boolean; None for anything else.

    >>> [to_boolean(value) for value in (True, 0, 1.0, "TRUE", "false", "0", 2, "yes")]
    [True, False, True, True, False, False, None, None]
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str) and is_boolean_text(value):
        return _BOOLEANS[value.lower()]
    number = to_number(value)
    return bool(number) if number in (0.0, 1.0) else None


def to_datetime(value: Any) -> datetime | None:
    """Return a date, or a text in ISO format, as a local time without a zone; None for anything else.

    >>> to_datetime("2024-02-29T18:00:00+01:00"), to_datetime(date(2024, 2, 29)), to_datetime("29.2.2024")
    (datetime.datetime(2024, 2, 29, 18, 0), datetime.datetime(2024, 2, 29, 0, 0), None)
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    try:
        return None if found is None else datetime.fromisoformat("T".join(filter(None, found.groups()[:2])))
    except ValueError:
        return None


def time_zone(zone: Any) -> tzinfo | None:
    """Return a time zone of any package, or its name, as one of the standard library.

    >>> time_zone("UTC"), time_zone("UTC+05:30"), time_zone(datetime.fromisoformat("2024-02-29T18:00-05:00").tzinfo)
    (datetime.timezone.utc, datetime.timezone(datetime.timedelta(seconds=19800)), \
datetime.timezone(datetime.timedelta(days=-1, seconds=68400)))
    """
    name = zone if isinstance(zone, str) else getattr(zone, "key", None) or getattr(zone, "zone", None)
    if name is None:
        offset = None if zone is None else zone.utcoffset(None)
        if zone is None or offset is not None:
            return None if offset is None else timezone(offset)
        name = str(zone).rpartition("zoneinfo/")[2].rstrip("')")  # dateutil names the file
    offset = _OFFSET.fullmatch(name)
    if offset or name == "UTC":
        return datetime.strptime(offset[1], "%z").tzinfo if offset else UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise InputError(
            f"the time zone {name!r} is not known on this computer; expected a name such as 'Europe/Paris'; convert "
            "the column to such a zone, or install the package tzdata"
        ) from None


def in_zone(value: Any, zone: tzinfo) -> Any:
    """Return a date with a zone, or the text of one, as local time of another zone, without a zone; others unchanged.

    >>> in_zone("2024-02-29T18:00:00+01:00", timezone.utc), in_zone("2024-02-29 18:00", timezone.utc)
    (datetime.datetime(2024, 2, 29, 17, 0), '2024-02-29 18:00')
    """
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    moment = datetime.fromisoformat(value) if found and found[3] and is_date_text(value) else value
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        return value
    with suppress(OverflowError):  # dates at the end of the calendar, which stand for none
        moment = moment.astimezone(zone)
    return moment.replace(tzinfo=None)


def to_text(value: Any) -> str | None:
    """Return the text of a number, a boolean or a date, the same for all data types that can represent it.

    >>> [to_text(value) for value in ("007", 17, 17.0, 0.5, True, date(2024, 2, 29))]
    ['007', '17', '17', '0.5', 'true', '2024-02-29']
    """
    if isinstance(value, str):
        return str.__str__(value)  # a member of an enumeration may have another str()
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, _NUMBERS):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1 << 63 else repr(number)
    moment = to_datetime(value)
    return None if moment is None else str(moment).removesuffix(" 00:00:00")


def is_ambiguous(text: str) -> bool:
    """Return whether a text holds a number in another form than ``to_text`` gives, so that a number may mean it.

    >>> [is_ambiguous(text) for text in ("17", "0.5", "17.0", "007", "old")]
    [False, False, True, True, False]
    """
    return _DIGITS.fullmatch(text) is not None and to_text(Decimal(text.strip())) != text
