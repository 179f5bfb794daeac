"""What is asked of columns and learners in words: 'age,job=categorical' and 'alpha=0.5'."""

from __future__ import annotations

import json
from typing import Any

from ..exceptions import ParameterError


def names_of(columns: str | None) -> list[str] | None:
    """The columns that are named; None for all."""
    return None if columns is None else [name for name, _ in _pairs(columns)]


def families_of(columns: str | None) -> dict[str, str]:
    """Models that are asked for, by column."""
    return {} if columns is None else {name: family for name, family in _pairs(columns) if family}


def _pairs(columns: str) -> list[tuple[str, str]]:
    parts = [part.strip() for part in columns.split(",")]
    if not all(parts):
        raise ParameterError(f"--columns is {columns!r}; it must be names with commas between: 'age,job=categorical'")
    # A name may hold a '=' itself, a family may not.
    return [(name or family, family if name else "") for name, _, family in (part.rpartition("=") for part in parts)]


def types_of(pairs: list[str] | None) -> dict[str, str] | None:
    """Declared types, by column; None if there are none."""
    from ..data.column_types import check_declared

    # A name may hold a '=' itself, a type may not.
    split = [pair.rpartition("=") for pair in pairs or []]
    odd = [pair for pair, (name, _, _) in zip(pairs or [], split, strict=True) if not name]
    if odd:
        raise ParameterError(f"--type is {odd[0]!r}; it must be NAME=TYPE, such as zip=category")
    return check_declared({name: kind for name, _, kind in split}) or None


def settings_of(pairs: list[str] | None) -> dict[str, Any]:
    """Parameters of a learner; values are JSON, or texts."""
    return dict(_setting(pair) for pair in pairs or [])


def _setting(pair: str) -> tuple[str, Any]:
    name, sign, value = pair.partition("=")
    if not sign or not name.isidentifier():
        raise ParameterError(f"--set is {pair!r}; it must be NAME=VALUE, such as alpha=0.5 or ngrams=[1,2]")
    try:
        return name, json.loads(value, parse_constant=str)
    except ValueError:
        named: dict[str, Any] = {"True": True, "False": False, "None": None}
        return name, named.get(value, value)
