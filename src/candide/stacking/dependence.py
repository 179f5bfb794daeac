"""Views of pairs and triples of columns: averaged one-dependence and two-dependence estimators (AODE, A2DE).

Every column depends on the class and on one other column (``OneDependence``) or on a pair of the most informative ones
(``TwoDependence``). ``UpdatedCounts`` is such a view after rows were added or removed: the counts of the last refit,
and new counts of classes that have changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..kernels.scoring import BACK_STRENGTH, PairTable, TripleTable, padded_classes
from ..lazy import dataclass
from ..statistics.base import ROUNDING
from .binning import MergedCodes
from .views import BinnedRows, FieldsOnlyPickle, LabeledRows, View, ViewContributions, averaged, least_loss

# Maximum number of cells of a table of counts, which take 256 MB.
MOST_CELLS = 1 << 25
_PAIR_STRENGTHS, _TRIPLE_STRENGTHS = (0.5, 2.0, 8.0), (1.0, 4.0)


@dataclass(frozen=True)
class OneDependence(FieldsOnlyPickle):
    """log of the mean over columns u of p(x_u | class) Π_j p(x_j | x_u, class), from counts of pairs of codes.

    p(x_j | x_u, class) is smoothed toward p(x_j | class) by ``strength`` rows. The mean is over the given columns u,
    and the product over the given columns j.
    """

    name: str
    merged: MergedCodes
    table: PairTable
    strength: float

    @cached_property
    def log_table(self) -> Floats:
        """Contribution of each slot given a parent's, ``(slots, slots, classes)``; log p(u | class) on the diagonal."""
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
        """Marginal p(x_j | class) of each slot, ``(classes, slots)``."""
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
        return UpdatedCounts(self, _own(self, cases, sign))

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
    """Convert logarithms of sums over the given parents to logarithms of means, in place."""
    scores -= _log_numbers(parents)
    return scores


def put_mean(
    scores: Floats, parents: Positions, classes: Positions, weight: Floats, own: Floats, kernels: Kernels
) -> Floats:
    """Replace scores under the own class by logarithms of means, in place; ``own`` are logarithms of sums."""
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
    """Fit the view to rows whose codes are merged by ``maps``; None with less than two columns.

    If the table of counts would be too large, the first columns in ``order_of_columns`` are used. The strength is
    chosen by leave-one-out log-loss.
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
        # For few rows, a table of logarithms is not worth its cost.
        slots = merged.slots(rows.codes)
        return few.under_each_class(
            len(log_prior), lambda classes, weight: kernels.own_pair_scores(slots, classes, weight, table, strength)
        )

    return OneDependence(name, merged, table, least_loss(_PAIR_STRENGTHS, left_out, cases, log_prior))


def _counted(merged: MergedCodes, cases: LabeledRows, n_classes: int, kernels: Kernels) -> PairTable:
    slots, n_slots = merged.slots(cases.binned.codes), int(merged.offsets[-1])
    joint = kernels.joint_counts(slots, slots, cases.classes, cases.case_weight, (n_classes, n_slots, n_slots))
    rows = np.bincount(cases.classes, cases.case_weight, minlength=n_classes).astype(np.float64, copy=False)
    # A pseudo-count of ½ for each code except unseen values.
    return PairTable(joint, rows, 0.5 * (merged.sizes - 1))


# Pairs with more joint slots than this are used only with at least four rows per slot.
_MODEST = 64


@dataclass(frozen=True)
class JointSlots(FieldsOnlyPickle):
    """Slots of pairs of columns, numbered consecutively, pair after pair."""

    columns: Positions  # (pairs, 2), positions among the merged columns
    merged: MergedCodes

    @cached_property
    def sizes(self) -> Array:
        """Number of joint slots of each pair."""
        return np.asarray(self.merged.sizes[self.columns].prod(axis=1))

    @cached_property
    def offsets(self) -> Array:
        """First slot of each pair, and the total number of slots."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def of(self, slots: Positions) -> Positions:
        """Return joint slots, ``(rows, pairs)``, from the slots of columns; -1 if one of the two is not given."""
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

    p(x_j | x_s, x_t, class) is smoothed by ``strength`` rows toward the mean of p(x_j | x_s, class) and p(x_j | x_t,
    class). Columns that are not given are ignored, in pairs and as j; without any pair, the scores are 0.
    """

    name: str
    one: OneDependence
    joint: JointSlots
    table: TripleTable
    strength: float

    @cached_property
    def log_table(self) -> Floats:
        """Contribution of each slot given the joint slot of a pair, ``(joint slots, slots, classes)``."""
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
        return UpdatedCounts(self, _own(self, cases, sign))

    def with_table(self, table: TripleTable) -> TwoDependence:
        """Return the view with other counts."""
        return replace(self, one=self.one.with_table(table.singles), table=table)

    def of_class(self, k: int) -> TwoDependence:
        """Return the view of one class."""
        one, table = self.one.of_class(k), self.table
        return self.with_table(TripleTable(one.table, table.columns, table.joint[k : k + 1]))

    def scores_by_counts(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        """Return scores under the only class, ``(rows,)``, without a table of logarithms."""
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
    """Fit the view to the rows of ``one``; parents are pairs of its best columns.

    Return None if there is no third column, or if all pairs have too many joint slots for the number of rows.
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

    return TwoDependence(name, one, joint, table, least_loss(_TRIPLE_STRENGTHS, left_out, cases, log_prior))


