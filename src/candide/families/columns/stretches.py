"""What was seen of one column, and stretches of its cells made one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...kernels.data import Array, Floats
from ...statistics import Moments
from ...statistics.grid import Cells

# Kernels and the usual bins are made from so many stretches of about equal weight.
MICRO_BINS = 64


class Numbers(NamedTuple):
    """All that one pass keeps of a number column."""

    cells: Cells
    moments: Moments  # of this column alone
    missing: Floats  # (classes,)


@dataclass(frozen=True, eq=False)
class Categories:
    """All that one pass keeps of a category column."""

    labels: Array
    count: Floats  # (labels, classes)
    missing: Floats  # (classes,)


Seen = Numbers | Categories


def seen_of(**parts: Any) -> Seen:
    """From ``cells`` and ``moments``, or ``labels`` and ``count`` (classes, labels); and ``missing``."""
    missing = np.asarray(parts["missing"], dtype=np.float64)
    if "cells" in parts:
        return Numbers(parts["cells"], parts["moments"], missing)
    return Categories(parts["labels"], np.asarray(parts["count"], dtype=np.float64).T, missing)


def merged(cells: Cells, first: Array) -> Cells:
    """Stretches of cells as one cell each; ``first`` are the first cells of the stretches.

    >>> cells = Cells(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 4.0]), np.array([[1.0], [2.0], [5.0]]))
    >>> merged(cells, np.array([0, 2])).high, merged(cells, np.array([0, 2])).count[:, 0]
    (array([3., 4.]), array([3., 5.]))
    """
    if len(first) == len(cells.low):
        return cells
    last = np.append(first[1:], len(cells.low)) - 1
    return Cells(cells.low[first], cells.high[last], np.add.reduceat(cells.count, first, axis=0))


def equal_frequency(weight: Floats, n_bins: int) -> Array:
    """The first cells of at most ``n_bins`` stretches of about equal weight.

    >>> equal_frequency(np.array([1.0, 1.0, 1.0, 1.0, 4.0]), 2)
    array([0, 4])
    """
    if len(weight) <= n_bins:
        return np.arange(len(weight))
    which = (mid_ranks(weight) * n_bins).astype(np.int64)
    return np.flatnonzero(np.diff(which, prepend=-1))


def mid_ranks(weight: Floats) -> Floats:
    """The middle of each cell's stretch of the rows in order, between 0 and 1."""
    ends = np.cumsum(weight)
    return np.asarray((ends - weight / 2) / max(ends[-1], 1e-300))


def cuts_between(cells: Cells) -> Floats:
    """A number between each cell and the next: above the one, and not above the other."""
    low, high = cells.high[:-1], cells.low[1:]
    middle = low / 2 + high / 2
    return np.asarray(np.where(middle > low, middle, high))


def middles(cells: Cells) -> Floats:
    return np.asarray(cells.low / 2 + cells.high / 2)


def averages(cells: Cells, first: Array) -> Floats:
    """The mean of the numbers in each stretch, cells standing for their middles."""
    weight, sizes = cells.count.sum(axis=1), np.diff(np.append(first, len(cells.low)))
    share = weight / np.repeat(np.maximum(np.add.reduceat(weight, first), 1e-300), sizes)
    # As steps from the first cell, so that a large offset costs no digits; halved, so that none overflows.
    half = middles(cells) / 2
    return np.asarray(2 * (half[first] + np.add.reduceat(share * (half - np.repeat(half[first], sizes)), first)))


def occupied(cells: Cells) -> Cells:
    """At least one cell, also of a column that nobody observed."""
    if len(cells.low):
        return cells
    return Cells(np.zeros(1), np.zeros(1), np.zeros((1, cells.count.shape[1])))


def are_whole(cells: Cells) -> bool:
    """Whether every cell is a single whole number."""
    return bool((cells.low == cells.high).all() and (cells.low == np.trunc(cells.low)).all())


def may_be_whole(cells: Cells) -> Array:
    """Whether a cell may hold nothing but whole numbers: it is one of them, or has room for two.

    Whole numbers fill no cell that has room for one alone and yet is more than a single number: cells are merged only
    while more of them are occupied than fit, and such a merger would not make them fewer.
    """
    n_whole = np.floor(cells.high) - np.ceil(cells.low) + 1.0
    return np.asarray(np.where(cells.low == cells.high, n_whole == 1, n_whole >= 2))
