"""Every column given one other and the class: averaged one-dependence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.dependence import PairTable, padded_classes
from ..kernels.layouts import Array, Floats, Positions
from ..lazy_dataclass import dataclass
from .binning import MergedCodes
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, View, ViewContributions, averaged, least_loss

# Cells of the largest table of counts: a quarter of a gigabyte.
MOST_CELLS = 1 << 25
_STRENGTHS = (0.5, 2.0, 8.0)


@dataclass(frozen=True)
class OneDependence(FieldsOnlyPickle):
    """log of the mean over columns u of p(x_u | class) Π_j p(x_j | x_u, class), from counts of pairs of codes.

    p(x_j | x_u, class) is smoothed toward p(x_j | class) by ``strength`` rows. Columns that are not given are neither
    among the columns u nor among the columns j: the mean is over the others.
    """

    name: str
    merged: MergedCodes
    table: PairTable
    strength: float

    @cached_property
    def log_table(self) -> Floats:
        """``(slots, slots, classes)``: what a slot adds beside a super-parent's, and beside itself log p(u | class)."""
        joint, alone, strength = self.table.joint, self.alone, self.strength
        logs = np.zeros((*joint.shape[1:], padded_classes(len(joint))))
        for k in range(len(joint)):
            within = joint[k] + strength * alone[k]
            np.log(within, out=within)
            within -= np.log(np.diagonal(joint[k]) + strength)[:, None]
            logs[:, :, k] = within
        slots = np.arange(joint.shape[1])
        logs[slots, slots, : len(joint)] = np.log(alone.T)
        return logs

    @property
    def alone(self) -> Floats:
        """p(x_j | class) of each slot, ``(classes, slots)``."""
        spare = np.repeat(self.table.spare, self.merged.sizes)
        return (np.diagonal(self.table.joint, axis1=1, axis2=2) + 0.5) / (self.table.rows[:, None] + spare)

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        return self._by_table(self.merged.slots(binned.codes), kernels)

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        slots = self.merged.slots(binned.codes)
        scores = self._by_table(slots, kernels)
        own = kernels.own_pair_scores(slots, classes, weight, self.table, self.strength)
        return put_mean(scores, slots, classes, weight, own, kernels)

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        slots = self.merged.slots(binned.codes)[0]
        given = slots >= 0
        here = slots[given]
        scores, rest = averaged(self.log_table[np.ix_(here, here)][..., : len(self.table.rows)])
        return ViewContributions(self.merged.columns[given], scores, rest)

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        from .updated import updated_counts

        return updated_counts(self, cases, sign, kernels)

    def with_table(self, table: PairTable) -> OneDependence:
        """Return the view with other counts."""
        return replace(self, table=table)

    def of_class(self, k: int) -> OneDependence:
        """Return the view of one class."""
        table = self.table
        return self.with_table(PairTable(table.joint[k : k + 1], table.rows[k : k + 1], table.spare))

    def scores_by_counts(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        """Return scores under the only class, ``(rows,)``, without a table of logarithms."""
        slots = self.merged.slots(binned.codes)
        none = np.zeros(len(slots), dtype=np.int32), np.zeros(len(slots))
        scores = kernels.own_pair_scores(slots, *none, self.table, self.strength)
        return take_mean(scores[:, None], slots)[:, 0]

    def _by_table(self, slots: Positions, kernels: Kernels) -> Floats:
        scores = kernels.joint_scores(slots, slots, self.log_table, len(self.table.rows))
        return take_mean(scores, slots)


def take_mean(scores: Floats, parents: Positions) -> Floats:
    """Scores as logarithms of means over the parents that are given, in place; from logarithms of sums."""
    scores -= _log_numbers(parents)
    return scores


def put_mean(
    scores: Floats, parents: Positions, classes: Positions, weight: Floats, own: Floats, kernels: Kernels
) -> Floats:
    """Scores with those under the own class replaced by means of such sums, in place."""
    numbers = _log_numbers(parents)
    by_class = np.zeros(scores.shape[1])
    if isinstance(numbers, float):
        by_class -= numbers
    else:
        own = own - numbers[:, 0]
    kernels.put_own(scores, classes, weight, own, by_class)
    return scores


def _log_numbers(parents: Positions) -> Floats | float:
    """Return the log number of parents of each row: one number for all, or ``(rows, 1)``."""
    if parents.min(initial=0) >= 0:
        return float(np.log(parents.shape[1]))
    return np.asarray(np.log(np.maximum((parents >= 0).sum(axis=1, keepdims=True), 1)))


def one_dependence(
    name: str,
    maps: Sequence[Array],
    cases: LabeledRows,
    log_prior: Floats,
    kernels: Kernels,
    order_of_columns: Array | None = None,
) -> OneDependence | None:
    """Learned from rows, their codes merged by ``maps``; None where there are not two columns to see together.

    Where the table of counts would be too large, the first of ``order_of_columns`` are used, as many as fit. The
    strength is the one by which rows left out are predicted best.
    """
    order = np.arange(len(maps)) if order_of_columns is None else order_of_columns
    merged = MergedCodes.within(maps, order, np.sqrt(MOST_CELLS / padded_classes(len(log_prior))))
    if len(merged.columns) < 2:
        return None
    table = _counted(merged, cases, len(log_prior), kernels)

    def left_out(strength: float, few: LabeledRows) -> Floats:
        rows, n_columns = few.binned, len(merged.columns)
        if table.joint.size <= len(few.classes) * n_columns**2 * len(log_prior):
            return OneDependence(name, merged, table, strength).left_out(rows, few.classes, few.weight, kernels)
        # A table of logarithms that is larger than what the few rows ask of it.
        slots = merged.slots(rows.codes)
        return few.under_each_class(
            len(log_prior), lambda classes, weight: kernels.own_pair_scores(slots, classes, weight, table, strength)
        )

    return OneDependence(name, merged, table, least_loss(_STRENGTHS, left_out, cases, log_prior))


def _counted(merged: MergedCodes, cases: LabeledRows, n_classes: int, kernels: Kernels) -> PairTable:
    slots, n_slots = merged.slots(cases.binned.codes), int(merged.offsets[-1])
    joint = kernels.joint_counts(slots, slots, cases.classes, cases.case_weight, (n_classes, n_slots, n_slots))
    rows = np.bincount(cases.classes, cases.case_weight, minlength=n_classes).astype(np.float64, copy=False)
    # Half a row for each code but the unseen one, which takes its share from the others.
    return PairTable(joint, rows, 0.5 * (merged.sizes - 1))
