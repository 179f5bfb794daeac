"""Columns by name: the label column, the columns that a setting applies to, and messages about unknown names."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..exceptions import InputError, ParameterError
from .arrays import as_frame
from .columns import Columns, Kind

# Precedence of keys: if several match a column, the one with the lowest rank applies.
_BY_NAME, _BY_PREDICATE, _BY_KIND = range(3)
_KIND_KEYS: dict[Any, Kind] = {"numbers": "number", "categories": "category", "texts": "text"}


def split_label(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows and labels; ``y`` may be the name of a column of ``X``. No cell is copied.

    >>> X, y = split_label({"age": [31, 58], "income": ["low", "high"]}, "income")
    >>> X, y
    ({'age': [31, 58]}, ['low', 'high'])
    """
    return _split(X, y, "y", "labels")


def split_groups(X: Any, groups: Any) -> tuple[Any, Any]:
    """Return rows and groups; ``groups`` may be the name of a column of ``X``. No cell is copied.

    >>> split_groups({"age": [31, 58], "customer": [7, 7]}, "customer")
    ({'age': [31, 58]}, [7, 7])
    """
    return _split(X, groups, "groups", "groups")


def _split(X: Any, values: Any, what: str, content: str) -> tuple[Any, Any]:
    """Return a table without the column that ``values`` names, and that column; both unchanged if it is no name."""
    if not isinstance(values, (str, int)):
        return X, values
    if isinstance(X, Mapping):
        column = X[_check_own_column(values, X, what, content)]
        return {name: cells for name, cells in X.items() if name != values}, column
    frame = as_frame(X)
    if frame is None:
        raise InputError(
            f"{what} is {values!r}, a column name, but X is a {type(X).__name__}, whose columns have no names; pass an "
            f"array of {content}, or a data frame"
        )
    column = frame.get_column(_check_own_column(values, frame.columns, what, content)).to_native()
    return frame.drop(values).to_native(), column


def _check_own_column(name: Any, names: Iterable[Any], what: str, content: str) -> Any:
    if name not in names:
        hint = did_you_mean(name, names, f"pass one of these, or {content}")
        raise InputError(f"{what} is {name!r}, but X has no such column; its columns are {quote_names(names)}; {hint}")
    return name


def select_columns(
    settings: Mapping[Any, Any] | Iterable[tuple[Any, Any]], table: Columns
) -> list[tuple[list[Any], Any]]:
    """Return the names of the columns that each key matches, with its setting.

    A key is the name of a column, a tuple of names, a compiled regular expression that is searched for in names, a
    predicate of name and kind, or "numbers", "categories" or "texts" for all columns of that kind
    (unless a column has this name). Pairs of keys and settings are accepted instead of a mapping; there, a key may
    also be a list. Names take precedence over patterns and predicates, and these over kinds.

    >>> from candide.data.table import read_table
    >>> table = read_table({"age": [31, 58], "x1": [0.5, 1.5], "x2": [2, 1], "job": ["cook", "smith"]})
    >>> select_columns({"numbers": "gaussian", re.compile(r"^x\\d"): "kernel", "x2": "poisson"}, table)
    [(['age'], 'gaussian'), (['x1'], 'kernel'), (['x2'], 'poisson')]
    """
    pairs = list(settings.items() if isinstance(settings, Mapping) else settings)
    claims: dict[Any, list[tuple[int, int]]] = {name: [] for name in table.names}
    for place, (key, _) in enumerate(pairs):
        rank, names = _matching_columns(key, table)
        for name in names:
            claims[name].append((rank, place))
    groups: list[list[Any]] = [[] for _ in pairs]
    for name, claimed in claims.items():
        if claimed:
            groups[_most_precise(name, sorted(claimed), pairs)].append(name)
    return [(group, setting) for group, (_, setting) in zip(groups, pairs, strict=True)]


def _most_precise(name: Any, claimed: list[tuple[int, int]], pairs: list[tuple[Any, Any]]) -> int:
    """Return the position of the key that applies to a column; raise if two keys of the same rank match."""
    (rank, place), others = claimed[0], claimed[1:]
    if others and others[0][0] == rank:
        first, second = (_describe_key(pairs[at][0]) for at in (place, others[0][1]))
        raise ParameterError(
            f"column {name!r} matches two keys of columns, {first} and {second}; name each column once"
        )
    return place


def _matching_columns(key: Any, table: Columns) -> tuple[int, list[Any]]:
    """Return the rank of a key and the names of the columns that it matches."""
    names = table.names
    if isinstance(key, list):
        return _BY_NAME, [_check_column(name, names) for name in key]
    if not isinstance(key, Hashable):
        raise ParameterError(
            f"columns has the key {key!r}, a {type(key).__name__}; expected a name, a tuple of names, a pattern, a "
            "function, 'numbers', 'categories' or 'texts'"
        )
    if key in names:
        return _BY_NAME, [key]
    if isinstance(key, tuple):
        return _BY_NAME, [_check_column(name, names) for name in key]
    if isinstance(key, re.Pattern):
        return _BY_PREDICATE, _pattern_matches(key, names)
    if callable(key):
        return _BY_PREDICATE, _predicate_matches(key, table)
    if key in _KIND_KEYS:
        return _BY_KIND, _predicate_matches(lambda _, kind: kind == _KIND_KEYS[key], table)
    return _BY_NAME, [_check_column(key, names)]


