"""Encode objects as a tree of plain values, and arrays that the tree refers to by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import Any

import numpy as np

from ..data.arrays import is_sparse
from ..exceptions import ModelFileError
from ..kernels.layouts import Array, TextRows
from ..kernels.vocabulary import Vocabulary
from ..model.table import Table
from ..statistics.base import Deferred
from .registry import name_of
from .validation import max_columns

# A tree: None, Boolean values, numbers, strings, lists (which stand for tuples), and dicts whose "$" names their type.
Tree = Any

# Bytes from which equal arrays are stored once. Small arrays are often equal by chance.
_LARGE = 1 << 10
# The widest numbers that every machine supports, in bytes.
_MAX_ITEMSIZE = 8


class Encoder:
    """Encodes values. An array is named by the path at which it first occurs; equal large arrays are stored once.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.tree({"weight": np.ones(2), "steps": (1, 2)}, "model")
    {'$': 'named', 'weight': {'$': 'array', 'tensor': 'model.weight'}, 'steps': [1, 2]}
    >>> encoder.arrays
    {'model.weight': array([1., 1.])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[tuple[Any, ...], str] = {}

    def tree(self, value: Any, path: str) -> Tree:
        """Return the tree of a value; its path is used in the names of arrays and in messages."""
        if value is None or isinstance(value, (bool, str)):
            return _text(value, path) if isinstance(value, str) else value
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            return _number(value)
        if isinstance(value, Deferred):
            value.load()
        name = name_of(type(value))
        if name is not None:
            return self._object(name, value, path)
        encode = next((encode for kind, encode in _ENCODERS.items() if isinstance(value, kind)), None)
        if is_sparse(value) and value.format == "csr":
            return _sparse(self, value, path)
        if encode is None or (isinstance(value, (tuple, dict)) and type(value) not in (tuple, dict, Table)):
            raise _cannot_be_stored(value, path)
        return encode(self, value, path)

    def _object(self, name: str, value: Any, path: str) -> Tree:
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        return {"$": name} | {field: self.tree(getattr(value, field), f"{path}.{field}") for field in names}

    def items(self, values: Iterable[Any], path: str) -> list[Tree]:
        """Return the trees of several values."""
        return [self.tree(value, f"{path}.{i}") for i, value in enumerate(values)]

    def tensor(self, values: Array, path: str, *, alone: bool = False) -> str:
        """Store an array and return its name; a large array shares that of an equal one, unless ``alone``."""
        little = values.astype(values.dtype.newbyteorder("<"), order="C", copy=False)
        if alone or little.nbytes < _LARGE:
            return self._kept(little, path)
        key = little.dtype, little.shape, hashlib.sha256(little.reshape(-1).view(np.uint8).data).digest()
        if key not in self._names:
            self._names[key] = self._kept(little, path)
        return self._names[key]

    def _kept(self, values: Array, path: str) -> str:
        name, n = path, 1
        while name in self.arrays:
            name, n = f"{path}#{n}", n + 1
        self.arrays[name] = values
        return name


def _text(value: str, path: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(
            f"{path} is {value!r}, which contains an unpaired surrogate and cannot be encoded as UTF-8; replace such "
            "characters, and fit again"
        ) from None
    return str.__str__(value)


def _number(value: float) -> Tree:
    return value if isinstance(value, int) or isfinite(value) else {"$": "float", "value": repr(value)}


def _cannot_be_stored(value: Any, path: str) -> ModelFileError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value):
        return ModelFileError(
            f"{path} is the function {getattr(value, '__qualname__', kind)}, but model files cannot contain code; use "
            "a setting without a function, such as pattern= instead of tokenizer=, or use pickle"
        )
    return ModelFileError(
        f"{path} is a {kind} ({value!r:.60}); model files support numbers, strings, booleans, dates, and lists, dicts "
        "and arrays of these; convert it, and fit again"
    )


def check_values(values: Iterable[Any], where: str) -> None:
    """Raise an error that says where values are that a file cannot hold; one of each type is tried."""
    for kind, value in {type(value): value for value in values}.items():
        try:
            if kind is not str:
                Encoder().tree(value, where)
        except ModelFileError:
            raise ModelFileError(
                f"{where} contain {value!r:.60} of type {kind.__module__}.{kind.__qualname__}; model files support "
                "numbers, strings, booleans and dates; convert the values to strings, for example with .astype(str), "
                "and fit again"
            ) from None


def _scalar(_: Encoder, value: np.generic, path: str) -> Tree:
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > _MAX_ITEMSIZE:
        raise _cannot_be_stored(value, path)
    return {"$": "scalar", "dtype": value.dtype.name, "value": _number(value.item())}


def _list(encoder: Encoder, value: list[Any], path: str) -> Tree:
    return {"$": "list", "items": encoder.items(value, path)}


def _set(encoder: Encoder, value: Set[Any], path: str) -> Tree:
    # In a fixed order, so that equal models give equal files.
    ordered = sorted(value, key=lambda item: (type(item).__name__, item))
    return {"$": "frozenset" if isinstance(value, frozenset) else "set", "items": encoder.items(ordered, path)}


def _dict(encoder: Encoder, value: Mapping[Any, Any], path: str) -> Tree:
    if all(isinstance(key, str) and key != "$" for key in value):
        named = {_text(key, path): encoder.tree(item, f"{path}.{key}") for key, item in value.items()}
        return {"$": "table" if isinstance(value, Table) else "named"} | named
    pairs = [[encoder.tree(key, path), encoder.tree(item, f"{path}.{key}")] for key, item in value.items()]
    return {"$": "dict", "items": pairs}


def _bytes(_: Encoder, value: bytes, path: str) -> Tree:
    return {"$": "octets", "value": value.hex()}


def _datetime(_: Encoder, value: date | time, path: str) -> Tree:
    if type(value) not in (date, datetime, time):
        raise _cannot_be_stored(value, path)
    zone = getattr(value, "tzinfo", None)
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return {"$": type(value).__name__, "value": value.isoformat(), "zone": name}


def _timedelta(_: Encoder, value: timedelta, path: str) -> Tree:
    return {"$": "timedelta", "days": value.days, "seconds": value.seconds, "microseconds": value.microseconds}


def _array(encoder: Encoder, value: Array, path: str) -> Tree:
    kind = value.dtype.kind
    if kind in "biuf" and value.dtype.itemsize <= _MAX_ITEMSIZE:
        if _is_symmetric(value):
            return _of_kind("symmetric", encoder.tensor(value[np.tril_indices(len(value))], path))
        flipped = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        # The memory order is kept, because the last digits of sums over an array depend on it.
        return _of_kind("array", encoder.tensor(value.T if flipped else value, path), flipped=flipped)
    if kind in "mM":
        return _of_kind("times", encoder.tensor(value.view(np.int64), path), dtype=value.dtype.str.lstrip("<>="))
    if kind in "US":
        return _fixed_width(encoder, np.ascontiguousarray(value), path)
    if kind == "O":
        return _objects(encoder, value, path)
    raise _cannot_be_stored(value, path)


def _is_symmetric(value: Array) -> bool:
    """Return whether a large matrix is symmetric, so that half of it is enough."""
    square = value.ndim == 2 and value.shape[0] == value.shape[1] and value.nbytes >= _LARGE
    return square and bool((value == value.T).all())


def _of_kind(kind: str, tensor: str, **more: Any) -> Tree:
    return {"$": kind, "tensor": tensor} | {name: value for name, value in more.items() if value}


def _fixed_width(encoder: Encoder, value: Array, path: str) -> Tree:
    """Encode strings of one width as code points, ``(…, width)``: decoding then takes no more memory than the file."""
    for text in value.ravel().tolist() if value.dtype.kind == "U" else ():
        _text(text, path)
    unit = np.dtype(np.uint32 if value.dtype.kind == "U" else np.uint8)
    width = value.dtype.itemsize // unit.itemsize
    units = value.astype(value.dtype.newbyteorder("<")).view(unit).reshape(*value.shape, width)
    return {"$": "characters" if unit.itemsize > 1 else "bytes", "tensor": encoder.tensor(units, path)}


def _objects(encoder: Encoder, value: Array, path: str) -> Tree:
    """Encode the distinct values, strings last, and for each cell the position of its value."""
    items = value.ravel().tolist()
    # True, 1 and 1.0 are equal but must stay apart, and NaN is not equal to itself.
    keys = [(type(item), repr(item) if isinstance(item, float) else item) for item in items]
    distinct = dict(zip(keys, items, strict=True))
    order = sorted(distinct, key=lambda key: key[0] is str)
    place = {key: i for i, key in enumerate(order)}
    codes = np.fromiter(map(place.__getitem__, keys), dtype=np.int32, count=len(keys)).reshape(value.shape)
    texts = [_text(distinct[key], path) for key in order if key[0] is str]
    others = [distinct[key] for key in order if key[0] is not str]
    return {
        "$": "objects",
        # The decoder limits memory by the codes in the file, so that shared codes could exceed the limit.
        "codes": encoder.tensor(codes, path, alone=True),
        "others": encoder.items(others, path),
        "texts": _packed(encoder, *packed_strings(texts), path) if texts else None,
    }


def packed_strings(texts: list[str]) -> tuple[Array, Array]:
    """Return the bytes of strings, and their offsets."""
    parts = [text.encode("utf-8") for text in texts]
    return np.frombuffer(b"".join(parts), dtype=np.uint8), np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _packed(encoder: Encoder, utf8: Array, offsets: Array, path: str) -> Tree:
    return {"utf8": encoder.tensor(utf8, f"{path}.utf8"), "offsets": encoder.tensor(offsets, f"{path}.offsets")}


def _sparse(encoder: Encoder, value: Any, path: str) -> Tree:
    if value.shape[1] > max_columns(value.nnz):
        raise ModelFileError(
            f"{path} has {value.shape[1]} columns, most of them empty, which is more than a model file supports; "
            "train with fewer buckets"
        )
    canonical = value
    if not value.has_canonical_format:
        canonical = value.copy()
        canonical.sum_duplicates()
    parts = {name: encoder.tensor(getattr(canonical, name), f"{path}.{name}") for name in ("data", "indices", "indptr")}
    return {"$": "sparse table", "n_columns": int(value.shape[1])} | parts


def _vocabulary(encoder: Encoder, value: Vocabulary, path: str) -> Tree:
    return {"$": "vocabulary"} | _packed(encoder, *value.arrays(), path)


def _text_rows(encoder: Encoder, value: TextRows, path: str) -> Tree:
    parts = value.arrays()
    packed = _packed(encoder, parts["utf8"], parts["offsets"], path)
    return {"$": "text rows"} | packed | {"missing": encoder.tensor(parts["missing"], f"{path}.missing")}


_ENCODERS: dict[Any, Callable[[Encoder, Any, str], Tree]] = {
    np.generic: _scalar,
    np.ndarray: _array,
    Vocabulary: _vocabulary,
    TextRows: _text_rows,
    tuple: Encoder.items,
    list: _list,
    dict: _dict,
    set: _set,
    frozenset: _set,
    bytes: _bytes,
    date: _datetime,
    time: _datetime,
    timedelta: _timedelta,
}
