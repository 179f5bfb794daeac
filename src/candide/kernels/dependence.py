"""Counts and scores of columns taken together: pairs and triples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from .layouts import Array, Floats, Positions

# The strength of what a column says given one other, where a pair of columns backs off to it.
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
    """Counts in the smallest type that holds them exactly, for storing."""
    small = (counts.astype(kind) for kind in (np.uint8, np.uint16) if counts.max(initial=0.0) <= np.iinfo(kind).max)
    return next((part for part in small if (part == counts).all()), counts)


def _stored_pairs(joint: Array, rows: Floats, spare: Floats) -> PairTable:
    return PairTable(joint.astype(np.float64, copy=False), rows, spare)


def _stored_triples(singles: PairTable, columns: Positions, joint: Array) -> TripleTable:
    return TripleTable(singles, columns, joint.astype(np.float64, copy=False))


def padded_classes(n_classes: int) -> int:
    """How many classes a table of joint scores has room for: zeros fill up whole vectors."""
    return 2 if n_classes <= 2 else -(-n_classes // 4) * 4


class DependenceKernels:
    """What ``Native`` does with rows of slots."""

    __slots__ = ()
    n_threads: int

    def joint_counts(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats | None,
        shape: tuple[int, int, int],
    ) -> Floats:  # fmt: skip
        joint = np.zeros(shape)
        _core.joint_counts(parents, slots, classes, weight, self.n_threads, joint)
        return joint

    def joint_scores(self, parents: Positions, slots: Positions, table: Floats, n_classes: int) -> Floats:
        scores = np.empty((len(slots), n_classes))
        _core.joint_scores(parents, slots, table, self.n_threads, scores)
        return scores

    def own_pair_scores(
        self, slots: Positions, classes: Positions, weight: Floats, table: PairTable, strength: float
    ) -> Floats:
        scores = np.empty(len(slots))
        _core.own_pair_scores(slots, classes, weight, *table, strength, self.n_threads, scores)
        return scores

    def own_triple_scores(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats, table: TripleTable,
        strength: float,
    ) -> Floats:  # fmt: skip
        scores = np.empty(len(slots))
        _core.own_triple_scores(
            parents, slots, classes, weight, *table.singles, table.columns, table.joint, strength, BACK_STRENGTH,
            self.n_threads, scores,
        )  # fmt: skip
        return scores
