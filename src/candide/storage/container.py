"""The bytes of a model file: the safetensors format, with a checksum.

Eight bytes for the length of the header, the header (JSON: for each array its type, shape and place, and texts under
``__metadata__``), then the arrays. Larger types come first and the header is padded, so every array is aligned.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ModelFileError
from ..kernels.data import Array
from .sound import NOT_A_MODEL, Unsound, require

# By the names that the format has for them.
DTYPES = {
    "BOOL": np.dtype(bool), "I8": np.dtype("<i1"), "U8": np.dtype("<u1"), "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"), "I32": np.dtype("<i4"), "U32": np.dtype("<u4"), "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"), "F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "F64": np.dtype("<f8"),
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}

_LENGTH, _ALIGNMENT = 8, 8
# Of headers: trees stay far below it, and what JSON becomes in memory is many times as large.
_MOST_HEADER = 1 << 26
_MOST_AXES = 8
# Bytes of a file that is no model that a message shows.
_SHOWN = 40
_METADATA, _CHECKSUM = "__metadata__", "checksum"
_BLANK = "0" * hashlib.sha256().digest_size * 2


class Tensors(NamedTuple):
    """Texts by name, and arrays by name."""

    metadata: Mapping[str, str]
    arrays: Mapping[str, Array]


def pieces(tensors: Tensors) -> Iterator[bytes | memoryview]:
    """The bytes of a file, one piece after the other."""
    order = sorted(tensors.arrays, key=lambda name: (-tensors.arrays[name].dtype.itemsize, name))
    bodies = [tensors.arrays[name] for name in order]
    header = _header(tensors.metadata, dict(zip(order, bodies, strict=True)))
    if len(header) > _MOST_HEADER:
        raise ModelFileError(
            f"labels and settings take {len(header)} bytes, and a model file has room for {_MOST_HEADER}; leave out "
            "the training rows (sample=False), or columns in which every row has a value of its own"
        )
    views = [body.reshape(-1).view(np.uint8).data for body in bodies if body.size]
    yield _length(header)
    yield header.replace(_BLANK.encode(), _digest([_length(header), header, *views]).encode(), 1)
    yield from views


def _header(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> bytes:
    # The checksum comes first of all, so that its blank is the first in the file.
    entries: dict[str, Any] = {_METADATA: {_CHECKSUM: _BLANK, **metadata}}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        entries[name] = {"dtype": DTYPE_NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _length(header: bytes) -> bytes:
    return len(header).to_bytes(_LENGTH, "little")


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


class Header(NamedTuple):
    """What comes before the arrays: texts by name, and for each array its type, shape and place in the file."""

    metadata: Mapping[str, str]
    entries: dict[str, Any]
    places: Mapping[str, tuple[int, int]]
    raw: bytes

    @property
    def end(self) -> int:
        """Where the arrays begin."""
        return _LENGTH + len(self.raw)

    def arrays(self, content: memoryview, names: Iterable[str]) -> dict[str, Array]:
        """Some arrays, as views of the content of the file."""
        return {name: self.array(name, content[slice(*self.places[name])]) for name in names}

    def array(self, name: str, data: memoryview) -> Array:
        """The array that some bytes are."""
        return _array(name, self.entries[name], data)

    def digest(self) -> Any:
        """The state of the checksum after the header, whose own digits are taken as zeros."""
        blank = self.raw.replace(self.checksum.encode(), _BLANK.encode(), 1)
        return hashlib.sha256(_length(self.raw) + blank)

    @property
    def checksum(self) -> str:
        """That of everything but itself."""
        stored = self.metadata.get(_CHECKSUM, "")
        require(len(stored) == len(_BLANK), "it has no checksum")
        return stored

    def check(self, found: str) -> None:
        """Raises unless a checksum is the one that is stored."""
        require(found == self.checksum, "its checksum is not that of its content")


def header_size(content: memoryview, n_bytes: int) -> int:
    """How long the header of a file of so many bytes is, by its first bytes."""
    require(n_bytes >= _LENGTH, f"it has {n_bytes} bytes, and the shortest model file has more")
    size = int.from_bytes(content[:_LENGTH], "little")
    if size > min(_MOST_HEADER, n_bytes - _LENGTH):
        # The header is a JSON object, so whatever has no brace here never was a model file.
        is_cut = bytes(content[_LENGTH : _LENGTH + 1]) in (b"{", b"")
        require(is_cut, f"it is no model file: it begins with {_shown(content)}", NOT_A_MODEL)
        raise Unsound("it is cut short, or no model file at all")
    return size


def header_of(content: memoryview, n_bytes: int) -> Header:
    """The header of a file of so many bytes, of which those of the header are there."""
    raw = bytes(content[_LENGTH : _LENGTH + header_size(content, n_bytes)])
    entries = _parsed(raw)
    metadata = entries.pop(_METADATA, None)
    require(
        isinstance(metadata, dict) and all(isinstance(text, str) for text in metadata.values()),
        "it has no description of what it holds",
    )
    return Header(metadata, entries, _places(entries, _LENGTH + len(raw), n_bytes), raw)


def unpacked(content: memoryview) -> Tensors:
    """What the bytes of a file hold; arrays are views of them, not copies."""
    header = header_of(content, len(content))
    digest = header.digest()
    digest.update(content[header.end :])
    header.check(digest.hexdigest())
    return Tensors(header.metadata, header.arrays(content, header.places))


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
    require(_are_sizes(bounds) and len(bounds) == 2, f"the array {name!r:.60} has no place")
    return bounds[0], bounds[1]


def _are_sizes(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def _array(name: str, entry: dict[str, Any], data: memoryview) -> Array:
    kind, shape = str(entry.get("dtype")), entry.get("shape", ())
    require(kind in DTYPES and _are_sizes(shape) and len(shape) <= _MOST_AXES, f"the array {name!r:.60} has no form")
    dtype = DTYPES[kind]
    require(prod(shape) * dtype.itemsize == len(data), f"the array {name!r:.60} is not as large as its shape says")
    if not data:
        require(max(shape) < 1 << 40, f"the array {name!r:.60} is empty, and too wide")
        return np.zeros(shape, dtype=dtype)
    if dtype.kind == "b":
        require(
            bool(np.frombuffer(data, dtype=np.uint8).max() <= 1),
            f"the array {name!r:.60} holds truth values that are neither",
        )
    return np.frombuffer(data, dtype=dtype).reshape(shape)
