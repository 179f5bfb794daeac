"""Which columns of a table are meant: the label among them, and those a setting speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ..exceptions import InputError, ParameterError
from .columns import as_frame
from .names import did_you_mean, listed
from .typed import Columns, Kind

# How precise a key is: where several mean a column, the lowest has it.
_NAMED, _DESCRIBED, _OF_A_KIND = range(3)
_KIND_WORDS: dict[Any, Kind] = {"numbers": "number", "categories": "category", "texts": "text"}


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
        hint = did_you_mean(y, names, "pass one of these, or labels")
        raise InputError(f"y is {y!r}, but X has no such column; it has {listed(names)}; {hint}")
    return y


def select_columns(
    settings: Mapping[Any, Any] | Iterable[tuple[Any, Any]], table: Columns
) -> list[tuple[list[Any], Any]]:
    """The names of the columns that each key speaks of, with its setting.

    A key is the name of a column, a tuple of names, a compiled regular expression that is searched for in names, a
    function of name and kind that says yes or no, or "numbers", "categories" or "texts" for all columns of that kind
    (unless a column has this name). Pairs of keys and settings do as well as a mapping; there, a key may also be a
    list. Names come before patterns and functions, and these before kinds: a column belongs to the most precise key
    that means it.

    >>> from candide.data.table import read_table
    >>> table = read_table({"age": [31, 58], "x1": [0.5, 1.5], "x2": [2, 1], "job": ["cook", "smith"]})
    >>> select_columns({"numbers": "gaussian", re.compile(r"^x\\d"): "kernel", "x2": "poisson"}, table)
    [(['age'], 'gaussian'), (['x1'], 'kernel'), (['x2'], 'poisson')]
    """
    pairs = list(settings.items() if isinstance(settings, Mapping) else settings)
    claims: dict[Any, list[tuple[int, int]]] = {name: [] for name in table.names}
    for place, (key, _) in enumerate(pairs):
        rank, names = _meant(key, table)
        for name in names:
            claims[name].append((rank, place))
    groups: list[list[Any]] = [[] for _ in pairs]
    for name, claimed in claims.items():
        if claimed:
            groups[_most_precise(name, sorted(claimed), pairs)].append(name)
    return [(group, setting) for group, (_, setting) in zip(groups, pairs, strict=True)]


def _most_precise(name: Any, claimed: list[tuple[int, int]], pairs: list[tuple[Any, Any]]) -> int:
    """The place of the key that a column belongs to, of those that mean it, the most precise first."""
    (rank, place), others = claimed[0], claimed[1:]
    if others and others[0][0] == rank:
        first, second = (_words(pairs[at][0]) for at in (place, others[0][1]))
        raise ParameterError(
            f"column {name!r} is meant twice in columns: by {first} and by {second}; name each column once"
        )
    return place


def _meant(key: Any, table: Columns) -> tuple[int, list[Any]]:
    """How precise a key is, the lower the more, and the names of the columns that it speaks of."""
    names = table.names
    if isinstance(key, list):
        return _NAMED, [_existing(name, names) for name in key]
    if not isinstance(key, Hashable):
        raise ParameterError(
            f"columns speaks of {key!r}, a {type(key).__name__}; a key is a name, a tuple of names, a pattern, a "
            "function, 'numbers', 'categories' or 'texts'"
        )
    if key in names:
        return _NAMED, [key]
    if isinstance(key, tuple):
        return _NAMED, [_existing(name, names) for name in key]
    if isinstance(key, re.Pattern):
        return _DESCRIBED, _matching(key, names)
    if callable(key):
        return _DESCRIBED, _accepted(key, table)
    if key in _KIND_WORDS:
        return _OF_A_KIND, _accepted(lambda _, kind: kind == _KIND_WORDS[key], table)
    return _NAMED, [_existing(key, names)]


def _existing(name: Any, names: tuple[Any, ...]) -> Any:
    if name not in names:
        hint = did_you_mean(name, names, "name one of these")
        raise ParameterError(f"columns speaks of {name!r}, but X has no such column; it has {listed(names)}; {hint}")
    return name


def _matching(pattern: re.Pattern[str], names: tuple[Any, ...]) -> list[Any]:
    found = [name for name in names if pattern.search(str(name))]
    if not found:
        raise ParameterError(f"columns speaks of {_words(pattern)}, which no column matches; X has {listed(names)}")
    return found


def _accepted(is_meant: Callable[[Any, Kind], Any], table: Columns) -> list[Any]:
    return [column.name for column in table.columns if is_meant(column.name, column.kind)]


def _words(key: Any) -> str:
    """How a message speaks of a key."""
    return f"the pattern {key.pattern!r}" if isinstance(key, re.Pattern) else repr(key)