def _check_column(name: Any, names: tuple[Any, ...]) -> Any:
    if name not in names:
        hint = did_you_mean(name, names, "pass one of these")
        raise ParameterError(
            f"columns has the key {name!r}, but X has no such column; its columns are {quote_names(names)}; {hint}"
        )
    return name


def _pattern_matches(pattern: re.Pattern[str], names: tuple[Any, ...]) -> list[Any]:
    found = [name for name in names if pattern.search(str(name))]
    if not found:
        raise ParameterError(
            f"columns has the key {_describe_key(pattern)}, which matches no column; X has {quote_names(names)}"
        )
    return found


def _predicate_matches(is_meant: Callable[[Any, Kind], Any], table: Columns) -> list[Any]:
    return [column.name for column in table.columns if is_meant(column.name, column.kind)]


def _describe_key(key: Any) -> str:
    """Return a key as messages show it."""
    return f"the pattern {key.pattern!r}" if isinstance(key, re.Pattern) else repr(key)


# Names listed in a message; of wider tables, the first ones.
_MAX_LISTED = 20


def similar_name(name: Any, names: Iterable[Any]) -> Any | None:
    """Return the most similar name, ignoring case; None if no name is similar.

    >>> similar_name("sexx", ["age", "Sex"]), similar_name("height", ["age", "Sex"])
    ('Sex', None)
    """
    # Imported here because the import takes a millisecond and is needed for errors only.
    from difflib import get_close_matches

    folded: dict[str, Any] = {}
    for known in names:
        folded.setdefault(str(known).strip().casefold(), known)
    near = get_close_matches(str(name).strip().casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def did_you_mean(name: Any, names: Iterable[Any], otherwise: str) -> str:
    """Return the end of a message about an unknown name: a similar name, or other advice if there is none.

    >>> did_you_mean("sexx", ["age", "sex"], "pass one of these")
    "did you mean 'sex'?"
    """
    meant = similar_name(name, names)
    return otherwise if meant is None else f"did you mean {meant!r}?"


def check_columns(trained: Sequence[Any], given: Iterable[Any], absent: str | None, others: Iterable[Any] = ()) -> None:
    """Raise an error for a table that lacks columns of training, unless ``absent`` is "missing".

    A table that lacks a column and has an unknown one is always an error: most likely the name is misspelled.
    ``others`` are further names that are allowed: the label and the weight. ``absent`` is None for models without the
    setting.

    >>> check_columns(["age", "sex"], ["age", "label"], "missing", ["label"])
    >>> check_columns(["age", "sex"], ["age", "sexx"], "missing")
    Traceback (most recent call last):
        ...
    candide.exceptions.InputError: column 'sex' is missing, and the model was not trained on a column 'sexx'; \
did you mean 'sex'? rename 'sexx', or drop it
    """
    known = set(given)
    lacking = [name for name in trained if name not in known]
    if not lacking:
        return
    theirs = {*trained, *others}
    unknown = [name for name in dict.fromkeys(given) if name not in theirs]
    pairs = ((name, similar_name(name, lacking)) for name in unknown)
    name, meant = next((pair for pair in pairs if pair[1] is not None), (unknown[0] if unknown else None, None))
    hint = "" if meant is None else f"did you mean {meant!r}? "
    found = f"column {lacking[0]!r} is missing" if len(lacking) == 1 else f"columns {quote_names(lacking)} are missing"
    if unknown and (absent == "missing" or meant is not None):
        raise InputError(
            f"{found}, and the model was not trained on a column {name!r}; {hint}rename {name!r}, or drop it"
        )
    if absent != "missing":
        advice = (
            " or set_params(absent='missing') to predict from the columns that are present" if absent == "error" else ""
        )
        what = "it" if len(lacking) == 1 else "them"
        raise InputError(f"{found}, but the model was trained with {what}; pass all columns,{advice}".rstrip(","))


def quote_names(names: Iterable[Any]) -> str:
    """Return the first twenty names, quoted and separated by commas.

    >>> quote_names(["age", "sex"])
    "'age', 'sex'"
    """
    each = list(map(repr, names))
    return ", ".join(each[:_MAX_LISTED]) + (f" and {len(each) - _MAX_LISTED} more" if len(each) > _MAX_LISTED else "")


class Roles(NamedTuple):
    """Roles of columns in training."""

    #: The column of classes.
    label: str
    #: The only feature, if that is a text column.
    text: str | None
    #: The features.
    columns: tuple[str, ...]
    #: The column of weights.
    weight: str | None = None
    #: The column of groups, whose rows are left out together.
    groups: str | None = None

    @property
    def others(self) -> set[str | None]:
        """Return the columns that are not features."""
        return {self.label, self.weight, self.groups}
