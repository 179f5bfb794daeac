"""Views of pairs and triples after some rows: counts of the last refit, and those of classes that changed since."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..kernels import Kernels
from ..kernels.dependence import PairTable, TripleTable
from ..kernels.layouts import Array, Floats, Positions
from ..lazy_dataclass import dataclass
from ..statistics.base import ROUNDING
from .one_dependence import OneDependence
from .two_dependence import TwoDependence
from .views import BinnedRows, LabeledRows, ViewContributions

# Rows that are scored from the counts of changed classes; for more, a table of logarithms is worth its cost.
_FEW_ROWS = 256

Counted = OneDependence | TwoDependence


@dataclass(frozen=True)
class UpdatedCounts:
    """A view whose counts have changed in some classes.

    The counts of a changed class are a copy of its own, so that one row costs the counts of one class and not those of
    all; the table of logarithms of the other classes stays as it is.
    """

    base: Counted
    own: dict[int, Counted]  # by class: a view of this class alone

    @property
    def name(self) -> str:
        return self.base.name

    @cached_property
    def whole(self) -> Counted:
        """The view with all changes in its counts."""
        if isinstance(self.base, OneDependence):
            return self.base.with_table(_joined_pairs(self.base.table, self.own))
        own = {k: view for k, view in self.own.items() if isinstance(view, TwoDependence)}
        singles = _joined_pairs(self.base.table.singles, {k: view.one for k, view in own.items()})
        joint = self.base.table.joint.copy()
        for k, view in own.items():
            joint[k] = view.table.joint[0]
        return self.base.with_table(TripleTable(singles, self.base.table.columns, joint))

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        if len(binned.codes) > _FEW_ROWS:
            return self.whole.scores(binned, kernels)
        out = self.base.scores(binned, kernels)
        for k, view in self.own.items():
            out[:, k] = view.scores_by_counts(binned, kernels)
        return out

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        return self.whole.left_out(binned, classes, weight, kernels)

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        return self.whole.contributions(binned, numbers, kernels)

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> UpdatedCounts:
        return UpdatedCounts(self.base, self.own | _own(self, cases, sign, kernels))

    def of_class(self, k: int) -> Counted:
        """Return the view of one class."""
        return self.own[k] if k in self.own else self.base.of_class(k)


def updated_counts(view: Counted, cases: LabeledRows, sign: float, kernels: Kernels) -> UpdatedCounts:
    """The view with further rows (``sign`` is 1.0), or without some that it has learned (-1.0)."""
    return UpdatedCounts(view, _own(view, cases, sign, kernels))


def _own(view: Counted | UpdatedCounts, cases: LabeledRows, sign: float, kernels: Kernels) -> dict[int, Counted]:
    return {
        int(k): _with_rows(view.of_class(int(k)), cases.take(np.flatnonzero(cases.classes == k)), sign, kernels)
        for k in np.unique(cases.classes)
    }


def _with_rows(alone: Counted, cases: LabeledRows, sign: float, kernels: Kernels) -> Counted:
    """The view of one class after rows of this class."""
    one = alone if isinstance(alone, OneDependence) else alone.one
    slots, table = one.merged.slots(cases.binned.codes), one.table
    rows = _plus(table.rows, sign * cases.case_weight.sum())
    pairs = PairTable(_with_counts(table.joint, slots, slots, cases.case_weight, sign), rows, table.spare)
    if isinstance(alone, OneDependence):
        return alone.with_table(pairs)
    joint = _with_counts(alone.table.joint, alone.joint.of(slots), slots, cases.case_weight, sign)
    return alone.with_table(TripleTable(pairs, alone.table.columns, joint))


def _with_counts(joint: Floats, parents: Positions, slots: Positions, weight: Floats, sign: float) -> Floats:
    """The counts of one class, ``(1, parents, slots)``, with the weight of some rows added or subtracted."""
    out = joint.copy()
    for of_parents, of_slots, own in zip(parents, slots, weight, strict=True):
        at = np.ix_(of_parents, of_slots)
        out[0][at] = _plus(out[0][at], sign * own)
    return out


def _plus(before: Floats, more: float) -> Floats:
    """Return a sum, with rounding errors of subtraction set to 0."""
    after = np.asarray(before + more)
    after[after <= ROUNDING * before] = 0.0
    return after


def _joined_pairs(base: PairTable, own: dict[int, Counted]) -> PairTable:
    joint, rows = base.joint.copy(), base.rows.copy()
    for k, view in own.items():
        assert isinstance(view, OneDependence)
        joint[k], rows[k] = view.table.joint[0], view.table.rows[0]
    return PairTable(joint, rows, base.spare)
