"""What comes before the arrays of a model file.

It needs no NumPy: files are opened before that is loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .verdict import NOT_A_MODEL, Unsound, require

# Of the format.
CURRENT = 3
FORMAT = "candide"
# Parts of a model, each as JSON.
TREES = ("provenance", "settings", "parts")
_LENGTH = 8
# Of headers: trees stay far below it, and what JSON becomes in memory is many times as large.
MOST_HEADER = 1 << 26
# Bytes of a file that is no model that a message shows.
_SHOWN = 40
# Bytes of training rows that are read with the model: a file need not stay open for few.
_FEW = 1 << 22
METADATA, CHECKSUM = "__metadata__", "checksum"
# What stands for the checksum where it is computed.
BLANK = "0" * hashlib.sha256().digest_size * 2


class Header(NamedTuple):
    """What comes before the arrays: texts by name, and for each array its type, shape and place in the file."""

    metadata: Mapping[str, str]
    entries: dict[str, Any]
    places: Mapping[str, tuple[int, int]]
    raw: bytes

    @property
    def is_current(self) -> bool:
        """Whether the file is of the version that is written now."""
        return self.metadata["version"] == str(CURRENT)

    @property
    def end(self) -> int:
        """Where the arrays begin."""
        return _LENGTH + len(self.raw)

    def digest(self) -> Any:
        """The state of the checksum after the header, whose own digits are taken as zeros."""
        blank = self.raw.replace(self.checksum.encode(), BLANK.encode(), 1)
        return hashlib.sha256(length_of(self.raw) + blank)

    @property
    def checksum(self) -> str:
        """That of everything but itself."""
        stored = self.metadata.get(CHECKSUM, "")
        require(len(stored) == len(BLANK), "it has no checksum")
        return stored

    def check(self, found: str) -> None:
        """Raises unless a checksum is the one that is stored."""
        require(found == self.checksum, "its checksum is not that of its content")


def trees_of(metadata: Mapping[str, str]) -> dict[str, Any]:
    """The parts of a model, by the texts of its header."""
    require(metadata.get("format") == FORMAT, "it holds arrays, and no model of candide")
    require({"version", "kind", *TREES} <= metadata.keys(), "it does not say what model it holds")
    return {name: json.loads(metadata[name]) for name in TREES}


def header_size(content: memoryview, n_bytes: int) -> int:
    """How long the header of a file of so many bytes is, by its first bytes."""
    require(n_bytes >= _LENGTH, f"it has {n_bytes} bytes, and the shortest model file has more")
    size = int.from_bytes(content[:_LENGTH], "little")
    if size > min(MOST_HEADER, n_bytes - _LENGTH):
        # The header is a JSON object, so whatever has no brace here never was a model file.
        is_cut = bytes(content[_LENGTH : _LENGTH + 1]) in (b"{", b"")
        require(is_cut, f"it is no model file: it begins with {_shown(content)}", NOT_A_MODEL)
        raise Unsound("it is cut short, or no model file at all")
    return size


def header_of(content: memoryview, n_bytes: int) -> Header:
    """The header of a file of so many bytes, of which those of the header are there."""
    raw = bytes(content[_LENGTH : _LENGTH + header_size(content, n_bytes)])
    entries = _parsed(raw)
    metadata = entries.pop(METADATA, None)
    require(
        isinstance(metadata, dict) and all(isinstance(text, str) for text in metadata.values()),
        "it has no description of what it holds",
    )
    return Header(metadata, entries, _places(entries, _LENGTH + len(raw), n_bytes), raw)


def length_of(header: bytes) -> bytes:
    """The first bytes of a file."""
    return len(header).to_bytes(_LENGTH, "little")


def _shown(content: memoryview) -> str:
    """The beginning of a file, as text if it is one."""
    head = bytes(content[:_SHOWN])
    text = head.decode("utf-8", errors="replace").partition("\n")[0].rstrip("\r\ufffd")
    return repr(text) if text.isprintable() and text else f"the bytes {head[:_LENGTH].hex(' ')}"


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        entries = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Unsound(f"its header is no JSON ({error})") from None
    require(isinstance(entries, dict), "its header is no table of arrays")
    return dict(entries)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _places(entries: dict[str, Any], begin: int, n_bytes: int) -> dict[str, tuple[int, int]]:
    """Where all arrays lie, which must follow one another without a gap."""
    bounds = {name: _place(name, entry) for name, entry in entries.items()}
    places, end = {}, 0
    for name, (first, after) in sorted(bounds.items(), key=lambda item: item[1]):
        require(first == end <= after <= n_bytes - begin, f"the array {name!r:.60} does not follow the one before")
        places[name], end = (begin + first, begin + after), after
    require(end == n_bytes - begin, f"its arrays end at byte {end} of {n_bytes - begin}")
    return places


def _place(name: str, entry: Any) -> tuple[int, int]:
    """Where an array begins and ends."""
    bounds: Any = entry.get("data_offsets") if isinstance(entry, dict) else None
    require(are_sizes(bounds) and len(bounds) == 2, f"the array {name!r:.60} has no place")
    return bounds[0], bounds[1]


def are_sizes(numbers: Any) -> bool:
    """Whether something is a list of whole numbers from 0."""
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def rows_apart(parts: Any, header: Header) -> tuple[str, ...]:
    """The arrays that nothing but the training rows is made of; none if they are small."""
    state: Any = parts.get("state") if isinstance(parts, dict) else None
    sample: Any = state.get("sample") if isinstance(state, dict) else None
    if not isinstance(sample, dict):
        return ()
    inside = {text for text in _texts(sample) if text in header.places}
    others = {**parts, "state": {**state, "sample": None}}
    names = tuple(sorted(inside - set(_texts(others))))
    n_bytes = sum(end - begin for begin, end in (header.places[name] for name in names))
    return names if n_bytes >= _FEW else ()


def _texts(tree: Any) -> Iterator[str]:
    """All texts in a tree, among them the names of its arrays."""
    todo = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (list, dict)):
            todo.extend(item if isinstance(item, list) else item.values())
