"""From objects of the house to a tree of plain values, with the arrays beside it."""

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
from ..statistics.stored_counts import StoredCounts
from .nouns import NAMES
from .sound import most_columns
from .stored_rows import StoredSample

# A tree: None, truth values, numbers, texts, lists (which are tuples), and dicts whose "$" says what they are.
Tree = Any

# Bytes of arrays that are worth a look whether they are there already. What is small is equal by chance.
_LARGE = 1 << 10
# Bytes of a number that every machine has.
_WIDEST = 8


class Encoder:
    """Arrays get the names of the places where they are first met; what is large is stored once.

    >>> encoder = Encoder()
    >>> encoder.tree({"weight": np.ones(2), "steps": (1, 2)}, "model")
    {'$': 'named', 'weight': {'$': 'array', 'tensor': 'model.weight'}, 'steps': [1, 2]}
    >>> encoder.arrays
    {'model.weight': array([1., 1.])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[tuple[Any, ...], str] = {}

    def tree(self, value: Any, where: str) -> Tree:
        """The tree of a value; ``where`` it stands, for the names of arrays and for messages."""
        if value is None or isinstance(value, (bool, str)):
            return _text(value, where) if isinstance(value, str) else value
        if isinstance(value, (int, float)) and not isinstance(value, np.generic):
            return _number(value)
        if isinstance(value, (StoredCounts, StoredSample)):
            value.load()
        if type(value) in NAMES:
            return self._noun(value, where)
        write = next((write for kind, write in _WRITERS.items() if isinstance(value, kind)), None)
        if is_sparse(value) and value.format == "csr":
            return _sparse(self, value, where)
        if write is None or (isinstance(value, (tuple, dict)) and type(value) not in (tuple, dict, Table)):
            raise _cannot_be_stored(value, where)
        return write(self, value, where)

    def _noun(self, value: Any, where: str) -> Tree:
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        return {"$": NAMES[type(value)]} | {name: self.tree(getattr(value, name), f"{where}.{name}") for name in names}

    def items(self, values: Iterable[Any], where: str) -> list[Tree]:
        """The trees of several values."""
        return [self.tree(value, f"{where}.{i}") for i, value in enumerate(values)]

    def tensor(self, values: Array, where: str, *, alone: bool = False) -> str:
        """Keeps an array of numbers; its name, which is that of an equal one if it is large and not to stay alone."""
        little = values.astype(values.dtype.newbyteorder("<"), order="C", copy=False)
        if alone or little.nbytes < _LARGE:
            return self._kept(little, where)
        key = little.dtype, little.shape, hashlib.sha256(little.reshape(-1).view(np.uint8).data).digest()
        if key not in self._names:
            self._names[key] = self._kept(little, where)
        return self._names[key]

    def _kept(self, values: Array, where: str) -> str:
        name, n = where, 1
        while name in self.arrays:
            name, n = f"{where}#{n}", n + 1
        self.arrays[name] = values
        return name


def _text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(
            f"{where} is {value!r}, which is no valid text (half of a surrogate pair); model files hold UTF-8; replace "
            "such characters, and fit again"
        ) from None
    return str.__str__(value)


def _number(value: float) -> Tree:
    return value if isinstance(value, int) or isfinite(value) else {"$": "float", "value": repr(value)}


def _cannot_be_stored(value: Any, where: str) -> ModelFileError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value):
        return ModelFileError(
            f"{where} is the function {getattr(value, '__qualname__', kind)}, and a model file holds no code; use "
            "settings that are data, such as pattern= in place of tokenizer=, or keep the model by pickle"
        )
    return ModelFileError(
        f"{where} is a {kind} ({value!r:.60}); model files hold numbers, texts, truth values, dates, and lists, dicts "
        "and arrays of them; convert it, and fit again"
    )


def _scalar(_: Encoder, value: np.generic, where: str) -> Tree:
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > _WIDEST:
        raise _cannot_be_stored(value, where)
    return {"$": "scalar", "dtype": value.dtype.name, "value": _number(value.item())}


def _tuple(encoder: Encoder, value: tuple[Any, ...], where: str) -> Tree:
    return encoder.items(value, where)


def _list(encoder: Encoder, value: list[Any], where: str) -> Tree:
    return {"$": "list", "items": encoder.items(value, where)}


def _set(encoder: Encoder, value: Set[Any], where: str) -> Tree:
    # In a fixed order, so that equal models are equal files.
    ordered = sorted(value, key=lambda item: (type(item).__name__, item))
    return {"$": "frozenset" if isinstance(value, frozenset) else "set", "items": encoder.items(ordered, where)}


def _dict(encoder: Encoder, value: Mapping[Any, Any], where: str) -> Tree:
    if all(isinstance(key, str) and key != "$" for key in value):
        named = {_text(key, where): encoder.tree(item, f"{where}.{key}") for key, item in value.items()}
        return {"$": "table" if isinstance(value, Table) else "named"} | named
    pairs = [[encoder.tree(key, where), encoder.tree(item, f"{where}.{key}")] for key, item in value.items()]
    return {"$": "dict", "items": pairs}


def _octets(_: Encoder, value: bytes, where: str) -> Tree:
    return {"$": "octets", "value": value.hex()}


def _moment(_: Encoder, value: date | time, where: str) -> Tree:
    if type(value) not in (date, datetime, time):
        raise _cannot_be_stored(value, where)
    zone = getattr(value, "tzinfo", None)
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return {"$": type(value).__name__, "value": value.isoformat(), "zone": name}


def _duration(_: Encoder, value: timedelta, where: str) -> Tree:
    return {"$": "timedelta", "days": value.days, "seconds": value.seconds, "microseconds": value.microseconds}


def _array(encoder: Encoder, value: Array, where: str) -> Tree:
    kind = value.dtype.kind
    if kind in "biuf" and value.dtype.itemsize <= _WIDEST:
        if _is_symmetric(value):
            return _of_kind("symmetric", encoder.tensor(value[np.tril_indices(len(value))], where))
        flipped = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        # Sums over an array hang on how it lies in memory, in their last digits.
        return _of_kind("array", encoder.tensor(value.T if flipped else value, where), flipped=flipped)
    if kind in "mM":
        return _of_kind("times", encoder.tensor(value.view(np.int64), where), dtype=value.dtype.str.lstrip("<>="))
    if kind in "US":
        return _fixed_width(encoder, np.ascontiguousarray(value), where)
    if kind == "O":
        return _objects(encoder, value, where)
    raise _cannot_be_stored(value, where)


def _is_symmetric(value: Array) -> bool:
    """Whether half of a large matrix says it all."""
    square = value.ndim == 2 and value.shape[0] == value.shape[1] and value.nbytes >= _LARGE
    return square and bool((value == value.T).all())


def _of_kind(kind: str, tensor: str, **more: Any) -> Tree:
    return {"$": kind, "tensor": tensor} | {name: value for name, value in more.items() if value}


def _fixed_width(encoder: Encoder, value: Array, where: str) -> Tree:
    """Texts of one width as code points, ``(…, width)``: what is read takes the room that the file takes."""
    for text in value.ravel().tolist() if value.dtype.kind == "U" else ():
        _text(text, where)
    unit = np.dtype(np.uint32 if value.dtype.kind == "U" else np.uint8)
    width = value.dtype.itemsize // unit.itemsize
    units = value.astype(value.dtype.newbyteorder("<")).view(unit).reshape(*value.shape, width)
    return {"$": "characters" if unit.itemsize > 1 else "bytes", "tensor": encoder.tensor(units, where)}


def _objects(encoder: Encoder, value: Array, where: str) -> Tree:
    """Distinct values once, texts behind the others, and for each cell which of them it is."""
    items = value.ravel().tolist()
    # True, 1 and 1.0 are equal, and not the same; missing values are not equal to themselves.
    keys = [(type(item), repr(item) if isinstance(item, float) else item) for item in items]
    distinct = dict(zip(keys, items, strict=True))
    order = sorted(distinct, key=lambda key: key[0] is str)
    place = {key: i for i, key in enumerate(order)}
    codes = np.fromiter(map(place.__getitem__, keys), dtype=np.int32, count=len(keys)).reshape(value.shape)
    texts = [_text(distinct[key], where) for key in order if key[0] is str]
    others = [distinct[key] for key in order if key[0] is not str]
    return {
        "$": "objects",
        # Readers allow for a label behind each code that is in the file, not for many.
        "codes": encoder.tensor(codes, where, alone=True),
        "others": encoder.items(others, where),
        "texts": _strings(encoder, texts, where) if texts else None,
    }


def _strings(encoder: Encoder, texts: list[str], where: str) -> Tree:
    parts = [text.encode("utf-8") for text in texts]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return _packed(encoder, np.frombuffer(b"".join(parts), dtype=np.uint8), ends, where)


def _packed(encoder: Encoder, utf8: Array, offsets: Array, where: str) -> Tree:
    return {"utf8": encoder.tensor(utf8, f"{where}.utf8"), "offsets": encoder.tensor(offsets, f"{where}.offsets")}


def _sparse(encoder: Encoder, value: Any, where: str) -> Tree:
    if value.shape[1] > most_columns(value.nnz):
        raise ModelFileError(
            f"{where} has {value.shape[1]} columns, nearly all of them empty, which no file may claim; train with "
            "fewer buckets"
        )
    tidy = value
    if not value.has_canonical_format:
        tidy = value.copy()
        tidy.sum_duplicates()
    parts = {name: encoder.tensor(getattr(tidy, name), f"{where}.{name}") for name in ("data", "indices", "indptr")}
    return {"$": "sparse table", "n_columns": int(value.shape[1])} | parts


def _vocabulary(encoder: Encoder, value: Vocabulary, where: str) -> Tree:
    return {"$": "vocabulary"} | _packed(encoder, *value.arrays(), where)


def _text_rows(encoder: Encoder, value: TextRows, where: str) -> Tree:
    parts = value.arrays()
    packed = _packed(encoder, parts["utf8"], parts["offsets"], where)
    return {"$": "text rows"} | packed | {"missing": encoder.tensor(parts["missing"], f"{where}.missing")}


_WRITERS: dict[Any, Callable[[Encoder, Any, str], Tree]] = {
    np.generic: _scalar,
    np.ndarray: _array,
    Vocabulary: _vocabulary,
    TextRows: _text_rows,
    tuple: _tuple,
    list: _list,
    dict: _dict,
    set: _set,
    frozenset: _set,
    bytes: _octets,
    date: _moment,
    time: _moment,
    timedelta: _duration,
}
