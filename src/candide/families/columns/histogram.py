"""The statistics of one column, merging of its cells, and the leave-one-out log-loss of the class given the column.

Rows with the same code and class have the same left-out score, so the loss is a sum over codes and classes. Tables
contain weights, not single rows. Leaving out a row subtracts the mean row weight of its class (``row``), but at most
the weight of the cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels.layouts import Array, Floats, Positions
from ...lazy import dataclass
from ...statistics import Moments
from ...statistics.grid import Cells

# Kernels and the usual bins are computed from this many ranges of about equal weight.
MICRO_BINS = 64
# A value is an atom if it has at least this share of the column and this many times the weight of its neighbors.
_ATOM_SHARE, _ATOM_RATIO = 0.1, 10.0
# Number of neighbors on either side.
_N_NEIGHBORS = 2
# Up to this many distinct integers, each value has its own bin.
_SHORT_SCALE = 20
# Distance of a cut from an atom, as a share of the gap between the atom and the next value.
_CUT_OFFSET = 2.0**-20


class Numbers(NamedTuple):
    """The statistics of a number column."""

    cells: Cells
    moments: Moments  # of this column alone
    missing: Floats  # (classes,)
    atoms: Array = np.zeros(0, dtype=np.int64)  # the cells that are point masses


@dataclass(frozen=True, eq=False)
class Categories:
    """The statistics of a category column."""

    labels: Array
    count: Floats  # (labels, classes)
    missing: Floats  # (classes,)


Seen = Numbers | Categories


def seen_of(**parts: Any) -> Seen:
    """Return column statistics from ``cells`` and ``moments``, or ``labels`` and ``count``, and ``missing``."""
    missing = np.asarray(parts["missing"], dtype=np.float64)
    if "cells" in parts:
        return with_atoms(Numbers(parts["cells"], parts["moments"], missing))
    return Categories(parts["labels"], np.asarray(parts["count"], dtype=np.float64).T, missing)


def merged(cells: Cells, first: Array) -> Cells:
    """Merge ranges of cells into one cell each; ``first`` are the first cells of the ranges.

    >>> cells = Cells(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 4.0]), np.array([[1.0], [2.0], [5.0]]))
    >>> merged(cells, np.array([0, 2])).high, merged(cells, np.array([0, 2])).count[:, 0]
    (array([3., 4.]), array([3., 5.]))
    """
    if len(first) == len(cells.low):
        return cells
    last = np.append(first[1:], len(cells.low)) - 1
    return Cells(cells.low[first], cells.high[last], np.add.reduceat(cells.count, first, axis=0))


def with_atoms(numbers: Numbers) -> Numbers:
    """Return the column with its atoms."""
    return numbers._replace(atoms=atoms_of(numbers.cells))


def atoms_of(cells: Cells) -> Array:
    """Return the cells that are atoms: single values with a large share of the column, unlike their neighbors.

    The result depends only on the cells, hence only on the set of rows. A cell with several values is not an atom,
    because the weight of each value is unknown. If all values have a large share, none is an atom. The values of a
    short integer scale (up to 20 values) are not atoms either: bins of width 1 represent them exactly.

    >>> weight = np.array([950.0, 10.0, 15.0, 25.0])
    >>> zeros = np.array([0.0, 155.0, 213.0, 323.0])
    >>> atoms_of(Cells(zeros, zeros, weight[:, None]))
    array([0])
    """
    weight = cells.count.sum(axis=1)
    heavy = (weight >= _ATOM_SHARE * weight.sum()) & (weight > 0)
    others = weight[~heavy & (weight > 0)]
    # If all values have a large share, there are only a few values, possibly one row each.
    if not len(others):
        return np.zeros(0, dtype=np.int64)
    heavy &= weight >= _ATOM_RATIO * np.median(others)
    found = np.flatnonzero(heavy & (cells.low == cells.high))
    if not len(found):
        return found
    # Two atoms may be adjacent, so heavy values are not used as neighbors.
    light = np.pad(np.where(heavy, 0.0, weight), _N_NEIGHBORS)
    neighbors = [light[found + step] for step in range(2 * _N_NEIGHBORS + 1) if step != _N_NEIGHBORS]
    found = found[weight[found] >= _ATOM_RATIO * np.max(neighbors, axis=0)]
    if len(weight) <= _SHORT_SCALE and are_whole(cells):
        value = np.concatenate([[-np.inf], cells.low, [np.inf]])
        gap = np.minimum(value[found + 1] - value[found], value[found + 2] - value[found + 1])
        found = found[gap > 1]
    return np.asarray(found)


def equal_frequency(weight: Floats, n_bins: int, atoms: Array | None = None) -> Array:
    """Return the first cells of at most ``n_bins`` ranges of about equal weight; each atom is a separate range.

    No range extends across an atom.

    >>> equal_frequency(np.array([1.0, 1.0, 1.0, 1.0, 4.0]), 2)
    array([0, 4])
    >>> equal_frequency(np.array([96.0, 1.0, 1.0, 1.0, 1.0]), 2, atoms=np.array([0]))
    array([0, 1, 3])
    """
    alone = np.zeros(len(weight), dtype=bool)
    if atoms is not None:
        alone[atoms] = True
    if len(weight) - alone.sum() <= n_bins:
        return np.arange(len(weight))
    which = (mid_ranks(np.where(alone, 0.0, weight)) * n_bins).astype(np.int64)
    new = np.diff(which, prepend=-1) != 0
    new |= alone
    new[1:] |= alone[:-1]
    return np.flatnonzero(new)


def mid_ranks(weight: Floats) -> Floats:
    """Return the mid-rank of each cell, between 0 and 1."""
    ends = np.cumsum(weight)
    return np.asarray((ends - weight / 2) / max(ends[-1], 1e-300))


def cuts_between(cells: Cells, atoms: Array | None = None) -> Floats:
    """Return a cut between each cell and the next: above the first and at most the second.

    A cut is the midpoint, except beside an atom, where it is close to the atom so that hardly any other number has its
    code.

    >>> cells = Cells(np.array([0.0, 100.0, 300.0]), np.array([0.0, 200.0, 300.0]), np.ones((3, 1)))
    >>> cuts_between(cells), cuts_between(cells, np.array([0])).round(3)
    (array([ 50., 250.]), array([  0., 250.]))
    """
    low, high = cells.high[:-1], cells.low[1:]
    cut = low / 2 + high / 2
    if atoms is not None and len(atoms):
        alone = np.zeros(len(cells.low), dtype=bool)
        alone[atoms] = True
        above, below = alone[:-1] & ~alone[1:], alone[1:] & ~alone[:-1]
        cut = np.where(above, low * (1 - _CUT_OFFSET) + high * _CUT_OFFSET, cut)
        cut = np.where(below, low * _CUT_OFFSET + high * (1 - _CUT_OFFSET), cut)
    return np.asarray(np.where((cut > low) & (cut <= high), cut, high))


def middles(cells: Cells) -> Floats:
    return np.asarray(cells.low / 2 + cells.high / 2)


def averages(cells: Cells, first: Array) -> Floats:
    """Return the mean of the numbers in each range, with cells represented by their midpoints."""
    weight, sizes = cells.count.sum(axis=1), np.diff(np.append(first, len(cells.low)))
    share = weight / np.repeat(np.maximum(np.add.reduceat(weight, first), 1e-300), sizes)
    # Relative to the first cell, so that a large offset does not lose precision; halved to avoid overflow.
    half = middles(cells) / 2
    return np.asarray(2 * (half[first] + np.add.reduceat(share * (half - np.repeat(half[first], sizes)), first)))


def occupied(cells: Cells) -> Cells:
    """Return the cells of a column, or one empty cell if the column has no observations."""
    if len(cells.low):
        return cells
    return Cells(np.zeros(1), np.zeros(1), np.zeros((1, cells.count.shape[1])))


def are_whole(cells: Cells) -> bool:
    """Return whether every cell is a single integer."""
    return bool((cells.low == cells.high).all() and (cells.low == np.trunc(cells.low)).all())


def may_be_whole(cells: Cells) -> Array:
    """Return for each cell whether all of its numbers may be integers: it is a single integer, or spans at least two.

    A cell that spans an interval but contains only one integer cannot come from integers: cells are merged only to
    reduce the number of occupied ones, and merging would not have reduced it here.
    """
    n_whole = np.floor(cells.high) - np.ceil(cells.low) + 1.0
    return np.asarray(np.where(cells.low == cells.high, n_whole == 1, n_whole >= 2))


# Lower bound of shares, which rounding could reduce to 0.
LEAST = 1e-12


def log_others(joint: Floats) -> Floats:
    """Return for each class the logarithm of the sum over all other classes; classes are the last axis.

    >>> np.exp(log_others(np.log([[0.5, 0.3, 0.2]]))).round(9)
    array([[0.5, 0.7, 0.8]])
    """
    if joint.shape[-1] <= 2:
        return joint[..., ::-1] if joint.shape[-1] == 2 else np.full_like(joint, -np.inf)
    top = joint.max(axis=-1, keepdims=True)
    share = np.exp(joint - top)
    # Sums from both ends: a total minus the class's own share would lose precision.
    rest = np.zeros_like(share)
    np.cumsum(share[..., :-1], axis=-1, out=rest[..., 1:])
    rest[..., :-1] += np.cumsum(share[..., :0:-1], axis=-1)[..., ::-1]
    gone = (rest <= 0).any(axis=-1)
    with np.errstate(divide="ignore"):
        out = np.log(rest) + top
    if gone.any():
        out[gone] = _far_others(joint[gone])
    return np.asarray(out)


def _far_others(joint: Floats) -> Floats:
    """Return ``log_others`` for rows in which one class dominates."""
    out = np.full_like(joint, -np.inf)
    out[:, 1:] = np.logaddexp.accumulate(joint[:, :-1], axis=1)
    after = np.logaddexp.accumulate(joint[:, :0:-1], axis=1)[:, ::-1]
    out[:, :-1] = np.logaddexp(out[:, :-1], after)
    return out


def log_rest(joint: Floats, own: Positions) -> Floats:
    """Return the logarithm of the sum over all classes except each row's own."""
    if joint.shape[1] == 1:
        return np.full(len(joint), -np.inf)
    rest = joint.T.copy()  # sums over the first axis are several times as fast
    rest[own, np.arange(len(joint))] = -np.inf
    top = rest.max(axis=0)
    rest -= top
    return np.asarray(np.log(np.exp(rest, out=rest).sum(axis=0)) + top)


