"""An extension of griffe, which reads docstrings for mkdocstrings: one entry for each of several names.

NumPy's style allows ``alpha, beta`` as one entry, over several lines if need be. griffe reads the lines as separate
entries and gives all names of a line the type and the default of the first one. It also takes the first of several
choices for the default of an optional parameter, which is None here.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_NAME = r"\*{0,2}\w+"
_NAMES = re.compile(
    rf"^(?:{_NAME}, *)+\n?(?:{_NAME}, *)*{_NAME}(?: : .+)?\n((?: {{4}}.*(?:\n|$)|\n(?= {{4}}))+)", re.MULTILINE
)


_OPTIONAL_CHOICE = re.compile(r"^( *\w+ : )\{(.*)\}, optional$", re.MULTILINE)


class DocstringNames(griffe.Extension):
    """Rewrites docstrings before they are parsed: combined entries, and optional choices."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Give each name of a combined entry its own entry."""
        if obj.docstring is not None:
            obj.docstring.value = separated(obj.docstring.value)


def separated(docstring: str) -> str:
    """Return a docstring in which each name of a combined entry has its own entry, and optional choices a default.

    >>> print(separated("Parameters\\n----------\\na, b,\\nc\\n    Numbers.\\nd : int\\n    Count.\\n"))
    Parameters
    ----------
    a
        Numbers.
    b
        Numbers.
    c
        Numbers.
    d : int
        Count.
    <BLANKLINE>
    """
    return _OPTIONAL_CHOICE.sub(r"\1one of \2, default None", _NAMES.sub(_entries, docstring))


def _entries(found: re.Match[str]) -> str:
    names, _, kind = found[0].removesuffix(found[1]).strip().partition(" : ")
    head = f" : {kind}" if kind else ""
    text = found[1] if found[1].endswith("\n") else f"{found[1]}\n"
    return "".join(f"{name}{head}\n{text}" for name in re.split(r",\s*", names))
