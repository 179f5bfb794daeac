"""Counts and scores of columns taken together, in NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from candide.kernels.layouts import Array, Floats, Positions
from candide.kernels.scoring import BACK_STRENGTH, GridCells, PairTable, TripleTable


class DependenceReference:
    """Plain NumPy; rows are ``(rows, columns)`` of slots, each a code of one column, or -1 where it is not given."""

    def joint_counts(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats | None,
        shape: tuple[int, int, int],
    ) -> Floats:  # fmt: skip
        count = np.zeros(shape)
        row_weight = np.ones(len(slots)) if weight is None else weight
        at = classes[:, None, None], parents[:, :, None], slots[:, None, :]
        there = (parents >= 0)[:, :, None] & (slots >= 0)[:, None, :]
        np.add.at(count, at, np.where(there, row_weight[:, None, None], 0.0))
        return count

    def joint_scores(self, parents: Positions, slots: Positions, table: Floats, n_classes: int) -> Floats:
        cells = table[parents[:, :, None], slots[:, None, :], :n_classes]
        sums = np.where((slots >= 0)[:, None, :, None], cells, 0.0).sum(axis=2)
        return _log_sum(sums, (parents >= 0)[:, :, None])

    def grid_keys(self, slots: Positions, words: Array) -> Array:
        return words[:, slots].sum(axis=2, dtype=np.uint32).T

    def indicator_product(self, ends: Positions, columns: Positions, factor: Array) -> Array:
        sums = [factor[columns[begin:end]].sum(axis=0) for begin, end in pairwise(ends)]
        return np.array(sums, dtype=np.float32).reshape(len(sums), factor.shape[1])

    def grid_scores(self, slots: Positions, words: Array, cells: GridCells) -> Floats:
        weight_of = dict(zip(cells.keys.tolist(), cells.weights.astype(np.float64), strict=True))
        nothing = np.zeros(cells.weights.shape[1])
        sums = [
            sum((weight_of.get(key, nothing) for key in row), nothing) for row in self.grid_keys(slots, words).tolist()
        ]
        return np.array(sums).reshape(len(slots), len(nothing))

    def own_pair_scores(
        self, slots: Positions, classes: Positions, weight: Floats, table: PairTable, strength: float
    ) -> Floats:
        joint, alone = _without(table, slots, slots, classes, weight)
        single = np.diagonal(joint, axis1=1, axis2=2)
        logs = np.log(joint + strength * alone[:, None, :])
        np.einsum("ruu->ru", logs)[:] = np.log(alone)
        present = slots >= 0
        given = (present.sum(axis=1)[:, None] - 1) * np.log(single + strength)
        return _log_sum(np.where(present[:, None, :], logs, 0.0).sum(axis=2) - given, present)

    def own_triple_scores(
        self, parents: Positions, slots: Positions, classes: Positions, weight: Floats, table: TripleTable,
        strength: float,
    ) -> Floats:  # fmt: skip
        present, w = slots >= 0, weight[:, None, None]
        rows = table.singles.rows[classes][:, None]
        joint = np.maximum(table.joint[classes[:, None, None], parents[:, :, None], slots[:, None, :]] - w, 0.0)
        one, other = table.columns.T
        back, alone = _back_off(table.singles, slots, classes, weight, table.columns)
        logs = np.log(joint + strength * back)
        both = np.take_along_axis(joint, np.broadcast_to(one[:, None], (len(slots), len(one), 1)), 2)[..., 0]
        every = np.arange(len(one))
        logs[:, every, one] = np.log(both + strength * alone[:, one] * alone[:, other]) - np.log(rows + strength)
        logs[:, every, other] = 0.0
        given = (present.sum(axis=1)[:, None] - 2) * np.log(both + strength)
        there = (parents >= 0) & present[:, one] & present[:, other]
        return _log_sum(np.where(present[:, None, :], logs, 0.0).sum(axis=2) - given, there)


def _log_sum(terms: Floats, there: Array) -> Floats:
    """log Σ exp over the second axis, of the terms that are there; 0 where none is."""
    sums = np.logaddexp.reduce(np.where(there, terms, -np.inf), axis=1)
    return np.where(there.any(axis=1), sums, 0.0)


def _without(
    table: PairTable, parents: Positions, slots: Positions, classes: Positions, weight: Floats
) -> tuple[Floats, Floats]:
    """Counts of pairs without the rows, ``(rows, parents, columns)``, and p(column | class), ``(rows, columns)``."""
    own = classes[:, None]
    joint = table.joint[own[:, :, None], parents[:, :, None], slots[:, None, :]] - weight[:, None, None]
    single = np.maximum(table.joint[own, slots, slots] - weight[:, None], 0.0)
    rows = table.rows[classes][:, None]
    return np.maximum(joint, 0.0), (single + 0.5) / (rows + table.spare)


def _back_off(
    table: PairTable, slots: Positions, classes: Positions, weight: Floats, columns: Array
) -> tuple[Floats, Floats]:
    """Means of p(column | one super-parent, class), ``(rows, pairs, columns)``, and p(column | class)."""
    means = np.zeros((len(slots), len(columns), slots.shape[1]))
    for side in columns.T:
        joint, alone = _without(table, slots[:, side], slots, classes, weight)
        given = np.take_along_axis(joint, np.broadcast_to(side[:, None], (*joint.shape[:2], 1)), 2)
        means += 0.5 * (joint + BACK_STRENGTH * alone[:, None, :]) / (given + BACK_STRENGTH)
    return means, alone
