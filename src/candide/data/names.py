"""Names of columns in messages: the one that was meant, and a list of those there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..exceptions import InputError

# Names listed in a message; of wider tables, the first ones.
_LISTED = 20


def similar_name(name: Any, names: Iterable[Any]) -> Any | None:
    """The name that is most like another, without regard to case; None if none is.

    >>> similar_name("sexx", ["age", "Sex"]), similar_name("height", ["age", "Sex"])
    ('Sex', None)
    """
    # Few names are wrong, and to import this takes a millisecond of every start.
    from difflib import get_close_matches

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


def check_columns(trained: Sequence[Any], given: Iterable[Any], absent: str | None, others: Iterable[Any] = ()) -> None:
    """Refuses a table that lacks columns of training: unless ``absent`` is "missing", and always if it has others.

    A name that the model does not know, beside a column that is lacking, is most likely that column, misspelt.
    ``others`` are names that may be there: the label and the weight. ``absent`` is None for models without the setting.

    >>> check_columns(["age", "sex"], ["age", "label"], "missing", ["label"])
    >>> check_columns(["age", "sex"], ["age", "sexx"], "missing")
    Traceback (most recent call last):
        ...
    candide.exceptions.InputError: column 'sex' is absent, and 'sexx' is no column that the model was trained on; did \
you mean 'sex'? rename 'sexx', or leave it out
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
    found = f"column {lacking[0]!r} is absent" if len(lacking) == 1 else f"columns {listed(lacking)} are absent"
    if unknown and (absent == "missing" or meant is not None):
        raise InputError(
            f"{found}, and {name!r} is no column that the model was trained on; {hint}rename {name!r}, or leave it out"
        )
    if absent != "missing":
        advice = " or set_params(absent='missing') to predict from those that are given" if absent == "error" else ""
        what = "it" if len(lacking) == 1 else "them"
        raise InputError(f"{found}, and the model was trained with {what}; pass all columns,{advice}".rstrip(","))


def listed(names: Iterable[Any]) -> str:
    """Names in quotes, the first twenty of them.

    >>> listed(["age", "sex"])
    "'age', 'sex'"
    """
    each = list(map(repr, names))
    return ", ".join(each[:_LISTED]) + (f" and {len(each) - _LISTED} more" if len(each) > _LISTED else "")
