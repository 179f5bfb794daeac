"""Hashes of rows, which are the same on every machine and in every version, because samples depend on them.

The hash of a text is computed by the kernels. In a table, every cell is represented by 64 bits: the hash of a text,
the bits of a double, or, for other labels, the 8-byte BLAKE2b digest (little-endian) of their type, a zero byte and
their text. With the finalizer of splitmix64 as ``mix`` and its outputs from seed 0 as the keys of the columns, the hash
of a row is::

    cell(j, bits) = mix(bits ^ key_j) - mix(key_j)
    row           = mix(sum of cells + GOLDEN) >> 1        modulo 2^64

Zeros add 0 and the order of cells does not matter, so dense and sparse rows have equal hashes. GOLDEN gives the row of
zeros a hash other than 0. Hashes have 63 bits, so that there is a number above all of them.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from ..data.arrays import as_array
from ..data.columns import Column, Columns
from ..data.index import label_type
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.counting import Hashes, mix64
from ..kernels.layouts import Array, Dense, Sparse, TextRows
from .kept_rows import Kept, coded, column_at, doubles, is_numeric, parted

# A number above all hashes.
ABOVE_ALL = np.uint64(1 << 63)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# Number of cells hashed at once, so that a dozen passes over them stay in the cache.
_BLOCK_CELLS = 1 << 15


# The half of a hash that is equal for all rows of a group.
_GROUP_BITS, _GROUP = np.uint64(32), np.uint64(0xFFFFFFFF << 32)


def group_hashes(groups: Any, n_rows: int) -> Hashes | None:
    """Return the hash of each row's group, 0 for rows without one; None if no groups are given.

    >>> found = group_hashes(["ann", "bob", None, "ann"], 4)
    >>> bool(found[0] == found[3] != found[1]), int(found[2])
    (True, 0)
    """
    if groups is None:
        return None
    labels = as_array(groups, "groups")
    if labels.shape != (n_rows,):
        raise InputError(f"groups has shape {labels.shape} for {n_rows} rows; pass one group per row")
    hashes = row_hashes(Dense.of((labels,)))
    return np.where(is_unlabeled(labels), np.uint64(0), np.maximum(hashes, np.uint64(1)))


def in_groups(hashes: Hashes, groups: Hashes | None) -> Hashes:
    """Replace the upper half of row hashes by that of the group, so that groups are kept or dropped as a whole."""
    if groups is None:
        return hashes
    return np.where(groups == 0, hashes, (groups & _GROUP) | (hashes & ~_GROUP))


def hashes_agree(grouped: Hashes, hashes: Hashes) -> bool:
    """Return whether two hashes belong to the same row, regardless of its group."""
    return bool((grouped < ABOVE_ALL).all()) and np.array_equal(grouped & ~_GROUP, hashes & ~_GROUP)


def group_of(hashes: Hashes) -> Hashes:
    """Return the part of the hashes that all rows of a group share."""
    return hashes >> _GROUP_BITS


def row_hashes(data: Kept | Columns) -> Hashes:
    """Return the hash of each row.

    >>> row_hashes(Dense.of(np.array([[0.0, 1.5], [2.0, np.nan]])))
    array([3207515029051476011, 6152199355507115244], dtype=uint64)
    """
    if isinstance(data, TextRows):
        return data.hashes()
    sums = _sparse_sums(data) if isinstance(data, Sparse) else _table_sums(*parted(data))
    return mix64(sums + _GOLDEN) >> np.uint64(1)


def _cells(bits: Hashes, keys: Hashes) -> Hashes:
    return mix64(bits ^ keys) - mix64(keys)


def _keys(columns: Array) -> Hashes:
    return mix64((columns.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def _table_sums(cells: Dense | Columns, texts: dict[int, TextRows]) -> Hashes:
    sums = _dense_sums(cells)
    for j, own in texts.items():
        # The cell of a text is 0, which adds 0; that of a missing text is the same as for any missing value.
        sums += np.where(own.texts.missing(), np.uint64(0), _cells(own.hashes(), _keys(np.array([j]))))
    return sums


def _dense_sums(data: Dense | Columns) -> Hashes:
    keys = _keys(np.arange(data.n_columns))
    if isinstance(data, Dense) and not isinstance(data.values, tuple) and is_numeric(data.values):
        return _number_sums(data, keys)
    columns = [column_at(data, j) for j in range(data.n_columns)]
    numbers = {j: column for j, column in enumerate(columns) if is_numeric(column)}
    sums = np.zeros(data.n_rows, dtype=np.uint64)
    if numbers:
        sums += _number_sums(Dense.of(tuple(numbers.values())), keys[[*numbers]])
    for j in range(data.n_columns):
        if j not in numbers:
            sums += _label_cells(columns[j], keys[j : j + 1])
    return sums


def _number_sums(data: Dense, keys: Hashes) -> Hashes:
    values = tuple(map(_usual, data.values)) if isinstance(data.values, tuple) else _usual(data.values)
    return np.asarray(Kernels().hash_rows(Dense.of(values), keys) - mix64(keys).sum())


def _usual(numbers: Array) -> Array:
    """Return an array of a type that kernels read."""
    known = numbers.dtype.isnative and (numbers.dtype.kind != "f" or numbers.dtype.itemsize in (4, 8))
    return numbers if known else numbers.astype(np.float64)


def _label_cells(column: Array | Column, key: Hashes) -> Hashes:
    codes, labels = coded(column)
    bits = np.array([_label_bits(label) for label in labels], dtype=np.uint64)
    return np.asarray(_cells(bits, key)[codes])


def _label_bits(label: Any) -> int:
    """Return the bits of a label in the form that samples keep."""
    if label is None or isinstance(label, float):
        return int(np.array(label, dtype=np.float64).view(np.uint64))
    text = f"{label_type(label)}\0{label}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def _sparse_sums(data: Sparse) -> Hashes:
    cells = np.empty(len(data.values), dtype=np.uint64)
    for begin in range(0, len(cells), _BLOCK_CELLS):
        block = slice(begin, begin + _BLOCK_CELLS)
        bits = doubles(data.values[block]).view(np.uint64)
        cells[block] = _cells(bits, _keys(data.indices[block]))
    # Differences of running sums are exact modulo 2^64, also for rows without cells.
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(cells)])
    return np.asarray(running[data.indptr[1:]] - running[data.indptr[:-1]])
