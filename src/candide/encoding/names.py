"""Names of columns in messages: the one that was meant, and a list of those there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# Names listed in a message; of wider tables, the first ones.
_LISTED = 20


def similar_name(name: Any, names: Iterable[Any]) -> Any | None:
    """The name that is most like another, without regard to case; None if none is.

    >>> similar_name("sexx", ["age", "Sex"]), similar_name("height", ["age", "Sex"])
    ('Sex', None)
    """
    folded: dict[str, Any] = {}
    for known in names:
        folded.setdefault(str(known).strip().casefold(), known)
    near = get_close_matches(str(name).strip().casefold(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def did_you_mean(name: Any, names: Iterable[Any], otherwise: str) -> str:
    """The end of a message about a name that is unknown: a question, or other advice where no name is similar.

    >>> did_you_mean("sexx", ["age", "sex"], "pass one of these")
    "did you mean 'sex'?"
    """
    meant = similar_name(name, names)
    return otherwise if meant is None else f"did you mean {meant!r}?"


def listed(names: Iterable[Any]) -> str:
    """Names in quotes, the first twenty of them.

    >>> listed(["age", "sex"])
    "'age', 'sex'"
    """
    each = list(map(repr, names))
    return ", ".join(each[:_LISTED]) + (f" and {len(each) - _LISTED} more" if len(each) > _LISTED else "")
