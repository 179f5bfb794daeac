"""Which columns of a table are meant: the label among them, and those a setting speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..exceptions import InputError, ParameterError
from .columns import as_frame
from .typed import Columns, Kind

# Names listed in a message; of wider tables, the first ones.
_LISTED = 20
_KIND_WORDS: dict[Any, Kind] = {"numbers": "number", "categories": "category"}


def find_label(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and labels apart, where ``y`` may be the name of a column of ``X``; no cell is copied.

    >>> X, y = find_label({"age": [31, 58], "income": ["low", "high"]}, "income")
    >>> X, y
    ({'age': [31, 58]}, ['low', 'high'])
    """
    if not isinstance(y, (str, int)):
        return X, y
    if isinstance(X, Mapping):
        label = X[_known(y, X)]
        return {name: values for name, values in X.items() if name != y}, label
    frame = as_frame(X)
    if frame is None:
        raise InputError(
            f"y is {y!r}, the name of a column, but X is a {type(X).__name__}, whose columns have no names; pass the "
            "labels themselves, or a data frame"
        )
    label = frame.get_column(_known(y, frame.columns)).to_native()
    return frame.drop(y).to_native(), label


def _known(y: Any, names: Iterable[Any]) -> Any:
    if y not in names:
        raise InputError(f"y is {y!r}, but X has no such column; it has {_listed(names)}; pass one of these, or labels")
    return y


def _listed(names: Iterable[Any]) -> str:
    each = list(map(repr, names))
    return ", ".join(each[:_LISTED]) + (f" and {len(each) - _LISTED} more" if len(each) > _LISTED else "")


def select_columns(settings: Mapping[Any, Any] | Iterable[tuple[Any, Any]], table: Columns) -> dict[Any, Any]:
    """The setting of each column that is spoken of, by name.

    A key is the name of a column, a tuple of names, a compiled regular expression that is searched for in names, a
    function of name and kind that says yes or no, or "numbers" or "categories" for all columns of that kind (unless a
    column has this name). Pairs of keys and settings do as well as a mapping; there, a key may also be a list.

    >>> from candide.encoding.table import read_table
    >>> table = read_table({"age": [31, 58], "x1": [0.5, 1.5], "x2": [2, 1], "job": ["cook", "smith"]})
    >>> select_columns({"age": "poisson", re.compile(r"^x\\d"): "kernel", "categories": "ignore"}, table)
    {'age': 'poisson', 'x1': 'kernel', 'x2': 'kernel', 'job': 'ignore'}
    """
    claimed: dict[Any, tuple[Any, Any]] = {}
    for key, setting in settings.items() if isinstance(settings, Mapping) else settings:
        for name in _meant(key, table):
            if name in claimed:
                raise ParameterError(
                    f"column {name!r} is meant twice in columns: by {_words(claimed[name][0])} and by {_words(key)}; "
                    "name each column once"
                )
            claimed[name] = key, setting
    return {name: claimed[name][1] for name in table.names if name in claimed}


def _meant(key: Any, table: Columns) -> list[Any]:
    """The names of the columns that a key speaks of."""
    names = table.names
    if isinstance(key, list):
        return [_existing(name, names) for name in key]
    if key in names:
        return [key]
    if isinstance(key, tuple):
        return [_existing(name, names) for name in key]
    if isinstance(key, re.Pattern):
        return _matching(key, names)
    if callable(key):
        return _accepted(key, table)
    if key in _KIND_WORDS:
        return _accepted(lambda _, kind: kind == _KIND_WORDS[key], table)
    return [_existing(key, names)]


def _existing(name: Any, names: tuple[Any, ...]) -> Any:
    if name not in names:
        raise ParameterError(f"columns speaks of {name!r}, but X has no such column; it has {_listed(names)}")
    return name


def _matching(pattern: re.Pattern[str], names: tuple[Any, ...]) -> list[Any]:
    found = [name for name in names if pattern.search(str(name))]
    if not found:
        raise ParameterError(f"columns speaks of {_words(pattern)}, which no column matches; X has {_listed(names)}")
    return found


def _accepted(is_meant: Callable[[Any, Kind], Any], table: Columns) -> list[Any]:
    return [column.name for column in table.columns if is_meant(column.name, column.kind)]


def _words(key: Any) -> str:
    """How a message speaks of a key."""
    return f"the pattern {key.pattern!r}" if isinstance(key, re.Pattern) else repr(key)