def own_left(part: Floats, whole: Floats, own: Floats, weight: float | Floats) -> Floats:
    """Return log p of a code under its own class after removing a weight from the code and from the class."""
    return np.asarray(np.log(np.maximum(part - own * weight, LEAST)) - np.log(np.maximum(whole - weight, LEAST)))


def own_kept(part: Floats, whole: Floats, own: Floats, weight: float | Floats) -> Floats:
    """Return ``own_left`` with the size of the class unchanged.

    Reducing the size of the class would slightly raise the probability of all its values. As the class prior is not
    reduced, this would reveal the class of the left-out row, and stacking weights would be fitted to the leak.
    """
    return np.asarray(np.log(np.maximum(part - own * weight, LEAST)) - np.log(whole))


def size_kept(weight: Floats, gone: float | Floats) -> Floats:
    """Return what ``own_kept`` adds to ``own_left`` for a distribution without a table."""
    gone = np.minimum(weight, gone)
    return np.asarray(np.log((weight - gone + 0.5) / (weight + 0.5)))


def table_losses(
    part: Floats, whole: Floats, own: Floats, count: Floats, of: Floats, log_prior: Floats, row: float | Floats
) -> Floats:
    """Return the summed losses of tables ``(tables, codes, classes)``.

    ``of`` is the weight of the evaluated rows, at most ``count``.
    """
    whole, own = whole[:, None, :], own[:, :, None]
    joint = np.log(part) - np.log(whole) + log_prior
    alone = own_kept(part, whole, own, np.minimum(count, row)) + log_prior
    return np.asarray(weighted_losses(log_others(joint), alone, of).sum(axis=(1, 2)))


