"""Every column given two others and the class: two-dependence, for pairs of the most informative columns."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.dependence import BACK_STRENGTH, PairTable, TripleTable, padded_classes
from ..kernels.layouts import Array, Floats, Positions
from ..lazy_dataclass import dataclass
from .binning import MergedCodes
from .one_dependence import MOST_CELLS, OneDependence, put_mean, take_mean
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, View, ViewContributions, averaged, least_loss

_STRENGTHS = (1.0, 4.0)
# A pair with more joint slots than this needs four rows for each.
_MODEST = 64


@dataclass(frozen=True)
class JointSlots(FieldsOnlyPickle):
    """Slots of pairs of columns, those of each pair after the last's."""

    columns: Positions  # (pairs, 2), places among the merged columns
    merged: MergedCodes

    @cached_property
    def sizes(self) -> Array:
        """The number of joint slots of each pair."""
        return np.asarray(self.merged.sizes[self.columns].prod(axis=1))

    @cached_property
    def offsets(self) -> Array:
        """Where each pair's slots begin, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def of(self, slots: Positions) -> Positions:
        """``(rows, pairs)`` from slots of the columns; -1 where one of the two is not given."""
        one, other = self.columns.T
        codes = slots[:, other] - self.merged.offsets[other].astype(np.int32)
        begins = self.offsets[:-1] - self.merged.offsets[one] * self.merged.sizes[other]
        joint = slots[:, one] * self.merged.sizes[other].astype(np.int32) + codes
        joint = joint + begins
        if slots.min(initial=0) < 0:
            joint[(slots[:, one] < 0) | (slots[:, other] < 0)] = -1
        return np.ascontiguousarray(joint, dtype=np.int32)


@dataclass(frozen=True)
class TwoDependence(FieldsOnlyPickle):
    """log of the mean over pairs u = (s, t) of p(x_s, x_t | class) Π_j p(x_j | x_s, x_t, class), from counts.

    p(x_j | x_s, x_t, class) is smoothed by ``strength`` rows toward the mean of what s and t alone say. Columns that
    are not given are in no pair and none of the columns j; without any pair the view is off.
    """

    name: str
    one: OneDependence
    joint: JointSlots
    table: TripleTable
    strength: float

    @cached_property
    def log_table(self) -> Floats:
        """``(joint slots, slots, classes)``: what a slot adds beside a pair's."""
        joint, singles = self.table.joint, _Singles(self.table.singles, self.one.alone, self.strength)
        logs = np.zeros((*joint.shape[1:], padded_classes(len(joint))))
        for place, columns in enumerate(self.joint.columns):
            span = slice(*self.joint.offsets[place : place + 2])
            one, other = (slice(*self.one.merged.offsets[j : j + 2]) for j in columns)
            logs[span, :, : len(joint)] = singles.logs(joint[:, span], one, other).transpose(1, 2, 0)
        return logs

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        slots = self.one.merged.slots(binned.codes)
        return self._by_table(self.joint.of(slots), slots, kernels)

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        slots = self.one.merged.slots(binned.codes)
        parents = self.joint.of(slots)
        scores = self._by_table(parents, slots, kernels)
        own = kernels.own_triple_scores(parents, slots, classes, weight, self.table, self.strength)
        return put_mean(scores, parents, classes, weight, own, kernels)

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        slots = self.one.merged.slots(binned.codes)
        parents, given = self.joint.of(slots)[0], slots[0] >= 0
        logs = self.log_table[np.ix_(parents[parents >= 0], slots[0][given])]
        scores, rest = averaged(logs[..., : len(self.one.table.rows)])
        return ViewContributions(self.one.merged.columns[given], scores, rest)

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        from .updated import updated_counts

        return updated_counts(self, cases, sign, kernels)

    def with_table(self, table: TripleTable) -> TwoDependence:
        """Return the view with other counts."""
        return replace(self, one=self.one.with_table(table.singles), table=table)

    def of_class(self, k: int) -> TwoDependence:
        """Return the view of one class."""
        one, table = self.one.of_class(k), self.table
        return self.with_table(TripleTable(one.table, table.columns, table.joint[k : k + 1]))

    def scores_by_counts(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        """``(rows,)`` under the only class, without a table of logarithms."""
        slots = self.one.merged.slots(binned.codes)
        parents = self.joint.of(slots)
        none = np.zeros(len(slots), dtype=np.int32), np.zeros(len(slots))
        scores = kernels.own_triple_scores(parents, slots, *none, self.table, self.strength)
        return take_mean(scores[:, None], parents)[:, 0]

    def _by_table(self, parents: Positions, slots: Positions, kernels: Kernels) -> Floats:
        return take_mean(kernels.joint_scores(parents, slots, self.log_table, len(self.one.table.rows)), parents)


def two_dependence(
    name: str, one: OneDependence, best_columns: Array, cases: LabeledRows, log_prior: Floats, kernels: Kernels
) -> TwoDependence | None:
    """Learned from the rows that ``one`` has learned from; super-parents are pairs of the best of its columns.

    None where there is no third column, or no pair of a size that so many rows can fill.
    """
    joint = _affordable(one, best_columns, len(cases.classes))
    if len(one.merged.columns) < 3 or not len(joint.columns):
        return None
    slots = one.merged.slots(cases.binned.codes)
    shape = len(log_prior), int(joint.offsets[-1]), int(one.merged.offsets[-1])
    counts = kernels.joint_counts(joint.of(slots), slots, cases.classes, cases.case_weight, shape)
    table = TripleTable(one.table, joint.columns, counts)

    def left_out(strength: float, few: LabeledRows) -> Floats:
        slots = one.merged.slots(few.binned.codes)
        parents = joint.of(slots)
        return few.under_each_class(
            len(log_prior), lambda c, w: kernels.own_triple_scores(parents, slots, c, w, table, strength)
        )

    return TwoDependence(name, one, joint, table, least_loss(_STRENGTHS, left_out, cases, log_prior))


def _affordable(one: OneDependence, best_columns: Array, n_rows: int) -> JointSlots:
    """Return pairs of columns with few enough joint slots, the best first, as many as fit into memory."""
    merged, n_classes = one.merged, padded_classes(len(one.table.rows))
    places = [int(np.flatnonzero(merged.columns == j)[0]) for j in best_columns if j in merged.columns]
    pairs = [pair for pair in combinations(places, 2) if merged.sizes[list(pair)].prod() <= max(_MODEST, n_rows / 4)]
    sizes = np.array([merged.sizes[list(pair)].prod() for pair in pairs], dtype=np.int64)
    fit = np.cumsum(sizes) * int(merged.offsets[-1]) * n_classes <= MOST_CELLS
    return JointSlots(np.array(pairs, dtype=np.int32).reshape(-1, 2)[fit], merged)


class _Singles(NamedTuple):
    """What is known about single columns and pairs; arrays begin with the classes."""

    pairs: PairTable
    alone: Floats  # (classes, slots)
    strength: float

    def logs(self, joint: Floats, one: slice, other: slice) -> Floats:
        """``(classes, joint slots, slots)`` for two columns as parents; log p(u | class) stands with the first one."""
        both = joint[:, :, one].sum(axis=2)
        logs = (self.given(one)[:, :, None, :] + self.given(other)[:, None, :, :]).reshape(joint.shape)
        logs *= 0.5 * self.strength
        logs += joint
        np.log(logs, out=logs)
        logs -= np.log(both + self.strength)[:, :, None]
        independent = (self.alone[:, one, None] * self.alone[:, None, other]).reshape(both.shape)
        rows = np.log(self.pairs.rows + self.strength)[:, None]
        logs[:, :, one] = (np.log(both + self.strength * independent) - rows)[:, :, None]
        logs[:, :, other] = 0.0
        return np.asarray(logs)

    def given(self, column: slice) -> Floats:
        """p(x_j | x_s, class) for the slots of column s and all slots."""
        rows = np.diagonal(self.pairs.joint, axis1=1, axis2=2)[:, column, None] + BACK_STRENGTH
        return np.asarray((self.pairs.joint[:, column] + BACK_STRENGTH * self.alone[:, None, :]) / rows)
