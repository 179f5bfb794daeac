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
from ..kernels.layouts import Array
from .header import BLANK, CHECKSUM, METADATA, MOST_HEADER, Header, are_sizes, header_of, length_of
from .verdict import require

# By the names that the format has for them.
DTYPES = {
    "BOOL": np.dtype(bool), "I8": np.dtype("<i1"), "U8": np.dtype("<u1"), "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"), "I32": np.dtype("<i4"), "U32": np.dtype("<u4"), "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"), "F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "F64": np.dtype("<f8"),
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}

_ALIGNMENT = 8
_MOST_AXES = 8


class Tensors(NamedTuple):
    """Texts by name, and arrays by name."""

    metadata: Mapping[str, str]
    arrays: Mapping[str, Array]


def pieces(tensors: Tensors) -> Iterator[bytes | memoryview]:
    """The bytes of a file, one piece after the other."""
    order = sorted(tensors.arrays, key=lambda name: (-tensors.arrays[name].dtype.itemsize, name))
    bodies = [tensors.arrays[name] for name in order]
    header = _header(tensors.metadata, dict(zip(order, bodies, strict=True)))
    if len(header) > MOST_HEADER:
        raise ModelFileError(
            f"labels and settings take {len(header)} bytes, and a model file has room for {MOST_HEADER}; leave out "
            "the training rows (sample=False), or columns in which every row has a value of its own"
        )
    views = [body.reshape(-1).view(np.uint8).data for body in bodies if body.size]
    yield length_of(header)
    yield header.replace(BLANK.encode(), _digest([length_of(header), header, *views]).encode(), 1)
    yield from views


def _header(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> bytes:
    # The checksum comes first of all, so that its blank is the first in the file.
    entries: dict[str, Any] = {METADATA: {CHECKSUM: BLANK, **metadata}}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        entries[name] = {"dtype": DTYPE_NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def unpacked(content: memoryview) -> Tensors:
    """What the bytes of a file hold; arrays are views of them, not copies."""
    header = header_of(content, len(content))
    digest = header.digest()
    digest.update(content[header.end :])
    header.check(digest.hexdigest())
    return Tensors(header.metadata, arrays_of(header, content, header.places))


def arrays_of(header: Header, content: memoryview, names: Iterable[str]) -> dict[str, Array]:
    """Some arrays, as views of the content of the file."""
    return {name: array_of(header, name, content[slice(*header.places[name])]) for name in names}


def array_of(header: Header, name: str, data: memoryview) -> Array:
    """The array that some bytes are."""
    return _array(name, header.entries[name], data)


def _array(name: str, entry: dict[str, Any], data: memoryview) -> Array:
    kind, shape = str(entry.get("dtype")), entry.get("shape", ())
    require(kind in DTYPES and are_sizes(shape) and len(shape) <= _MOST_AXES, f"the array {name!r:.60} has no form")
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
