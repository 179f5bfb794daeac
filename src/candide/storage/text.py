"""Models as text that can be read and diffed: one JSON document, in which what is long has a line for each thing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .content import Content
from .document import Document
from .encoder import Tree
from .listing import Entry, arrays_of, entries_of, line_of
from .sound import NOT_A_MODEL, refusing, require
from .versions import CURRENT, upgraded

FORMAT = "candide text"
_SHORT = 100


def to_text(content: Content) -> Iterator[str]:
    """A model as lines of text: exact, and the same for the same model.

    Trees are indented; of the arrays behind them, a line is a class, a column, a token or whatever the table has.
    """
    document = Document.of(content)
    yield "{\n"
    yield f'"format": "{FORMAT}",\n"version": "{CURRENT}",\n"kind": {line_of(document.kind)},\n'
    for name in ("provenance", "settings", "parts"):
        yield f'"{name}": {_indented(getattr(document, name))},\n'
    yield '"arrays": ['
    for i, entry in enumerate(entries_of(document)):
        yield "\n" if i == 0 else ",\n"
        yield from _lines(entry)
    yield "\n]\n}\n"


def _indented(tree: Tree, depth: int = 1) -> str:
    """A tree; what fits into a line stays in one."""
    short = line_of(tree)
    if len(short) <= _SHORT or not isinstance(tree, (dict, list)):
        return short
    space, inner = " " * (depth - 1), " " * depth
    if isinstance(tree, list):
        return f"[\n{inner}" + f",\n{inner}".join(_indented(item, depth + 1) for item in tree) + f"\n{space}]"
    parts = (f"{line_of(name)}: {_indented(part, depth + 1)}" for name, part in tree.items())
    return f"{{\n{inner}" + f",\n{inner}".join(parts) + f"\n{space}}}"


def _lines(entry: Entry) -> Iterator[str]:
    """What an entry is in one line, and each of its rows in one more."""
    *head, (name, rows) = entry.items()
    yield line_of(dict(head))[:-1] + f', "{name}": ['
    for i, row in enumerate(rows):
        yield "\n" if i == 0 else ",\n"
        yield line_of(row)
    yield "]}"


def from_text(lines: Iterable[str], source: str = "the text") -> Content:
    """The inverse of ``to_text``, with the checks of ``read_model``; ``source`` is what errors call it."""
    with refusing(f"{source} cannot be used"):
        text = "".join(lines)
        require(f'"{FORMAT}"' in text, f"{_NO_MODEL}: it begins with {text[:_SHORT]!r:.60}", NOT_A_MODEL)
        found = json.loads(text)
        named = isinstance(found, dict) and found.get("format") == FORMAT
        require(named and {"version", "kind", "provenance", "settings", "parts", "arrays"} <= found.keys(), _NO_MODEL)
        require(isinstance(found["kind"], str) and isinstance(found["version"], str), _NO_MODEL)
        return upgraded(_document(found), found["version"]).content()


_NO_MODEL = "it is no model as candide writes it"


def _document(found: dict[str, Any]) -> Document:
    require(isinstance(found["arrays"], list), _NO_MODEL)
    return Document(found["kind"], found["provenance"], found["settings"], found["parts"], arrays_of(found["arrays"]))
