"""Rows that are there more than once, and those among them that have different labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.hashing import Hashes
from ..kernels.layouts import Array, Positions
from ..statistics import Sample


class Duplicates(NamedTuple):
    """What equal rows there are among some.

    >>> hashes = np.array([7, 3, 7, 7, 3], dtype=np.uint64)
    >>> Duplicates.of(hashes, np.array([0, 1, 1, 0, 1]), np.ones(5, dtype=np.int64))
    Duplicates(n_rows=5, n_repeated=3, n_contradicting=1, first=(0, 2))
    """

    n_rows: int
    n_repeated: int  # rows beyond the first of each kind
    n_contradicting: int  # distinct rows that have several labels
    first: tuple[int, int] | None  # places of two equal rows with different labels

    @classmethod
    def of(cls, hashes: Hashes, classes: Positions, copies: Array) -> Duplicates:
        """Of rows by their hashes; each stands for so many copies."""
        if not len(hashes):
            return cls(0, 0, 0, None)
        order = np.lexsort((classes, hashes))
        begins = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[0]]) != 0)
        ends = np.append(begins[1:], len(order)) - 1
        # Within equal hashes the classes ascend.
        odd = np.flatnonzero(classes[order[begins]] != classes[order[ends]])
        first = (int(order[begins[odd[0]]]), int(order[ends[odd[0]]])) if len(odd) else None
        return cls(int(copies.sum()), int(copies.sum()) - len(begins), len(odd), first)


def in_sample(sample: Sample) -> Duplicates:
    """Among training rows that were kept: those whose hash lies below the threshold of every class."""
    entries = sample.entries
    here = np.flatnonzero(entries.hashes < sample.threshold.min())
    found = Duplicates.of(sample.row_hashes[here], entries.classes[here], entries.multiplicity[here])
    if found.first is None:
        return found
    one, other = found.first
    return found._replace(first=(int(here[one]), int(here[other])))
