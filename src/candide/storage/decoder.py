"""Decode objects from a tree of plain values and its arrays. Every value is checked before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..kernels.layouts import Array, TextRows
from ..kernels.vocabulary import Vocabulary
from ..model.table import Table
from ..statistics.counts import CompressedRows, Counts, StoredCounts
from .errors import InvalidContent, require
from .registry import CLASSES, class_named, field_types, matches_type
from .validation import are_offsets, is_canonical

if TYPE_CHECKING:
    from ..kernels import _core
    from .encoder import Tree

_SCALARS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "float32", "float64")  # fmt: skip
_TIMES = re.compile(r"[mM]8(\[(Y|M|W|D|h|m|s|ms|us|ns)\])?")
_MAX_DEPTH = 64
# Bytes that decoded values may take: a constant, and a multiple of the size of the arrays. A short string takes about
# 12 times its size.
_MIN_BUDGET, _BUDGET_PER_BYTE = 1 << 26, 16
# Bytes of a reference, and of a string without its characters.
_POINTER_BYTES, _STRING_BYTES = 8, 64


class Decoder:
    """Decodes trees whose arrays have been read; an array may be used several times.

    Parameters
    ----------
    arrays : mapping
        Arrays by name.
    replacements : mapping, optional
        Values to use in place of parts of the tree, by path.
    required : iterable of str, optional
        Names of arrays that must be used; by default all.
    vocabulary : callable, optional
        Returns the native part of a vocabulary if it is already built, given the names of its arrays, or None.
    """

    def __init__(
        self,
        arrays: Mapping[str, Array],
        replacements: Mapping[str, Any] | None = None,
        required: Iterable[str] | None = None,
        vocabulary: Callable[[tuple[str, str]], _core.Vocabulary | None] | None = None,
    ) -> None:
        self._arrays, self._replacements, self._native_vocabulary = arrays, replacements or {}, vocabulary
        self._unused = set(arrays if required is None else required)
        self._vocabularies: dict[tuple[str, str], Vocabulary] = {}
        self._texts: dict[tuple[str, str], list[str]] = {}
        self._matrices: dict[str, Array] = {}
        self._budget = _MIN_BUDGET + _BUDGET_PER_BYTE * sum(array.nbytes for array in arrays.values())
        self._depth = 0

    def value(self, tree: Tree, path: str) -> Any:
        """Return the value of a tree; its path is used in messages."""
        if not isinstance(tree, (list, dict)):
            return tree
        if path in self._replacements:
            return self._replacements[path]
        with self._within(path):
            if isinstance(tree, list):
                return tuple(self.values(tree, path))
            kind = str(tree.get("$"))
            if kind in CLASSES:
                return self._object(class_named(kind), tree, path)
            require(
                kind in _DECODERS, f"{path} has the type {kind!r:.40}, which this version of candide does not support"
            )
            return _DECODERS[kind](self, tree, path)

    @contextmanager
    def _within(self, path: str) -> Iterator[None]:
        require(self._depth < _MAX_DEPTH, f"{path:.200} is nested more than {_MAX_DEPTH} levels deep")
        self._depth += 1
        yield
        self._depth -= 1

    def values(self, trees: Any, path: str) -> list[Any]:
        """Return the values of several trees."""
        require(isinstance(trees, list), f"{path} has no list of items")
        return [self.value(tree, f"{path}.{i}") for i, tree in enumerate(trees)]

    def tensor(self, tree: Tree, key: str, path: str, kinds: str = "biuf") -> Array:
        """Return the array that a tree refers to."""
        name = tree.get(key)
        require(isinstance(name, str) and name in self._arrays, f"{path} refers to an array that does not exist")
        require(self._arrays[name].dtype.kind in kinds, f"{path} has the unexpected type {self._arrays[name].dtype}")
        self._unused.discard(name)
        return self._arrays[name]

    def require_all_used(self) -> None:
        """Raise an error if an array was not used."""
        require(not self._unused, f"its array {min(self._unused, default='')!r:.60} is not used")

    def spend(self, n_bytes: int, path: str) -> None:
        """Count memory that decoding takes: a small tree may refer to the same array many times."""
        self._budget -= n_bytes
        require(self._budget >= 0, f"{path} would take far more memory than the size of the file")

    def strings(self, tree: Any, path: str) -> tuple[Array, Array]:
        """Return the bytes of strings, and their offsets."""
        require(isinstance(tree, dict), f"{path} contains no strings")
        utf8, offsets = self.tensor(tree, "utf8", path, "u"), self.tensor(tree, "offsets", path, "i")
        require(utf8.dtype == np.uint8 and utf8.ndim == 1, f"the strings of {path} are not bytes")
        require(offsets.dtype == np.int64, f"the offsets of {path} are not 64-bit integers")
        require(
            are_offsets(offsets, len(utf8)), f"the offsets of {path} are not increasing from 0 to the number of bytes"
        )
        return utf8, offsets

    def vocabulary(self, tree: Tree, path: str) -> Vocabulary:
        """Return a vocabulary; equal trees share one."""
        parts = self.strings(tree, path)
        key = tree["utf8"], tree["offsets"]
        if key not in self._vocabularies:
            native = None if self._native_vocabulary is None else self._native_vocabulary(key)
            self._vocabularies[key] = Vocabulary.from_arrays(*parts, native)
        return self._vocabularies[key]

    def texts(self, tree: Tree, path: str) -> list[str]:
        """Return a list of strings; equal trees share one."""
        utf8, offsets = self.strings(tree, path)
        key = tree["utf8"], tree["offsets"]
        if key not in self._texts:
            self.spend(_STRING_BYTES * len(offsets) + len(utf8), path)
            self._texts[key] = unpacked_strings(utf8, offsets)
        return self._texts[key]

    def symmetric(self, tree: Tree, path: str) -> Array:
        """Return a matrix, given its lower half; equal trees share one."""
        half, name = self.tensor(tree, "tensor", path), tree["tensor"]
        if name not in self._matrices:
            self._matrices[name] = _full_matrix(half, path)
        return self._matrices[name]

    def _object(self, cls: Any, tree: Tree, path: str) -> Any:
        types = field_types(cls)
        rows = self._rows_of_counts(tree, path) if cls is Counts else None
        parts = _named(self, tree if rows is None else {**tree, "total": None}, path)
        for name, part in parts.items():
            if name not in types or not matches_type(part, types[name]):
                raise InvalidContent(f"{path}.{name:.40} is {_shown(part)}, which is not of the expected type")
        try:
            return cls(**parts) if rows is None else StoredCounts.of(cls(**parts), rows)
        except TypeError as error:
            raise InvalidContent(f"{path} is incomplete ({error})") from None

    def _rows_of_counts(self, tree: Tree, path: str) -> CompressedRows | None:
        total = tree.get("total")
        if not (isinstance(total, dict) and total.get("$") == "sparse table"):
            return None
        return self.sparse(total, f"{path}.total")

    def sparse(self, tree: Tree, path: str) -> CompressedRows:
        """Return a validated sparse table."""
        data, indices, indptr = (self.tensor(tree, name, path, "if") for name in ("data", "indices", "indptr"))
        n_columns = tree.get("n_columns")
        # Indices may be converted to a smaller type.
        self.spend(indices.nbytes + indptr.nbytes, path)
        require(
            type(n_columns) is int and is_canonical(data, indices, indptr, n_columns),
            f"{path} is not a valid sparse table",
        )
        return CompressedRows(indptr, indices, data, (len(indptr) - 1, cast("int", n_columns)))


def unpacked_strings(utf8: Array, offsets: Array) -> list[str]:
    """Return strings, given their bytes and offsets."""
    data = utf8.tobytes()
    return [data[begin:end].decode("utf-8") for begin, end in pairwise(offsets.tolist())]


def _shown(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"{value!r:.40}"


def _float(_: Decoder, tree: Tree, path: str) -> float:
    require(tree.get("value") in ("nan", "inf", "-inf"), f"{path} is not a number")
    return float(tree["value"])


def _scalar(decoder: Decoder, tree: Tree, path: str) -> Any:
    require(tree.get("dtype") in _SCALARS, f"{path} is a number of unknown type")
    number = decoder.value(tree.get("value"), path)
    require(isinstance(number, (bool, int, float)), f"{path} is not a number")
    return np.dtype(tree["dtype"]).type(number)


def _list(decoder: Decoder, tree: Tree, path: str) -> list[Any]:
    return decoder.values(tree.get("items"), path)


def _set(decoder: Decoder, tree: Tree, path: str) -> Any:
    items = decoder.values(tree.get("items"), path)
    return frozenset(items) if tree["$"] == "frozenset" else set(items)


def _dict(decoder: Decoder, tree: Tree, path: str) -> dict[Any, Any]:
    pairs = tree.get("items")
    require(isinstance(pairs, list), f"{path} has no items")
    for pair in pairs:
        require(isinstance(pair, list) and len(pair) == 2, f"{path} has an item that is not a pair")
    return {decoder.value(key, path): decoder.value(item, f"{path}.{key!s:.40}") for key, item in pairs}


def _named(decoder: Decoder, tree: Tree, path: str) -> dict[str, Any]:
    return {name: decoder.value(part, f"{path}.{name}") for name, part in tree.items() if name != "$"}


def _table(decoder: Decoder, tree: Tree, path: str) -> Table:
    table = Table(_named(decoder, tree, path))
    columns = list(table.values())
    require(all(isinstance(column, np.ndarray) and column.ndim == 1 for column in columns),
            f"{path} is not a table of named columns")  # fmt: skip
    require(len({len(column) for column in columns}) <= 1, f"the columns of {path} differ in length")
    return table


def _bytes_value(_: Decoder, tree: Tree, path: str) -> bytes:
    require(isinstance(tree.get("value"), str), f"{path} contains no bytes")
    return bytes.fromhex(tree["value"])


def _datetime(_: Decoder, tree: Tree, path: str) -> Any:
    text, zone = tree.get("value"), tree.get("zone")
    require(isinstance(text, str) and isinstance(zone, (str, type(None))), f"{path} is not a date or time")
    kinds: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}
    value = kinds[tree["$"]].fromisoformat(text)
    if zone is None:
        return value
    if zone not in _time_zones():
        raise InvalidContent(
            f"{path} has the time zone {zone!r:.40}, which is not available on this computer", _NO_ZONE
        )
    from zoneinfo import ZoneInfo

    return value.replace(tzinfo=ZoneInfo(zone))


@cache
def _time_zones() -> set[str]:
    """Return the names of all time zones. Other names are not looked up, because they could refer to any file."""
    from zoneinfo import available_timezones

    return available_timezones()


_NO_ZONE = "install the package tzdata, or save the model again with another time zone"


def _timedelta(_: Decoder, tree: Tree, path: str) -> timedelta:
    parts = {name: tree.get(name) for name in ("days", "seconds", "microseconds")}
    require(all(type(part) is int for part in parts.values()), f"{path} is not a duration")
    return timedelta(**parts)


def _array(decoder: Decoder, tree: Tree, path: str) -> Array:
    tensor = decoder.tensor(tree, "tensor", path)
    return tensor.T if tree.get("flipped") else tensor


def _full_matrix(half: Array, path: str) -> Array:
    size = isqrt(2 * half.size)
    require(half.ndim == 1 and size * (size + 1) == 2 * half.size, f"{path} is not the triangle of a square matrix")
    whole = np.empty((size, size), dtype=half.dtype)
    rows, columns = np.tril_indices(size)
    whole[rows, columns] = whole[columns, rows] = half
    whole.flags.writeable = False
    return whole


def _times(decoder: Decoder, tree: Tree, path: str) -> Array:
    tensor, dtype = decoder.tensor(tree, "tensor", path, "i"), tree.get("dtype")
    require(isinstance(dtype, str) and _TIMES.fullmatch(dtype) is not None, f"{path} has an unknown time unit")
    require(tensor.dtype == np.int64, f"{path} does not contain 64-bit times")
    return tensor.view(f"<{dtype}")


def _characters(decoder: Decoder, tree: Tree, path: str) -> Array:
    points = decoder.tensor(tree, "tensor", path, "u")
    require(points.dtype == np.uint32 and points.ndim > 0, f"{path} does not contain text")
    # Surrogates are halves of characters, which UTF-8 does not allow.
    valid = (points < 0xD800) | ((points > 0xDFFF) & (points < 0x110000))
    require(bool(valid.all()), f"{path} contains a number that is not a Unicode code point")
    return _joined(points, "U")


def _bytes(decoder: Decoder, tree: Tree, path: str) -> Array:
    units = decoder.tensor(tree, "tensor", path, "u")
    require(units.dtype == np.uint8 and units.ndim > 0, f"{path} contains no bytes")
    return _joined(units, "S")


def _joined(units: Array, kind: str) -> Array:
    width = units.shape[-1]
    return units.view(f"<{kind}{width}")[..., 0] if width else np.zeros(units.shape[:-1], dtype=f"<{kind}1")


def _objects(decoder: Decoder, tree: Tree, path: str) -> Array:
    values = decoder.values(tree.get("others"), path)
    if tree.get("texts") is not None:
        values += decoder.texts(tree["texts"], path)
    for value in values:
        require(value is None or isinstance(value, _CELLS), f"{path} contains {value!r:.40}, which is not a label")
    codes = decoder.tensor(tree, "codes", path, "i")
    decoder.spend(_POINTER_BYTES * (codes.size + len(values)), path)
    require(bool(((codes >= 0) & (codes < len(values))).all()), f"a code of {path} is out of range")
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels[codes]


_CELLS = (bool, int, float, str, bytes, date, time, timedelta, np.generic)


def _sparse(decoder: Decoder, tree: Tree, path: str) -> Any:
    return decoder.sparse(tree, path).table()


def _text_rows(decoder: Decoder, tree: Tree, path: str) -> TextRows:
    utf8, offsets = decoder.strings(tree, path)
    missing = decoder.tensor(tree, "missing", path, "b")
    require(missing.shape == (len(offsets) - 1,), f"{path} does not mark which texts are missing")
    return TextRows.packed(utf8, offsets, missing)


_DECODERS: dict[str, Callable[[Decoder, Tree, str], Any]] = {
    "float": _float,
    "scalar": _scalar,
    "list": _list,
    "set": _set,
    "frozenset": _set,
    "dict": _dict,
    "named": _named,
    "table": _table,
    "octets": _bytes_value,
    "date": _datetime,
    "datetime": _datetime,
    "time": _datetime,
    "timedelta": _timedelta,
    "array": _array,
    "symmetric": Decoder.symmetric,
    "times": _times,
    "characters": _characters,
    "bytes": _bytes,
    "objects": _objects,
    "sparse table": _sparse,
    "vocabulary": Decoder.vocabulary,
    "text rows": _text_rows,
}
