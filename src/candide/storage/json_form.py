"""Models as one JSON document, in which arrays are lists that people can read and compare line by line.

An entry of the list of arrays begins with its form, and the names of the arrays it contains:

- ``array``: numbers, by ``rows``, or by ``columns`` if there are more columns than rows;
- ``characters``: strings of one ``width``, one per row;
- ``texts``: bytes and offsets of several strings, one per row;
- ``sparse``: a compressed table; a line is the number of a row or column, then positions and values;
- ``tokens``: strings, and a table with a column for each: the token, then its numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isfinite, prod
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from ..printable import printable_json
from .container import CURRENT_VERSION, DTYPE_NAMES, DTYPES, TREES
from .content import Content, EncodedContent, decoding_errors, upgrade
from .decoder import unpacked_strings
from .encoder import Tree, packed_strings
from .errors import NOT_A_MODEL, require

Entry = dict[str, Any]

_FORMAT = "candide text"
_NOT_WRITTEN = "it is not a model written by candide"
# Characters of a tree that stays on one line.
_LINE = 100
# Numbers of a list that stays on one line.
_SHORT_LIST = 16
# The size of an axis is limited, because a table of empty columns has no lines that limit it.
_MAX_SIZE = 1 << 31
# Strings of one width take the space of the widest; this limits the space for each character that is listed.
_SPACE_PER_CHARACTER = 32


def to_json_lines(content: Content) -> Iterator[str]:
    """Yield a model as lines of JSON, without loss; equal models give equal lines.

    Trees are indented. A line of an array is a class, a column or a token, depending on the table.
    """
    encoded = EncodedContent.of(content)
    yield "{\n"
    yield f'"format": "{_FORMAT}",\n"version": "{CURRENT_VERSION}",\n"kind": {_line(encoded.kind)},\n'
    for name in TREES:
        yield f'"{name}": {_indented(getattr(encoded, name))},\n'
    yield '"arrays": ['
    for i, entry in enumerate(array_entries(encoded)):
        yield "\n" if i == 0 else ",\n"
        yield from _entry_lines(entry)
    yield "\n]\n}\n"


def _line(value: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _indented(tree: Tree, depth: int = 1) -> str:
    """Return a tree as JSON; parts that fit on one line stay on one line."""
    short = _line(tree)
    if len(short) <= _LINE or not isinstance(tree, (dict, list)):
        return short
    space, inner = " " * (depth - 1), " " * depth
    if isinstance(tree, list):
        return f"[\n{inner}" + f",\n{inner}".join(_indented(item, depth + 1) for item in tree) + f"\n{space}]"
    parts = (f"{_line(name)}: {_indented(part, depth + 1)}" for name, part in tree.items())
    return f"{{\n{inner}" + f",\n{inner}".join(parts) + f"\n{space}}}"


def _entry_lines(entry: Entry) -> Iterator[str]:
    """Yield the head of an entry on one line, and each of its rows on another."""
    *head, (name, rows) = entry.items()
    yield _line(dict(head))[:-1] + f', "{name}": ['
    for i, row in enumerate(rows):
        yield "\n" if i == 0 else ",\n"
        yield _line(row)
    yield "]}"


def from_json_lines(lines: Iterable[str], source: str = "the text") -> Content:
    """Read the output of ``to_json_lines``, with the validation of ``read_model``; errors name the ``source``."""
    with decoding_errors(f"{source} cannot be loaded"):
        text = "".join(lines)
        require(f'"{_FORMAT}"' in text, f"{_NOT_WRITTEN}: it begins with {text[:_LINE]!r:.60}", NOT_A_MODEL)
        found = json.loads(text)
        named = isinstance(found, dict) and found.get("format") == _FORMAT
        require(named and {"version", "kind", *TREES, "arrays"} <= found.keys(), _NOT_WRITTEN)
        require(isinstance(found["kind"], str) and isinstance(found["version"], str), _NOT_WRITTEN)
        require(isinstance(found["arrays"], list), _NOT_WRITTEN)
        trees = {name: found[name] for name in TREES}
        encoded = EncodedContent(found["kind"], **trees, arrays=arrays_in_entries(found["arrays"]))
        return upgrade(encoded, found["version"]).decode()


def array_entries(encoded: EncodedContent) -> Iterator[Entry]:
    """Yield an entry for every array, in the first form that suits it."""
    arrays, listed = encoded.arrays, set[str]()
    for node in (*_nodes(encoded.settings), *_nodes(encoded.parts)):
        for names, write in _layouts(node):
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


def _layouts(node: dict[str, Any]) -> Iterator[tuple[list[str], Callable[[list[str], list[Array]], Entry]]]:
    """Yield the arrays of a node that are listed together, with the function that lists them."""
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
    head = {"array": name, "dtype": DTYPE_NAMES[array.dtype.str], "shape": list(array.shape)}
    if array.ndim == 2 and array.shape[1] > array.shape[0]:
        return head | {"columns": _plain(array.T)}
    if array.ndim < 2 and array.size <= _SHORT_LIST:
        return head | {"rows": [_plain(array.reshape(-1))]}
    return head | {"rows": _plain(array)}


def _plain(array: Array) -> list[Any]:
    """Return nested lists; numbers that JSON does not have are strings."""
    values = array.tolist()
    return list(values if array.dtype.kind != "f" or np.isfinite(array).all() else map(_finite_or_name, values))


def _finite_or_name(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_finite_or_name, value))
    return value if isfinite(value) else repr(value)


def _characters(names: list[str], arrays: list[Array]) -> Entry:
    (points,) = arrays
    if points.ndim == 2 and points.size:
        width, rows = points.shape[1], points.view(f"<U{points.shape[1]}")[:, 0].tolist()
        if _fill(rows, width):
            return {"characters": names, "width": width, "rows": rows}
    return _array(names[0], points)


def _fill(texts: list[str], width: int) -> bool:
    """Return whether strings are not much shorter than the space they take."""
    return len(texts) * width <= _SPACE_PER_CHARACTER * (len(texts) + sum(map(len, texts)))


def _texts(names: list[str], arrays: list[Array]) -> Entry:
    return {"texts": names, "rows": unpacked_strings(*arrays)}


def _tokens(names: list[str], arrays: list[Array]) -> Entry:
    utf8, offsets, total = arrays
    rows = ([token, *counts] for token, counts in zip(unpacked_strings(utf8, offsets), _plain(total.T), strict=True))
    return {"tokens": names, "shape": list(total.shape), "rows": list(rows)}


def _sparse(names: list[str], arrays: list[Array], n_columns: int) -> Entry:
    from scipy.sparse import csr_array

    data, indices, indptr = arrays
    table = csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    # A line for each row if most rows are empty: a table may not have more rows than its lines account for.
    wide = table.shape[1] > table.shape[0] <= table.nnz
    head = {"sparse": names, "dtype": DTYPE_NAMES[indices.dtype.str], "shape": list(table.shape)}
    if not wide:
        return head | {"rows": _cells(table, np.arange(table.shape[0]))}
    by_column = table.tocsc()
    return head | {"columns": _cells(by_column, np.flatnonzero(np.diff(by_column.indptr)))}


def _cells(table: Any, which: Array) -> list[list[Any]]:
    """Return for some compressed rows or columns the number, then positions and values in turn."""
    cells = list(zip(table.indices.tolist(), table.data.tolist(), strict=True))
    bounds = zip(which.tolist(), table.indptr[which].tolist(), table.indptr[which + 1].tolist(), strict=True)
    return [[i, *chain.from_iterable(cells[begin:end])] for i, begin, end in bounds]


def arrays_in_entries(entries: list[Any]) -> dict[str, Array]:
    """Return the arrays that entries contain."""
    arrays: dict[str, Array] = {}
    for entry in entries:
        require(isinstance(entry, dict) and bool(entry), "an entry of its arrays is not an object")
        form = next(iter(entry))
        require(form in _READERS, f"an entry of its arrays has the unknown type {form!r:.40}")
        made = _READERS[form](entry)
        names = [entry[form]] if form == "array" else entry[form]
        require(isinstance(names, list) and len(names) == len(made), f"an entry of type {form} has no names")
        for name, array in zip(names, made, strict=True):
            require(isinstance(name, str) and name not in arrays, f"the array {name!r:.40} appears twice")
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
    sized = isinstance(shape, list) and all(type(size) is int and 0 <= size <= _MAX_SIZE for size in shape)
    require(sized, "an array has no valid shape")
    return list(shape or [])


def _dtype(entry: Entry) -> np.dtype[Any]:
    name = str(entry.get("dtype"))
    require(name in DTYPES, f"{name:.20} is not a numeric type")
    return np.dtype(DTYPES[name])


def _numbers(values: list[Any], dtype: np.dtype[Any]) -> Array:
    """Return nested lists as one flat array."""
    kinds = {"b": bool, "i": int, "u": int}
    flat = np.array(values, dtype=object).reshape(-1).tolist()
    if dtype.kind == "f":
        require(
            all(type(one) in (int, float) or one in _NOT_FINITE for one in flat),
            "a list contains values that are not numbers",
        )
        return np.array([float(one) for one in flat], dtype=dtype)
    require(all(type(one) is kinds[dtype.kind] for one in flat), "a list contains values that are not integers")
    return np.array(flat, dtype=dtype)


def _read_array(entry: Entry) -> list[Array]:
    shape, numbers = _shape(entry), _numbers(_listed(entry), _dtype(entry))
    require(prod(shape) == numbers.size, "an array has a size that does not match its shape")
    if "columns" in entry:
        return [np.ascontiguousarray(numbers.reshape(shape[::-1]).T)]
    return [numbers.reshape(shape)]


def _read_characters(entry: Entry) -> list[Array]:
    rows, width = _listed(entry), entry.get("width", 0)
    texts = all(isinstance(row, str) for row in rows)
    require(texts and type(width) is int and width > 0, "a list of strings contains other values or has no length")
    require(max(map(len, rows), default=0) <= width and _fill(rows, width), "a string is too long")
    return [np.array(rows, dtype=f"<U{width}").view(np.uint32).reshape(len(rows), width)]


def _read_texts(entry: Entry) -> list[Array]:
    return _packed(_listed(entry))


def _packed(texts: list[Any]) -> list[Array]:
    require(all(isinstance(text, str) for text in texts), "a list of strings contains other values")
    return list(packed_strings(texts))


def _read_tokens(entry: Entry) -> list[Array]:
    lines, shape = _listed(entry), _shape(entry)
    aligned = len(shape) == 2 and all(isinstance(line, list) and len(line) == shape[0] + 1 for line in lines)
    require(aligned and len(lines) == shape[1], "a token does not have one number per class")
    numbers = _numbers([line[1:] for line in lines], np.dtype(np.float64))
    return [*_packed([line[0] for line in lines]), np.ascontiguousarray(numbers.reshape(shape[::-1]).T)]


def _read_sparse(entry: Entry) -> list[Array]:
    from scipy.sparse import csr_array

    lines, shape, dtype = _listed(entry), _shape(entry), _dtype(entry)
    require(len(shape) == 2 and dtype.kind == "i", "a sparse table has no valid shape")
    require("columns" in entry or len(lines) == shape[0], "a sparse table does not have one line per row")
    require(all(isinstance(line, list) and len(line) % 2 for line in lines), "a cell has a position without a value")
    require(shape[0] <= len(lines) + sum(map(len, lines)), "a sparse table has more rows than lines")
    major = [line[0] for line in lines for _ in line[1::2]]
    minor, values = ([cell for line in lines for cell in line[k::2]] for k in (1, 2))
    places = [_numbers(part, np.dtype(np.int64)) for part in (major, minor)]
    if "columns" in entry:
        places.reverse()
    table = csr_array((_numbers(values, np.dtype(np.float64)), tuple(places)), shape=tuple(shape))
    table.sort_indices()
    return [table.data, table.indices.astype(dtype), table.indptr.astype(dtype)]


_NOT_FINITE = ("nan", "inf", "-inf")
_READERS: dict[str, Callable[[Entry], list[Array]]] = {
    "array": _read_array,
    "characters": _read_characters,
    "texts": _read_texts,
    "tokens": _read_tokens,
    "sparse": _read_sparse,
}
