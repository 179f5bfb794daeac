"""Arrays as lists that people can read, and back.

An entry says in its first word what it lists, with the names of the arrays that come of it:

- ``array``: numbers, by ``rows``, or by ``columns`` where these are more;
- ``characters``: texts of one ``width``, one a row;
- ``texts``: bytes and offsets of several texts, one a row;
- ``sparse``: a compressed table; a line is the number of a row or column, then places and values;
- ``tokens``: texts, and a table with a column for each: the token, then its numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from math import isfinite, prod
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from ..printable import printable_json
from .container import DTYPE_NAMES, DTYPES
from .document import Document
from .encoder import Tree
from .sound import require

Entry = dict[str, Any]

# Numbers of a short list, which is one line.
_FEW = 16
# Of an axis; sizes are asked of what is listed, but for columns in which nothing is.
_MOST_SIZE = 1 << 31
# Of texts that take the room of the widest, for each character that is there.
_ROOM_PER_CHARACTER = 32


def line_of(value: Any) -> str:
    """JSON in one line."""
    return printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def entries_of(document: Document) -> Iterator[Entry]:
    """All arrays, each in the first of the forms that suit it."""
    arrays, listed = document.arrays, set[str]()
    for node in (*_nodes(document.settings), *_nodes(document.parts)):
        for names, write in _forms(node):
            if listed.isdisjoint(names):
                listed.update(names)
                yield write(names, [arrays[name] for name in names])
    for name, array in arrays.items():
        if name not in listed:
            yield _array(name, array)


def _nodes(tree: Tree) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)


def _forms(node: dict[str, Any]) -> Iterator[tuple[list[str], Callable[[list[str], list[Array]], Entry]]]:
    """Arrays of a node that are listed together, and how."""
    kind = node.get("$")
    if kind == "token counts" and node["coding"]["$"] == "vocabulary":
        total, coding = node["counts"]["total"], node["coding"]
        if total["$"] == "array" and "flipped" not in total:
            yield [coding["utf8"], coding["offsets"], total["tensor"]], _tokens
    if kind == "characters":
        yield [node["tensor"]], _characters
    if kind == "sparse table":
        names = [node["data"], node["indices"], node["indptr"]]
        yield names, lambda names, arrays: _sparse(names, arrays, node["n_columns"])
    if "utf8" in node:
        yield [node["utf8"], node["offsets"]], _texts


def _array(name: str, array: Array) -> Entry:
    head = {"array": name, "dtype": DTYPE_NAMES[array.dtype], "shape": list(array.shape)}
    if array.ndim == 2 and array.shape[1] > array.shape[0]:
        return head | {"columns": _plain(array.T)}
    if array.ndim < 2 and array.size <= _FEW:
        return head | {"rows": [_plain(array.reshape(-1))]}
    return head | {"rows": _plain(array)}


def _plain(array: Array) -> list[Any]:
    """Nested lists; what JSON has no number for is a text."""
    values = array.tolist()
    return list(values if array.dtype.kind != "f" or np.isfinite(array).all() else map(_spoken, values))


def _spoken(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_spoken, value))
    return value if isfinite(value) else repr(value)


def _characters(names: list[str], arrays: list[Array]) -> Entry:
    (points,) = arrays
    if points.ndim == 2 and points.size:
        width, rows = points.shape[1], points.view(f"<U{points.shape[1]}")[:, 0].tolist()
        if _fill(rows, width):
            return {"characters": names, "width": width, "rows": rows}
    return _array(names[0], points)


def _fill(texts: list[str], width: int) -> bool:
    """Whether texts are not much shorter than the room they take."""
    return len(texts) * width <= _ROOM_PER_CHARACTER * (len(texts) + sum(map(len, texts)))


def _texts(names: list[str], arrays: list[Array]) -> Entry:
    return {"texts": names, "rows": _strings(*arrays)}


def _strings(utf8: Array, offsets: Array) -> list[str]:
    data, bounds = utf8.tobytes(), offsets.tolist()
    return [data[begin:end].decode("utf-8") for begin, end in pairwise(bounds)]


def _tokens(names: list[str], arrays: list[Array]) -> Entry:
    utf8, offsets, total = arrays
    rows = ([token, *counts] for token, counts in zip(_strings(utf8, offsets), _plain(total.T), strict=True))
    return {"tokens": names, "shape": list(total.shape), "rows": list(rows)}


def _sparse(names: list[str], arrays: list[Array], n_columns: int) -> Entry:
    from scipy.sparse import csr_array

    data, indices, indptr = arrays
    table = csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    # A line for each row if most are empty: a table that is read has no more rows than are told of.
    wide = table.shape[1] > table.shape[0] <= table.nnz
    head = {"sparse": names, "dtype": DTYPE_NAMES[indices.dtype], "shape": list(table.shape)}
    if not wide:
        return head | {"rows": _cells(table, np.arange(table.shape[0]))}
    by_column = table.tocsc()
    return head | {"columns": _cells(by_column, np.flatnonzero(np.diff(by_column.indptr)))}


def _cells(table: Any, which: Array) -> list[list[Any]]:
    """Of some compressed rows or columns the number, then places and values in turn."""
    cells = list(zip(table.indices.tolist(), table.data.tolist(), strict=True))
    bounds = zip(which.tolist(), table.indptr[which].tolist(), table.indptr[which + 1].tolist(), strict=True)
    return [[i, *chain.from_iterable(cells[begin:end])] for i, begin, end in bounds]


def arrays_of(entries: list[Any]) -> dict[str, Array]:
    """The arrays that entries list."""
    arrays: dict[str, Array] = {}
    for entry in entries:
        require(isinstance(entry, dict) and bool(entry), "it lists something that is no array")
        form = next(iter(entry))
        require(form in _READERS, f"it lists {form!r:.40}, which candide does not know")
        made = _READERS[form](entry)
        names = [entry[form]] if form == "array" else entry[form]
        require(isinstance(names, list) and len(names) == len(made), f"{form} have no names")
        for name, array in zip(names, made, strict=True):
            require(isinstance(name, str) and name not in arrays, f"{name!r:.40} is there twice")
            array.flags.writeable = False
            arrays[name] = array
    return arrays


def _listed(entry: Entry) -> list[Any]:
    lines = entry.get("columns", entry.get("rows"))
    require(isinstance(lines, list), "an array has neither rows nor columns")
    assert isinstance(lines, list)
    return lines


def _shape(entry: Entry) -> list[int]:
    shape = entry.get("shape")
    sized = isinstance(shape, list) and all(type(size) is int and 0 <= size <= _MOST_SIZE for size in shape)
    require(sized, "an array has no shape")
    return list(shape or [])


def _dtype(entry: Entry) -> np.dtype[Any]:
    name = str(entry.get("dtype"))
    require(name in DTYPES, f"{name:.20} is no type of numbers")
    return DTYPES[name]


def _numbers(values: list[Any], dtype: np.dtype[Any]) -> Array:
    """Nested lists as one array."""
    kinds = {"b": bool, "i": int, "u": int}
    flat = np.array(values, dtype=object).reshape(-1).tolist()
    if dtype.kind == "f":
        require(all(type(one) in (int, float) or one in _NO_NUMBERS for one in flat), "a list holds no numbers")
        return np.array([float(one) for one in flat], dtype=dtype)
    require(all(type(one) is kinds[dtype.kind] for one in flat), "a list holds no whole numbers")
    return np.array(flat, dtype=dtype)


def _read_array(entry: Entry) -> list[Array]:
    shape, numbers = _shape(entry), _numbers(_listed(entry), _dtype(entry))
    require(prod(shape) == numbers.size, "an array is not as large as its shape says")
    if "columns" in entry:
        return [np.ascontiguousarray(numbers.reshape(shape[::-1]).T)]
    return [numbers.reshape(shape)]


def _read_characters(entry: Entry) -> list[Array]:
    rows, width = _listed(entry), entry.get("width", 0)
    texts = all(isinstance(row, str) for row in rows)
    require(texts and type(width) is int and width > 0, "a list of texts holds something else, or has no width")
    require(max(map(len, rows), default=0) <= width and _fill(rows, width), "texts are too wide")
    return [np.array(rows, dtype=f"<U{width}").view(np.uint32).reshape(len(rows), width)]


def _read_texts(entry: Entry) -> list[Array]:
    return _packed(_listed(entry))


def _packed(texts: list[Any]) -> list[Array]:
    require(all(isinstance(text, str) for text in texts), "a list of texts holds something else")
    parts = [text.encode("utf-8") for text in texts]
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return [np.frombuffer(b"".join(parts), dtype=np.uint8), offsets]


def _read_tokens(entry: Entry) -> list[Array]:
    lines, shape = _listed(entry), _shape(entry)
    aligned = len(shape) == 2 and all(isinstance(line, list) and len(line) == shape[0] + 1 for line in lines)
    require(aligned and len(lines) == shape[1], "a token has not a number for each class")
    numbers = _numbers([line[1:] for line in lines], np.dtype(np.float64))
    return [*_packed([line[0] for line in lines]), np.ascontiguousarray(numbers.reshape(shape[::-1]).T)]


def _read_sparse(entry: Entry) -> list[Array]:
    from scipy.sparse import csr_array

    lines, shape, dtype = _listed(entry), _shape(entry), _dtype(entry)
    require(len(shape) == 2 and dtype.kind == "i", "a sparse table has no shape")
    require("columns" in entry or len(lines) == shape[0], "a sparse table has not a line for each row")
    require(all(isinstance(line, list) and len(line) % 2 for line in lines), "a cell has a place or a value alone")
    require(shape[0] <= len(lines) + sum(map(len, lines)), "a sparse table has more rows than are told of")
    major = [line[0] for line in lines for _ in line[1::2]]
    minor, values = ([cell for line in lines for cell in line[k::2]] for k in (1, 2))
    places = [_numbers(part, np.dtype(np.int64)) for part in (major, minor)]
    if "columns" in entry:
        places.reverse()
    table = csr_array((_numbers(values, np.dtype(np.float64)), tuple(places)), shape=tuple(shape))
    table.sort_indices()
    return [table.data, table.indices.astype(dtype), table.indptr.astype(dtype)]


_NO_NUMBERS = ("nan", "inf", "-inf")
_READERS: dict[str, Callable[[Entry], list[Array]]] = {
    "array": _read_array,
    "characters": _read_characters,
    "texts": _read_texts,
    "tokens": _read_tokens,
    "sparse": _read_sparse,
}
