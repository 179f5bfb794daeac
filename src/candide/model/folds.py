"""Which fold each row is in, where choices are made without a part of the rows and judged on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.data import Array, Positions

N_FOLDS = 5


class Dealt(NamedTuple):
    """Rows dealt out to folds. A row that stands for several equal ones appears once per fold that got some of them."""

    row: Array
    fold: Array
    copies: Array


def deal(classes: Positions, multiplicity: Array) -> Dealt:
    """The rows of each class in turn, copy by copy.

    >>> deal(np.array([0, 0, 1]), np.array([1, 6, 1]))
    Dealt(row=array([0, 1, 1, 1, 1, 1, 2]), fold=array([0, 0, 1, 2, 3, 4, 0]), copies=array([1, 1, 2, 1, 1, 1, 1]))
    """
    before = _copies_before(classes, multiplicity)
    copies = _dealt_until(before + multiplicity) - _dealt_until(before)
    row, fold = np.nonzero(copies)
    return Dealt(row, fold, copies[row, fold])


def _copies_before(classes: Positions, multiplicity: Array) -> Array:
    """How many rows of the same class come before each, copies counted."""
    order = np.argsort(classes, kind="stable")
    before = np.cumsum(multiplicity[order]) - multiplicity[order]
    out = np.empty(len(order), dtype=np.int64)
    out[order] = before - before[np.searchsorted(classes[order], classes[order])]
    return out


def _dealt_until(n: Array) -> Array:
    """How many of the first ``n`` of a class each fold gets, ``(rows, folds)``."""
    return np.asarray((n[:, None] + np.arange(N_FOLDS)[::-1]) // N_FOLDS)
