"""Where two settings differ, in few words: a rule for tokens has twenty parts, and one of them is the matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

_SHOWN = 80


class Difference(NamedTuple):
    """What differs, and how it is on both sides."""

    what: str
    one: str
    other: str


def first_difference(names: Mapping[str, str], one: Any, other: Any) -> Difference | None:
    """Of some attributes, under the names that people have for them, the first that differs."""
    for what, name in names.items():
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            return Difference(what, *differing(mine, theirs))
    return None


def differing(one: Any, other: Any) -> tuple[str, str]:
    """The parts that differ, on both sides.

    >>> from candide.kernels.tokenizer import TokenizerConfig
    >>> differing((TokenizerConfig(), "count"), (TokenizerConfig(ngrams=(1, 2), lowercase=False), "count"))
    ('ngrams=(1, 1), lowercase=True', 'ngrams=(1, 2), lowercase=False')
    >>> differing(0.5, None)
    ('0.5', 'None')
    """
    # What looks have in common differs in all of them alike.
    parts = dict.fromkeys(_parts(one, other, ""))
    mine, theirs = ([f"{part.what}={text}" if part.what else text for part in parts for text in [part[side]]]
                    for side in (1, 2))  # fmt: skip
    return ", ".join(mine), ", ".join(theirs)


def _parts(one: Any, other: Any, name: str) -> list[Difference]:
    if one == other:
        return []
    if type(one) is type(other) and is_dataclass(one):
        names = [field.name for field in fields(one)]
        return _all((getattr(one, each), getattr(other, each), each) for each in names)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) and not _is_plain(one):
        return _all(zip(one, other, getattr(one, "_fields", [name] * len(one)), strict=True))
    return [Difference(name, _short(one), _short(other))]


def _is_plain(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, (int, str)) for value in values)


def _all(pairs: Iterable[tuple[Any, Any, str]]) -> list[Difference]:
    return [part for one, other, name in pairs for part in _parts(one, other, name)]


def _short(value: Any) -> str:
    if isinstance(value, tuple) and value and all(hasattr(item, "name") for item in value):
        return " and ".join(repr(item.name) for item in value)
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
