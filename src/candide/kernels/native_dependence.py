"""The kernels in C++ for columns that depend on each other."""

from __future__ import annotations

import numpy as np

from . import _core
from .base import BACK_STRENGTH, PairTable, TripleTable
from .layouts import Floats, Positions


class DependenceNative:
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
