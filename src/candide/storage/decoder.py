"""From a tree of plain values and the arrays beside it to objects of the house; nothing in it is believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from math import isqrt
from typing import Any, cast

import numpy as np

from ..kernels.layouts import Array, TextRows
from ..kernels.vocabulary import Vocabulary
from ..model.table import Table
from ..statistics import Counts
from ..statistics.stored_counts import CompressedRows, StoredCounts
from .ahead import Ahead
from .encoder import Tree
from .hints import fits, hints_of
from .nouns import NOUNS
from .sound import Unsound, is_canonical, known_zones, require, rises_within

_SCALARS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "float32", "float64")  # fmt: skip
_TIMES = re.compile(r"[mM]8(\[(Y|M|W|D|h|m|s|ms|us|ns)\])?")
_DEEPEST = 64
# Bytes that may be made of arrays: in any case, and for each of their own. A short text takes 12 for one of its own.
_ROOM, _ROOM_PER_BYTE = 1 << 26, 16
_POINTER, _TEXT = 8, 64


class Decoder:
    """Makes what the tree says of arrays that were read; each array may be asked for several times."""

    def __init__(
        self,
        arrays: Mapping[str, Array],
        made: Mapping[str, Any] | None = None,
        needed: Iterable[str] | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        """``made``: values that are not to be made of the tree, by where they stand; ``needed``: arrays to be used.

        ``ahead``: vocabularies that a thread makes of the same arrays.
        """
        self._arrays, self._made, self._ahead = arrays, made or {}, ahead
        self._unused = set(arrays if needed is None else needed)
        self._vocabularies: dict[tuple[str, str], Vocabulary] = {}
        self._texts: dict[tuple[str, str], list[str]] = {}
        self._matrices: dict[str, Array] = {}
        self._room = _ROOM + _ROOM_PER_BYTE * sum(array.nbytes for array in arrays.values())
        self._depth = 0

    def value(self, tree: Tree, where: str) -> Any:
        """What a tree stands for; ``where`` it stands, for messages."""
        if not isinstance(tree, (list, dict)):
            return tree
        if where in self._made:
            return self._made[where]
        with self._within(where):
            if isinstance(tree, list):
                return tuple(self.values(tree, where))
            kind = str(tree.get("$"))
            if kind in NOUNS:
                return self._noun(NOUNS[kind], tree, where)
            require(kind in _READERS, f"{where} is a {kind!r:.40}, which this version of candide does not know")
            return _READERS[kind](self, tree, where)

    @contextmanager
    def _within(self, where: str) -> Iterator[None]:
        require(self._depth < _DEEPEST, f"{where:.200} lies more than {_DEEPEST} levels deep")
        self._depth += 1
        yield
        self._depth -= 1

    def values(self, trees: Any, where: str) -> list[Any]:
        """What several trees stand for."""
        require(isinstance(trees, list), f"{where} holds no list of items")
        return [self.value(tree, f"{where}.{i}") for i, tree in enumerate(trees)]

    def tensor(self, tree: Tree, key: str, where: str, kinds: str = "biuf") -> Array:
        """The array that a tree names."""
        name = tree.get(key)
        require(isinstance(name, str) and name in self._arrays, f"{where} names an array that is not there")
        require(self._arrays[name].dtype.kind in kinds, f"{where} is of type {self._arrays[name].dtype}")
        self._unused.discard(name)
        return self._arrays[name]

    def require_all_used(self) -> None:
        """No array is there that nothing has asked for."""
        require(not self._unused, f"nothing is made of its array {min(self._unused, default='')!r:.60}")

    def make_room(self, n_bytes: int, where: str) -> None:
        """Few bytes that name an array time and again could else become many."""
        self._room -= n_bytes
        require(self._room >= 0, f"{where} takes far more memory than the file")

    def strings(self, tree: Any, where: str) -> tuple[Array, Array]:
        """The bytes of texts, and where each begins and ends."""
        require(isinstance(tree, dict), f"{where} holds no texts")
        utf8, offsets = self.tensor(tree, "utf8", where, "u"), self.tensor(tree, "offsets", where, "i")
        require(utf8.dtype == np.uint8 and utf8.ndim == 1, f"the texts of {where} are no bytes")
        require(offsets.dtype == np.int64, f"the offsets of {where} are no 64-bit numbers")
        require(rises_within(offsets, len(utf8)), f"the offsets of {where} do not rise within its bytes")
        return utf8, offsets

    def vocabulary(self, tree: Tree, where: str) -> Vocabulary:
        """A vocabulary; the same arrays make one, whoever asks."""
        parts = self.strings(tree, where)
        key = tree["utf8"], tree["offsets"]
        if key not in self._vocabularies:
            found = None if self._ahead is None else self._ahead.get(key)
            self._vocabularies[key] = Vocabulary.from_arrays(*parts) if found is None else found
        return self._vocabularies[key]

    def texts(self, tree: Tree, where: str) -> list[str]:
        """Texts as Python has them; the same arrays make the same."""
        utf8, offsets = self.strings(tree, where)
        key = tree["utf8"], tree["offsets"]
        if key not in self._texts:
            self.make_room(_TEXT * len(offsets) + len(utf8), where)
            data = utf8.tobytes()
            self._texts[key] = [data[begin:end].decode("utf-8") for begin, end in pairwise(offsets.tolist())]
        return self._texts[key]

    def symmetric(self, tree: Tree, where: str) -> Array:
        """A matrix, of its lower half; the same half makes one."""
        half, name = self.tensor(tree, "tensor", where), tree["tensor"]
        if name not in self._matrices:
            self._matrices[name] = _whole(half, where)
        return self._matrices[name]

    def _noun(self, noun: Any, tree: Tree, where: str) -> Any:
        hints = hints_of(noun)
        rows = self._rows_of_counts(tree, where) if noun is Counts else None
        parts = _named(self, tree if rows is None else {**tree, "total": None}, where)
        for name, part in parts.items():
            if name not in hints or not fits(part, hints[name]):
                raise Unsound(f"{where}.{name:.40} is {_shown(part)}, which is none of what it may be")
        try:
            return noun(**parts) if rows is None else StoredCounts.of(noun(**parts), rows)
        except TypeError as error:
            raise Unsound(f"{where} is incomplete ({error})") from None

    def _rows_of_counts(self, tree: Tree, where: str) -> CompressedRows | None:
        total = tree.get("total")
        if not (isinstance(total, dict) and total.get("$") == "sparse table"):
            return None
        return self.sparse(total, f"{where}.total")

    def sparse(self, tree: Tree, where: str) -> CompressedRows:
        """A sparse table, checked."""
        data, indices, indptr = (self.tensor(tree, name, where, "if") for name in ("data", "indices", "indptr"))
        n_columns = tree.get("n_columns")
        # Places may be brought to a smaller type.
        self.make_room(indices.nbytes + indptr.nbytes, where)
        require(
            type(n_columns) is int and is_canonical(data, indices, indptr, n_columns), f"{where} is no sparse table"
        )
        return CompressedRows(indptr, indices, data, (len(indptr) - 1, cast("int", n_columns)))


def _shown(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"{value!r:.40}"


def _float(_: Decoder, tree: Tree, where: str) -> float:
    require(tree.get("value") in ("nan", "inf", "-inf"), f"{where} is no number")
    return float(tree["value"])


def _scalar(decoder: Decoder, tree: Tree, where: str) -> Any:
    require(tree.get("dtype") in _SCALARS, f"{where} is a number of no known type")
    number = decoder.value(tree.get("value"), where)
    require(isinstance(number, (bool, int, float)), f"{where} is no number")
    return np.dtype(tree["dtype"]).type(number)


def _list(decoder: Decoder, tree: Tree, where: str) -> list[Any]:
    return decoder.values(tree.get("items"), where)


def _set(decoder: Decoder, tree: Tree, where: str) -> Any:
    items = decoder.values(tree.get("items"), where)
    return frozenset(items) if tree["$"] == "frozenset" else set(items)


def _dict(decoder: Decoder, tree: Tree, where: str) -> dict[Any, Any]:
    pairs = tree.get("items")
    require(isinstance(pairs, list), f"{where} holds no items")
    for pair in pairs:
        require(isinstance(pair, list) and len(pair) == 2, f"{where} holds something that is no pair")
    return {decoder.value(key, where): decoder.value(item, f"{where}.{key!s:.40}") for key, item in pairs}


def _named(decoder: Decoder, tree: Tree, where: str) -> dict[str, Any]:
    return {name: decoder.value(part, f"{where}.{name}") for name, part in tree.items() if name != "$"}


def _table(decoder: Decoder, tree: Tree, where: str) -> Table:
    table = Table(_named(decoder, tree, where))
    columns = list(table.values())
    require(all(isinstance(column, np.ndarray) and column.ndim == 1 for column in columns),
            f"{where} is no table of named columns")  # fmt: skip
    require(len({len(column) for column in columns}) <= 1, f"the columns of {where} differ in length")
    return table


def _octets(_: Decoder, tree: Tree, where: str) -> bytes:
    require(isinstance(tree.get("value"), str), f"{where} holds no bytes")
    return bytes.fromhex(tree["value"])


def _moment(_: Decoder, tree: Tree, where: str) -> Any:
    text, zone = tree.get("value"), tree.get("zone")
    require(isinstance(text, str) and isinstance(zone, (str, type(None))), f"{where} is no date or time")
    kinds: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}
    made = kinds[tree["$"]].fromisoformat(text)
    if zone is None:
        return made
    if zone not in known_zones():
        raise Unsound(f"{where} is of the time zone {zone!r:.40}, which is not known here", _NO_ZONE)
    from zoneinfo import ZoneInfo

    return made.replace(tzinfo=ZoneInfo(zone))


_NO_ZONE = "install the package tzdata, which has all zones, or save the model again with times of another"


def _duration(_: Decoder, tree: Tree, where: str) -> timedelta:
    parts = {name: tree.get(name) for name in ("days", "seconds", "microseconds")}
    require(all(type(part) is int for part in parts.values()), f"{where} is no duration")
    return timedelta(**parts)


def _array(decoder: Decoder, tree: Tree, where: str) -> Array:
    tensor = decoder.tensor(tree, "tensor", where)
    return tensor.T if tree.get("flipped") else tensor


def _symmetric(decoder: Decoder, tree: Tree, where: str) -> Array:
    return decoder.symmetric(tree, where)


def _whole(half: Array, where: str) -> Array:
    size = isqrt(2 * half.size)
    require(half.ndim == 1 and size * (size + 1) == 2 * half.size, f"{where} is no half of a matrix")
    whole = np.empty((size, size), dtype=half.dtype)
    rows, columns = np.tril_indices(size)
    whole[rows, columns] = whole[columns, rows] = half
    whole.flags.writeable = False
    return whole


def _times(decoder: Decoder, tree: Tree, where: str) -> Array:
    tensor, dtype = decoder.tensor(tree, "tensor", where, "i"), tree.get("dtype")
    require(isinstance(dtype, str) and _TIMES.fullmatch(dtype) is not None, f"{where} is of no known unit of time")
    require(tensor.dtype == np.int64, f"{where} holds no 64-bit times")
    return tensor.view(f"<{dtype}")


def _characters(decoder: Decoder, tree: Tree, where: str) -> Array:
    points = decoder.tensor(tree, "tensor", where, "u")
    require(points.dtype == np.uint32 and points.ndim > 0, f"{where} holds no characters")
    # Surrogates are halves of characters, and no text of UTF-8 holds one.
    valid = (points < 0xD800) | ((points > 0xDFFF) & (points < 0x110000))
    require(bool(valid.all()), f"{where} holds a number that is no character")
    return _joined(points, "U")


def _bytes(decoder: Decoder, tree: Tree, where: str) -> Array:
    units = decoder.tensor(tree, "tensor", where, "u")
    require(units.dtype == np.uint8 and units.ndim > 0, f"{where} holds no bytes")
    return _joined(units, "S")


def _joined(units: Array, kind: str) -> Array:
    width = units.shape[-1]
    return units.view(f"<{kind}{width}")[..., 0] if width else np.zeros(units.shape[:-1], dtype=f"<{kind}1")


def _objects(decoder: Decoder, tree: Tree, where: str) -> Array:
    values = decoder.values(tree.get("others"), where)
    if tree.get("texts") is not None:
        values += decoder.texts(tree["texts"], where)
    for value in values:
        require(value is None or isinstance(value, _CELLS), f"{where} holds {value!r:.40}, which is no label")
    codes = decoder.tensor(tree, "codes", where, "i")
    decoder.make_room(_POINTER * (codes.size + len(values)), where)
    require(bool(((codes >= 0) & (codes < len(values))).all()), f"a code of {where} stands for nothing")
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels[codes]


_CELLS = (bool, int, float, str, bytes, date, time, timedelta, np.generic)


def _sparse(decoder: Decoder, tree: Tree, where: str) -> Any:
    return decoder.sparse(tree, where).table()


def _vocabulary(decoder: Decoder, tree: Tree, where: str) -> Vocabulary:
    return decoder.vocabulary(tree, where)


def _text_rows(decoder: Decoder, tree: Tree, where: str) -> TextRows:
    utf8, offsets = decoder.strings(tree, where)
    missing = decoder.tensor(tree, "missing", where, "b")
    require(missing.shape == (len(offsets) - 1,), f"{where} does not say of each text whether it is missing")
    return TextRows.packed(utf8, offsets, missing)


_READERS: dict[str, Callable[[Decoder, Tree, str], Any]] = {
    "float": _float,
    "scalar": _scalar,
    "list": _list,
    "set": _set,
    "frozenset": _set,
    "dict": _dict,
    "named": _named,
    "table": _table,
    "octets": _octets,
    "date": _moment,
    "datetime": _moment,
    "time": _moment,
    "timedelta": _duration,
    "array": _array,
    "symmetric": _symmetric,
    "times": _times,
    "characters": _characters,
    "bytes": _bytes,
    "objects": _objects,
    "sparse table": _sparse,
    "vocabulary": _vocabulary,
    "text rows": _text_rows,
}
