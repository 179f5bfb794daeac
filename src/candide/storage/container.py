"""The bytes of a model file: the safetensors format, with a checksum in its metadata.

Eight bytes for the length of the header, the header (JSON: for each array its type, shape and offsets, and strings
under ``__metadata__``), then the arrays. Arrays of larger types come first and the header is padded, so every array is
aligned. The checksum is SHA-256 of all bytes, with zeros in place of the digits of the checksum itself.

Importing this module does not import NumPy: files are opened before NumPy is imported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from ..exceptions import ModelFileError
from .errors import NOT_A_MODEL, InvalidContent, require

if TYPE_CHECKING:
    from ..kernels.layouts import Array

# NumPy types by their names in the format.
DTYPES = {
    "BOOL": "|b1", "I8": "|i1", "U8": "|u1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8",
    "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
FORMAT = "candide"
CURRENT_VERSION = 4
# Parts of a model, each a tree as JSON.
TREES = ("provenance", "settings", "parts")

_METADATA = "__metadata__"
_LENGTH_BYTES = 8
_ALIGNMENT = 8
_MAX_AXES = 8
# The trees of models stay far below this limit, and JSON takes many times its size when it is parsed.
_MAX_HEADER_BYTES = 1 << 26
# Bytes of a file that is not a model which an error message shows.
_SHOWN_BYTES = 40


class Tensors(NamedTuple):
    """The content of a file: strings by name, and arrays by name."""

    metadata: Mapping[str, str]
    arrays: Mapping[str, Array]


class Header(NamedTuple):
    """The header of a file: metadata, and for each array its entry and its first and last byte in the file."""

    metadata: Mapping[str, str]
    entries: dict[str, Any]
    places: Mapping[str, tuple[int, int]]
    raw: bytes

    @property
    def is_current(self) -> bool:
        """Whether the file has the format version that is written now."""
        return self.metadata["version"] == str(CURRENT_VERSION)

    @property
    def end(self) -> int:
        """The offset of the first array."""
        return _LENGTH_BYTES + len(self.raw)

    def start_checksum(self) -> Any:
        """Return the ``hashlib`` object of the file after its header."""
        return start_checksum(_length_of(self.raw) + self.raw, self.metadata)


def file_chunks(tensors: Tensors) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file."""
    order = sorted(tensors.arrays, key=lambda name: (-tensors.arrays[name].dtype.itemsize, name))
    arrays = {name: tensors.arrays[name] for name in order}
    header = _header_bytes(tensors.metadata, arrays)
    if len(header) > _MAX_HEADER_BYTES:
        raise ModelFileError(
            f"labels and settings need {len(header)} bytes; a model file allows at most {_MAX_HEADER_BYTES}; omit the "
            "training rows (sample=False), or drop columns with a unique value in every row"
        )
    views = [array.reshape(-1).view("u1").data for array in arrays.values() if array.size]
    yield _length_of(header)
    yield header.replace(ZEROS.encode(), checksum_of([_length_of(header), header, *views]).encode(), 1)
    yield from views


