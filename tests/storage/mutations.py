"""Random mutations of model files, as an attacker might make them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from candide.storage.container import DTYPES, Tensors, file_chunks, parse_file

TREES = ("provenance", "settings", "parts")
ODD_VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 2**31, 2**63, 10**30, -0.5, 0.5, 1e-300, 1e308, "", "a", "words", [], [1, 2], {},
    {"$": "float", "value": "nan"}, {"$": "float", "value": "inf"}, {"$": "float", "value": "-inf"},
    {"$": "scalar", "dtype": "float64", "value": 3.0}, {"$": "dict", "items": []}, {"$": "list", "items": []},
    {"$": "state"}, {"$": "os.system"}, {"$": "dirichlet", "concentration": 1e300}, {"$": "buckets", "bits": 30},
]  # fmt: skip


def mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """One of the ways to change a file; those that change its content repair its checksum."""
    ways: list[Callable[[bytes, np.random.Generator], bytes]] = [
        _flipped, _cut, _appended, _resealed_flip, _changed_header, _changed_tree, _changed_tree, _changed_tree,
        _swapped_trees, _changed_array, _changed_array, _changed_array, _reshaped_array, _swapped_arrays,
    ]  # fmt: skip
    return ways[rng.integers(len(ways))](raw, rng)


def sealed(raw: bytes) -> bytes:
    """With the checksum of what the bytes are now, where they still have one."""
    at = raw.find(b'"checksum":"')
    if at < 0 or at > 200:
        return raw
    at += len(b'"checksum":"')
    blank = raw[:at] + b"0" * 64 + raw[at + 64 :]
    return raw[:at] + hashlib.sha256(blank).hexdigest().encode() + raw[at + 64 :]


def _flipped(raw: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(raw)
    for at in rng.integers(len(raw), size=rng.integers(1, 4)):
        out[at] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _resealed_flip(raw: bytes, rng: np.random.Generator) -> bytes:
    return sealed(_flipped(raw, rng))


def _cut(raw: bytes, rng: np.random.Generator) -> bytes:
    return sealed(raw[: rng.integers(len(raw))])


def _appended(raw: bytes, rng: np.random.Generator) -> bytes:
    return sealed(raw + rng.bytes(int(rng.integers(1, 100))))


def _changed_header(raw: bytes, rng: np.random.Generator) -> bytes:
    size = int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8 : 8 + size]), raw[8 + size :]
    names = [name for name in header if name != "__metadata__"]
    entry = header[names[rng.integers(len(names))]]
    way = rng.integers(6)
    if way == 0:
        entry["dtype"] = [*DTYPES, "F128", 7][rng.integers(len(DTYPES) + 2)]
    elif way == 1:
        entry["data_offsets"][rng.integers(2)] += int(rng.choice([-8, 8, 1, -1, 2**40, -(2**40)]))
    elif way == 2:
        entry["shape"] = [[], [2**62, 4], [0], [1], [-1], entry["shape"][::-1], ["a"]][rng.integers(7)]
    elif way == 3:
        metadata = header["__metadata__"]
        odd = ["", "2", "0", "GaussianNB", "{}", "nan"]
        metadata[list(metadata)[rng.integers(len(metadata))]] = odd[rng.integers(len(odd))]
    elif way == 4:
        del header[names[rng.integers(len(names))]]
    else:
        header["more"] = copy.deepcopy(entry)
    return _bytes_of(header, data)


def _bytes_of(header: Any, data: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return sealed(len(text).to_bytes(8, "little") + text + data)


def _packed(tensors: Tensors) -> bytes:
    metadata = {name: text for name, text in tensors.metadata.items() if name != "checksum"}
    return b"".join(bytes(piece) for piece in file_chunks(Tensors(metadata, tensors.arrays)))


def _changed_tree(raw: bytes, rng: np.random.Generator) -> bytes:
    tensors = parse_file(memoryview(raw))
    name = TREES[rng.choice(3, p=[0.05, 0.15, 0.8])]
    tree = json.loads(tensors.metadata[name])
    places = list(_places(tree))
    holder, key = places[rng.integers(len(places))]
    way = rng.integers(4)
    if way == 0 and isinstance(holder, dict):
        del holder[key]
    elif way == 1:
        other, at = places[rng.integers(len(places))]
        holder[key] = copy.deepcopy(other[at])
    elif way == 2 and isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
        holder[key] = [-holder[key], holder[key] + 1, holder[key] * 1e9, holder[key] - 1][rng.integers(4)]
    else:
        holder[key] = copy.deepcopy(ODD_VALUES[rng.integers(len(ODD_VALUES))])
    return _packed(Tensors({**tensors.metadata, name: json.dumps(tree)}, tensors.arrays))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from _places(value)


def _swapped_trees(raw: bytes, rng: np.random.Generator) -> bytes:
    tensors = parse_file(memoryview(raw))
    tree = json.loads(tensors.metadata["parts"])
    places = list(_places(tree))
    (a, i), (b, j) = (places[k] for k in rng.integers(len(places), size=2))
    a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])
    return _packed(Tensors({**tensors.metadata, "parts": json.dumps(tree)}, tensors.arrays))


def _with_array(raw: bytes, rng: np.random.Generator, change: Callable[[Any], Any]) -> bytes:
    tensors = parse_file(memoryview(raw))
    names = list(tensors.arrays)
    name = names[rng.integers(len(names))]
    return _packed(Tensors(tensors.metadata, {**tensors.arrays, name: change(tensors.arrays[name].copy())}))


def _changed_array(raw: bytes, rng: np.random.Generator) -> bytes:
    def change(array: Any) -> Any:
        if not array.size:
            return array
        flat = array.reshape(-1)
        at = rng.integers(flat.size, size=rng.integers(1, 4))
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):  # of arrays of single precision
                flat[at] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, -1e308, 1e-320, 0.5, 1e6])
        elif array.dtype.kind == "b":
            flat[at] = ~flat[at]
        else:
            info = np.iinfo(array.dtype)
            flat[at] = rng.choice(np.array([info.min, info.max, 0, 1, 2, 100, 55296], dtype=object)) % (info.max + 1)
        return array

    return _with_array(raw, rng, change)


def _reshaped_array(raw: bytes, rng: np.random.Generator) -> bytes:
    def change(array: Any) -> Any:
        way = rng.integers(6)
        if way == 0:
            return array.reshape(-1)
        if way == 1:
            return array[..., None]
        if way == 2:
            return np.ascontiguousarray(array[: len(array) // 2]) if array.ndim else array
        if way == 3:
            return np.concatenate([array, array]) if array.ndim else array
        if way == 4:
            return np.ascontiguousarray(array.T)
        return array.astype(list(DTYPES.values())[rng.integers(len(DTYPES))])

    with np.errstate(all="ignore"):
        return _with_array(raw, rng, change)


def _swapped_arrays(raw: bytes, rng: np.random.Generator) -> bytes:
    tensors = parse_file(memoryview(raw))
    a, b = (list(tensors.arrays)[k] for k in rng.integers(len(tensors.arrays), size=2))
    arrays = dict(tensors.arrays) | {a: tensors.arrays[b], b: tensors.arrays[a]}
    return _packed(Tensors(tensors.metadata, arrays))


def mutated_and_sealed(raw: bytes, rng: np.random.Generator) -> bytes:
    """One of the ways to change the content of a file, with the checksum of what it is then."""
    ways: list[Callable[[bytes, np.random.Generator], bytes]] = [
        _changed_header, _changed_tree, _changed_tree, _changed_tree, _swapped_trees, _changed_array, _changed_array,
        _negated_array, _reshaped_array, _swapped_arrays,
    ]  # fmt: skip
    return ways[rng.integers(len(ways))](raw, rng)


def _negated_array(raw: bytes, rng: np.random.Generator) -> bytes:
    """Numbers of the other sign, and one less or more."""

    def change(array: Any) -> Any:
        if not array.size or array.dtype.kind == "b":
            return array
        flat = array.reshape(-1)
        at = rng.integers(flat.size, size=rng.integers(1, 4))
        flat[at] = [-flat[at] - 1, flat[at] - 1, flat[at] + 1][rng.integers(3)]
        return array

    with np.errstate(all="ignore"):
        return _with_array(raw, rng, change)