def weighted_losses(others: Floats, own: Floats, weight: Floats) -> Floats:
    """Return the weight of rows times -log of the share of the own class."""
    with np.errstate(invalid="ignore"):
        margin = others - own
        # log(1 + e^margin) as np.logaddexp has it, but vectorized.
        losses = np.maximum(margin, 0.0) + np.log1p(np.exp(-np.abs(margin)))
    return np.asarray(np.multiply(losses, weight, out=np.zeros_like(losses), where=weight > 0))


def log_shares(rows: Floats) -> Floats:
    """Return the log class frequencies, smoothed by one row per class: the class prior for evaluating columns."""
    return np.asarray(np.log((rows + 1.0) / (rows.sum() + len(rows))))


def gain(rows: Floats, losses: float | Floats) -> Floats:
    """Return the reduction of the mean log-loss relative to the class frequencies.

    >>> float(gain(np.array([5.0, 5.0]), 0.5).round(4))
    0.1931
    """
    return np.asarray(-float(rows @ log_shares(rows)) / max(float(rows.sum()), 1e-300) - losses)


def loss_of_nothing(weight: Floats, log_prior: Floats) -> float:
    """Return the summed loss of rows predicted by the class prior."""
    if not weight.any():
        return 0.0
    seen: Array = weight > 0
    return float(weight[seen] @ (np.logaddexp.reduce(log_prior) - log_prior[seen]))