def _affordable(one: OneDependence, best_columns: Array, n_rows: int) -> JointSlots:
    """Return pairs of columns with few enough joint slots, the best first, as many as fit in memory."""
    merged, n_classes = one.merged, padded_classes(len(one.table.rows))
    places = [int(np.flatnonzero(merged.columns == j)[0]) for j in best_columns if j in merged.columns]
    pairs = [pair for pair in combinations(places, 2) if merged.sizes[list(pair)].prod() <= max(_MODEST, n_rows / 4)]
    sizes = np.array([merged.sizes[list(pair)].prod() for pair in pairs], dtype=np.int64)
    fit = np.cumsum(sizes) * int(merged.offsets[-1]) * n_classes <= MOST_CELLS
    return JointSlots(np.array(pairs, dtype=np.int32).reshape(-1, 2)[fit], merged)


class _Singles(NamedTuple):
    """Counts of single columns and pairs; the first axis of arrays is the class."""

    pairs: PairTable
    alone: Floats  # (classes, slots)
    strength: float

    def logs(self, joint: Floats, one: slice, other: slice) -> Floats:
        """Return logs for two parent columns, ``(classes, joint slots, slots)``.

        Those of the first include log p(u | class).
        """
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
        """Return p(x_j | x_s, class) for the slots of column s and all slots."""
        rows = np.diagonal(self.pairs.joint, axis1=1, axis2=2)[:, column, None] + BACK_STRENGTH
        return np.asarray((self.pairs.joint[:, column] + BACK_STRENGTH * self.alone[:, None, :]) / rows)


# Maximum number of rows scored directly from the counts of changed classes; for more, a table of logarithms is faster.
_FEW_ROWS = 256

DependenceView = OneDependence | TwoDependence


@dataclass(frozen=True)
class UpdatedCounts:
    """A view whose counts have changed in some classes.

    A changed class has its own copy of the counts, so an update with one row only copies the counts of one class, and
    the table of logarithms of the other classes is reused.
    """

    base: DependenceView
    own: dict[int, DependenceView]  # by class: a view of this class alone

    @property
    def name(self) -> str:
        return self.base.name

    @cached_property
    def whole(self) -> DependenceView:
        """The view with all changes applied to its counts."""
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
        return UpdatedCounts(self.base, self.own | _own(self, cases, sign))

    def of_class(self, k: int) -> DependenceView:
        """Return the view of one class."""
        return self.own[k] if k in self.own else self.base.of_class(k)


def _own(view: DependenceView | UpdatedCounts, cases: LabeledRows, sign: float) -> dict[int, DependenceView]:
    return {
        int(k): _with_rows(view.of_class(int(k)), cases.take(np.flatnonzero(cases.classes == k)), sign)
        for k in np.unique(cases.classes)
    }


def _with_rows(alone: DependenceView, cases: LabeledRows, sign: float) -> DependenceView:
    """Return the view of one class after rows of this class were added or removed."""
    one = alone if isinstance(alone, OneDependence) else alone.one
    slots, table = one.merged.slots(cases.binned.codes), one.table
    rows = _plus(table.rows, sign * cases.case_weight.sum())
    pairs = PairTable(_with_counts(table.joint, slots, slots, cases.case_weight, sign), rows, table.spare)
    if isinstance(alone, OneDependence):
        return alone.with_table(pairs)
    joint = _with_counts(alone.table.joint, alone.joint.of(slots), slots, cases.case_weight, sign)
    return alone.with_table(TripleTable(pairs, alone.table.columns, joint))


def _with_counts(joint: Floats, parents: Positions, slots: Positions, weight: Floats, sign: float) -> Floats:
    """Return the counts of one class, ``(1, parents, slots)``, after adding or subtracting the weight of rows."""
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


def _joined_pairs(base: PairTable, own: dict[int, DependenceView]) -> PairTable:
    joint, rows = base.joint.copy(), base.rows.copy()
    for k, view in own.items():
        assert isinstance(view, OneDependence)
        joint[k], rows[k] = view.table.joint[0], view.table.rows[0]
    return PairTable(joint, rows, base.spare)
