"""Counts and scores of columns taken together: pairs and triples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from .layouts import Array, Floats, Positions

# The pseudo-count of p(column | one parent), to which p(column | two parents) backs off.
BACK_STRENGTH = 2.0


class PairTable(NamedTuple):
    """Weights of rows by two slots at a time; a slot is one code of one column."""

    joint: Floats  # (classes, slots, slots); of a slot with itself the weight of its rows
    rows: Floats  # (classes,)
    spare: Floats  # (columns,) pseudo-counts of a column's codes in all, ½ each

    def __reduce__(self) -> Any:
        return _stored_pairs, (packed(self.joint), self.rows, self.spare)


class TripleTable(NamedTuple):
    """Weights of rows by the slots of two columns together, and by those of a third."""

    singles: PairTable
    columns: Positions  # (pairs, 2) which two columns a pair joins
    joint: Floats  # (classes, joint slots, slots)

    def __reduce__(self) -> Any:
        return _stored_triples, (self.singles, self.columns, packed(self.joint))


def packed(counts: Floats) -> Array:
    """Return counts in the smallest type that holds them exactly, for storing."""
    small = (counts.astype(kind) for kind in (np.uint8, np.uint16) if counts.max(initial=0.0) <= np.iinfo(kind).max)
    return next((part for part in small if (part == counts).all()), counts)


def _stored_pairs(joint: Array, rows: Floats, spare: Floats) -> PairTable:
    return PairTable(joint.astype(np.float64, copy=False), rows, spare)


def _stored_triples(singles: PairTable, columns: Positions, joint: Array) -> TripleTable:
    return TripleTable(singles, columns, joint.astype(np.float64, copy=False))


def padded_classes(n_classes: int) -> int:
    """Return the number of classes of a table of joint scores, padded with zeros to whole vectors."""
    return 2 if n_classes <= 2 else -(-n_classes // 4) * 4


class DependenceKernels:
    """Kernels over rows of slots, ``(rows, columns)``; a slot is one code of one column.

    Parents are slots too, or those of pairs of columns. Slots of -1 are skipped: their columns are not given. Sums over
    no parent at all are 0.
    """

    __slots__ = ()
    n_threads: int

    def joint_counts(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats | None,
        shape: tuple[int, int, int],
    ) -> Floats:  # fmt: skip
        """Return the weight of rows by class, parent and slot."""
        joint = np.zeros(shape)
        _core.joint_counts(parents, slots, classes, weight, self.n_threads, joint)
        return joint

    def joint_scores(self, parents: Positions, slots: Positions, table: Floats, n_classes: int) -> Floats:
        """Return log Σ over parents exp Σ over slots of ``table``, (parents, slots, ``padded_classes``)."""
        scores = np.empty((len(slots), n_classes))
        _core.joint_scores(parents, slots, table, self.n_threads, scores)
        return scores

    def own_pair_scores(
        self, slots: Positions, classes: Positions, weight: Floats, table: PairTable, strength: float
    ) -> Floats:
        """Return log Σ_u p(u | class) Π_j p(j | u, class) over columns u and j, without the row's weight in the counts.

        p(j | class) = (count + ½) / (rows + spare), where rows include the row, since a smaller class would reveal the
        class of the row; p(j | u, class) = (count + strength · p(j | class)) / (count of u + strength).
        """
        scores = np.empty(len(slots))
        _core.own_pair_scores(slots, classes, weight, table, strength, self.n_threads, scores)
        return scores

    def own_triple_scores(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats, table: TripleTable,
        strength: float,
    ) -> Floats:  # fmt: skip
        """Return the same over pairs of columns u = (s, t).

        There p(j | u, class) backs off to the mean of p(j | s, class) and p(j | t, class), which have BACK_STRENGTH,
        and p(u | class) to the product of p(s | class) and p(t | class).
        """
        scores = np.empty(len(slots))
        _core.own_triple_scores(parents, slots, classes, weight, table, strength, BACK_STRENGTH, self.n_threads, scores)
        return scores