def _header_bytes(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> bytes:
    # The checksum comes first, so that its zeros are the first ones in the file.
    entries: dict[str, Any] = {_METADATA: {CHECKSUM: ZEROS, **metadata}}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        dtype = DTYPE_NAMES[array.dtype.str]
        entries[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _length_of(header: bytes) -> bytes:
    return len(header).to_bytes(_LENGTH_BYTES, "little")


def parse_file(content: memoryview) -> Tensors:
    """Return the content of a file after verifying its checksum; the arrays are views of the bytes."""
    header = parse_header(content, len(content))
    checksum = header.start_checksum()
    checksum.update(content[header.end :])
    verify_checksum(checksum.hexdigest(), header.metadata)
    return Tensors(header.metadata, arrays_in(header, content, header.places))


def header_end(content: memoryview, n_bytes: int) -> int:
    """Return the offset at which the header of a file of ``n_bytes`` ends, given the first bytes of the file."""
    require(n_bytes >= _LENGTH_BYTES, f"it has only {n_bytes} bytes, too few for a model file")
    size = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if size > min(_MAX_HEADER_BYTES, n_bytes - _LENGTH_BYTES):
        # The header is a JSON object, so a file without a brace here never was a model file.
        is_cut = bytes(content[_LENGTH_BYTES : _LENGTH_BYTES + 1]) in (b"{", b"")
        require(is_cut, f"it is not a model file: it begins with {_first_bytes(content)}", NOT_A_MODEL)
        raise InvalidContent("it is truncated, or not a model file")
    return _LENGTH_BYTES + size


def _first_bytes(content: memoryview) -> str:
    """Return the beginning of a file for a message, as text if it is text."""
    head = bytes(content[:_SHOWN_BYTES])
    text = head.decode("utf-8", errors="replace").partition("\n")[0].rstrip("\r\ufffd")
    return repr(text) if text.isprintable() and text else f"the bytes {head[:_LENGTH_BYTES].hex(' ')}"


def parse_header(content: memoryview, n_bytes: int) -> Header:
    """Return the header of a file of ``n_bytes``, given at least the bytes of the header."""
    raw = bytes(content[_LENGTH_BYTES : header_end(content, n_bytes)])
    entries = _parse_json(raw)
    metadata = entries.pop(_METADATA, None)
    require(
        isinstance(metadata, dict) and all(isinstance(text, str) for text in metadata.values()),
        "its header has no metadata",
    )
    return Header(metadata, entries, _places(entries, _LENGTH_BYTES + len(raw), n_bytes), raw)


def _parse_json(raw: bytes) -> dict[str, Any]:
    try:
        entries = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidContent(f"its header is not valid JSON ({error})") from None
    require(isinstance(entries, dict), "its header is not a JSON object")
    return dict(entries)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _places(entries: dict[str, Any], begin: int, n_bytes: int) -> dict[str, tuple[int, int]]:
    """Return the offsets of all arrays, which must follow one another without a gap."""
    bounds = {name: _data_offsets(name, entry) for name, entry in entries.items()}
    places, end = {}, 0
    for name, (first, after) in sorted(bounds.items(), key=lambda item: item[1]):
        require(
            first == end <= after <= n_bytes - begin,
            f"the array {name!r:.60} does not directly follow the previous one",
        )
        places[name], end = (begin + first, begin + after), after
    require(
        end == n_bytes - begin, f"its arrays end at byte {end}, but it has {n_bytes - begin} bytes after the header"
    )
    return places


def _data_offsets(name: str, entry: Any) -> tuple[int, int]:
    bounds: Any = entry.get("data_offsets") if isinstance(entry, dict) else None
    require(_are_sizes(bounds) and len(bounds) == 2, f"the array {name!r:.60} has no valid offsets")
    return bounds[0], bounds[1]


def _are_sizes(numbers: Any) -> bool:
    """Return whether a value is a list of integers of at least 0."""
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def parse_trees(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Return the trees of a model, given the metadata of its file."""
    require(metadata.get("format") == FORMAT, "it contains arrays, but no candide model")
    require({"version", "kind", *TREES} <= metadata.keys(), "its metadata is incomplete")
    return {name: json.loads(metadata[name]) for name in TREES}


def arrays_in(header: Header, content: memoryview, names: Iterable[str]) -> dict[str, Array]:
    """Return some arrays of a file, as views of its bytes."""
    return {name: array_from(header, name, content[slice(*header.places[name])]) for name in names}


def array_from(header: Header, name: str, data: memoryview) -> Array:
    """Return the array of this name, given its bytes."""
    import numpy as np

    entry = header.entries[name]
    kind, shape = str(entry.get("dtype")), entry.get("shape", ())
    valid = kind in DTYPES and _are_sizes(shape) and len(shape) <= _MAX_AXES
    require(valid, f"the array {name!r:.60} has no valid type and shape")
    dtype = np.dtype(DTYPES[kind])
    require(
        prod(shape) * dtype.itemsize == len(data), f"the array {name!r:.60} has a size that does not match its shape"
    )
    if not data:
        require(max(shape) < 1 << 40, f"the array {name!r:.60} is empty and has too many columns")
        return np.zeros(shape, dtype=dtype)
    if dtype.kind == "b":
        is_boolean = bool(np.frombuffer(data, dtype=np.uint8).max() <= 1)
        require(is_boolean, f"the array {name!r:.60} contains Boolean values other than 0 and 1")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


# The name of the checksum in the metadata, and the digits in its place while it is computed.
CHECKSUM = "checksum"
ZEROS = "0" * hashlib.sha256().digest_size * 2


def checksum_of(parts: Iterable[bytes | memoryview]) -> str:
    """Return the checksum of a file that is written, given its bytes with ``ZEROS`` in place of the checksum."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def stored_checksum(metadata: Mapping[str, str]) -> str:
    """Return the checksum that a file contains."""
    stored = metadata.get(CHECKSUM, "")
    require(len(stored) == len(ZEROS), "it has no checksum")
    return stored


def start_checksum(head: bytes, metadata: Mapping[str, str]) -> Any:
    """Return the ``hashlib`` object after the head of a file, which ends where the arrays begin."""
    return hashlib.sha256(head.replace(stored_checksum(metadata).encode(), ZEROS.encode(), 1))


def verify_checksum(computed: str, metadata: Mapping[str, str]) -> None:
    """Raise ``InvalidContent`` unless a computed checksum equals the stored one."""
    require(computed == stored_checksum(metadata), "its checksum does not match its content")
