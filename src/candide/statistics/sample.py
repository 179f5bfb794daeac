"""A sample of training rows: all of them while they fit, then those with the smallest hashes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..data.columns import Columns
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from .base import ROUNDING, Budget, Deferred, move_classes, never_learned, refuse_above, subtract
from .duplicates import Observations, observations
from .hashing import ABOVE_ALL, group_of, in_groups, row_hashes
from .kept_rows import Kept, joined, may_change, row_bytes, stored, with_rows, without_rows

# Number of rows considered for the first threshold, as a multiple of the rows that fit if all are distinct.
_OVERSAMPLING = 1.25
# Up to this many rows are added or removed one by one.
_FEW = 64


class Entries(NamedTuple):
    """Class, hash, weight and multiplicity of each distinct row and weight."""

    classes: Positions
    hashes: Hashes
    weight: Floats
    multiplicity: Array

    def take(self, places: Array) -> Entries:
        return Entries._make(part[places] for part in self)

    def with_more(self, places: Array, more: Entries) -> Entries:
        """Insert entries before those at ``places``."""
        pairs: Iterable[tuple[Array, Array]] = zip(self, more, strict=True)
        return Entries(*(np.insert(mine, places, theirs) for mine, theirs in pairs))

    def followed_by(self, other: Entries) -> Entries:
        return Entries(*(np.concatenate([mine, theirs]) for mine, theirs in zip(self, other, strict=True)))


class Thresholds(NamedTuple):
    """Hashes below which rows are kept: those of each class, and those of all classes."""

    floor: Hashes  # (classes,)
    overall: np.uint64

    @classmethod
    def unlimited(cls, n_classes: int) -> Thresholds:
        return cls(np.full(n_classes, ABOVE_ALL), ABOVE_ALL)

    @property
    def by_class(self) -> Hashes:
        """The hash below which all rows of a class are kept."""
        return np.maximum(self.floor, self.overall)

    def lower(self, other: Thresholds) -> Thresholds:
        """Return the lower of the thresholds of two samples, below which both are complete."""
        return Thresholds(np.minimum(self.floor, other.floor), min(self.overall, other.overall))

    def within(self, bounds: Hashes) -> Thresholds:
        """Return the thresholds limited by these bounds, one per class, below which the sample is complete."""
        return Thresholds(np.minimum(self.floor, bounds), min(self.overall, bounds.min(initial=ABOVE_ALL)))

    def of_classes_with(self, rows: Floats) -> Thresholds:
        """Return the thresholds, reset for classes without rows, and for all if no row is left."""
        return Thresholds(np.where(rows > 0, self.floor, ABOVE_ALL), self.overall if rows.any() else ABOVE_ALL)

    def is_below(self, other: Thresholds) -> bool:
        """Return whether some threshold is lower than that of another sample."""
        return bool((self.floor < other.floor).any() or self.overall < other.overall)


@dataclass(frozen=True)
class Sample:
    """Every distinct row and weight whose hash lies below a threshold, with its multiplicity.

    A row is kept if its hash is below the floor of its class, or below the threshold of all classes. Both depend only
    on the set of rows and on ``budget``, so the sample does not depend on the order of the rows or on how they are
    divided into batches. Let ``c_k(t)`` be the cost of the distinct rows of class k whose hash is at most t, and
    ``c_k`` that of all of them.

    - If all rows together cost no more than the budget, all are kept, and there is no threshold.
    - Half of the budget is shared by the classes: ``level`` solves ``sum_k min(c_k, level) = budget / 2``. A class that
      costs less is kept completely, and the remainder is available to the others. The floor of another class is the
      smallest hash t with ``c_k(t) > level``.
    - The other half is shared by the rows: the threshold of all classes is the smallest hash t with
      ``sum_k max(0, c_k(t) - level) > budget / 2``.

    A sample therefore never exceeds its budget, regardless of the number of classes. Every class has its share, and
    beyond that, rows of all classes are kept with the same probability. (Less than one row of the share of each class
    stays unused, which is up to half of the budget if there are more classes than fit into it. If dense and sparse rows
    are merged, a sample may exceed a budget in bytes, because the size of a row differs between the two forms.)

    **Merging.** Both sums increase as rows are added, the second one also as ``level`` decreases. So ``level`` and all
    thresholds can only decrease when rows are added. The thresholds of a union are at most those of its parts, and each
    part contains all of its rows below its thresholds, so the parts contain all rows that determine the new thresholds.
    The total cost of a class with a floor is unknown. It exceeds the level of its part, hence the new level, and beyond
    that its value does not matter. A class that is added later had no rows before, so it had no floor.

    **Forgetting** does not change thresholds until a class, or the whole sample, is empty, because the rows above them
    were dropped. So a sample may be smaller than the sample of the remaining rows. A row must be forgotten with its
    current weight. **Discounting** only changes weights. If budgets differ, the smaller one applies
    (``Budget.minimum``).

    The kept rows of a class are those with the smallest hashes, so each represents the same number of rows of its class
    (``case_weight``). Rows of one group share the upper half of their hashes (``grouped``), so that groups are kept as
    a whole, except for the group at a threshold. Entries are sorted by class, hash and weight. Rows are identified by
    their hashes: among a million rows, the probability of a collision is one in ten million.

    >>> from candide.kernels.layouts import Dense
    >>> X = Dense.of(np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 3.0]]))
    >>> sample = Sample.of(X, np.array([0, 0, 0]), None, n_classes=1, budget=Budget(2, "rows"))
    >>> sample.data.floats(), sample.multiplicity
    (array([[1., 0.],
           [2., 3.]]), array([2, 1]))
    >>> one = Sample.of(X, np.array([0, 0, 0]), None, n_classes=1, budget=Budget(20))
    >>> one.multiplicity, one.rows, one.case_weight(one.rows)
    (array([2]), array([3.]), array([3.]))
    """

    rows: Floats
    thresholds: Thresholds
    budget: Budget
    entries: Entries
    data: Kept
    grouped: bool = False  # whether some rows were learned as rows of a group

    @classmethod
    def of(
        cls, data: Kept | Columns, classes: Positions, weight: Floats | None, n_classes: int, budget: Budget,
        below: Hashes | None = None, groups: Hashes | None = None,
    ) -> Sample:  # fmt: skip
        """Return the sample of a batch. Rows without weight are ignored.

        ``below``: for each class, the hash from which the sample that this one will be merged into keeps no rows.
        ``groups``: the hash of each row's group, or 0 (``group_hashes``).
        """
        weight = np.ones(len(classes)) if weight is None else weight
        rows = _class_weight(classes, weight, n_classes)
        once = np.ones(len(classes), dtype=np.int64)
        hashes = in_groups(row_hashes(data), groups)
        entries = Entries(classes.astype(np.int32, copy=False), hashes, weight, once)
        costs = _costs_of(data, budget)
        thresholds = _upper_bounds(entries, costs, n_classes, budget)
        thresholds = thresholds if below is None else thresholds.within(below)
        return _within_budget(rows, thresholds, budget, entries, data, groups is not None, costs)

    @cached_property
    def threshold(self) -> Hashes:
        """The hash below which all rows of a class are kept."""
        return self.thresholds.by_class

    @property
    def classes(self) -> Positions:
        """The class of each entry."""
        return self.entries.classes

    @property
    def weight(self) -> Floats:
        """The weight of one copy of each entry."""
        return self.entries.weight

    @property
    def multiplicity(self) -> Array:
        """The number of copies of each entry."""
        return self.entries.multiplicity

    @cached_property
    def observations(self) -> Observations:
        """Distinct rows, with copies merged into their weight."""
        return observations(self)

    @cached_property
    def groups(self) -> Array | None:
        """The group of each of ``observations``; None if no rows were learned in groups."""
        if not self.grouped:
            return None
        own = group_of(self.entries.hashes[self.observations.places])
        return np.asarray(np.unique(own, return_inverse=True)[1])

    @cached_property
    def row_hashes(self) -> Hashes:
        """The hash of each entry, regardless of its group."""
        return row_hashes(self.data) if self.grouped else self.entries.hashes

    @property
    def is_complete(self) -> bool:
        """Whether all rows are kept."""
        return bool((self.threshold == ABOVE_ALL).all())

    @property
    def is_empty(self) -> bool:
        """Whether the sample is empty: no rows, or all larger than the budget."""
        return not len(self.classes)

    def represented(self) -> Floats:
        """Return the weight of the rows in the sample, per class."""
        return _class_weight(self.classes, self.weight * self.multiplicity, len(self.rows))

    def case_weight(self, rows: Floats) -> Floats:
        """Return the weight of all copies of each entry, scaled to the ``rows`` of its class."""
        return self.weight * self.multiplicity * self._scale(rows)

    def _scale(self, rows: Floats) -> Floats:
        return np.asarray(rows[self.classes] / self.represented()[self.classes])

    def observed_weight(self, rows: Floats) -> Floats:
        """Return the weight of each of ``observations``, scaled to the ``rows`` of its class."""
        places, weight, multiplicity = self.observations
        return weight * multiplicity * self._scale(rows)[places]

    def copies_per_row(self) -> Floats:
        """Return the weight of an independent observation relative to a row, the weighted mean by class."""
        places, weight, multiplicity = self.observations
        rows = _class_weight(self.classes, self.weight**2 * self.multiplicity, len(self.rows))
        observed = _class_weight(self.classes[places], weight**2 * multiplicity, len(self.rows))
        return np.divide(observed, rows, out=np.ones_like(rows), where=rows > 0)

    @cached_property
    def has_copies(self) -> bool:
        """Whether some rows are copies of others."""
        return int(self.observations.multiplicity.sum()) < int(self.multiplicity.sum())

    def copied_weight(self, classes: Positions, hashes: Hashes) -> tuple[Floats, Array]:
        """Return the weight of all copies of rows of these classes and hashes, and their positions among the entries.

        For rows that are not in the sample, or have no copies there, return 0 and -1.
        """
        places, weight, multiplicity = self.observations
        entries = self.entries.take(places)
        copied = np.flatnonzero((weight != entries.weight) | (multiplicity != entries.multiplicity))
        out, at = np.zeros(len(classes)), np.full(len(classes), -1)
        for k in np.unique(entries.classes[copied]).tolist():
            own, queried = copied[entries.classes[copied] == k], np.flatnonzero(classes == k)
            near = own[np.minimum(np.searchsorted(entries.hashes[own], hashes[queried]), len(own) - 1)]
            found = entries.hashes[near] == hashes[queried]
            out[queried[found]], at[queried[found]] = weight[near[found]], places[near[found]]
        return out, at

    def merge(self, other: Sample) -> Sample:
        quick = self._with_few(other, 1)
        if quick is not None:
            return quick
        return _within_budget(
            self.rows + other.rows,
            self.thresholds.lower(other.thresholds),
            self.budget.minimum(other.budget),
            self.entries.followed_by(other.entries),
            joined(self.data, other.data),
            self.grouped or other.grouped,
        )

    def in_same_groups(self, other: Sample) -> Sample:
        """Return another sample, whose rows are included in this one, with the groups of this one."""
        if not self.grouped or other.grouped:
            return other
        known = np.flatnonzero(np.isin(self.row_hashes, other.entries.hashes))
        left = dict(zip(known.tolist(), self.multiplicity[known].tolist(), strict=True))
        by_row: dict[tuple[int, int], list[int]] = {}
        for j in left:
            by_row.setdefault((int(self.classes[j]), int(self.row_hashes[j])), []).append(j)
        found: list[tuple[int, int, int]] = []  # place, hash and number of copies
        for i, (k, own, weight, n_left) in enumerate(zip(*(part.tolist() for part in other.entries), strict=True)):
            for j in by_row.get((k, own), ()):
                taken = min(n_left, left[j]) if abs(self.weight[j] - weight) <= ROUNDING * weight else 0
                if taken:
                    found.append((i, int(self.entries.hashes[j]), taken))
                    n_left, left[j] = n_left - taken, left[j] - taken
            if n_left:
                found.append((i, own, n_left))
        places, hashes, copies = (np.array(part, dtype=np.uint64) for part in zip(*found, strict=True))
        rows = places.astype(np.int64)
        entries = other.entries.take(rows)._replace(hashes=hashes, multiplicity=copies.astype(np.int64))
        return _within_budget(other.rows, other.thresholds, other.budget, entries, stored(other.data, rows), True)

    def forget(self, other: Sample) -> Sample:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        quick = self._with_few(other, -1)
        if quick is not None:
            after = replace(quick, rows=rows)
            refuse_above(after.represented()[:, None], rows, self.rows, "the weight of the rows outside the sample")
            return after
        gone = other.entries._replace(multiplicity=-other.multiplicity)
        thresholds = self.thresholds.lower(other.thresholds)
        after = _within_budget(rows, thresholds, self.budget, self.entries.followed_by(gone), self.data, self.grouped)
        refuse_above(after.represented()[:, None], rows, self.rows, "the weight of the rows outside the sample")
        return after

    def _with_few(self, other: Sample, sign: int) -> Sample | None:
        """Return the sample after adding or removing a few rows, without sorting again; or None."""
        same = self.budget == other.budget and not other.thresholds.is_below(self.thresholds)
        if not same or len(other.classes) > _FEW or not len(self.classes) or not may_change(self.data, other.data):
            return None
        rows = self.rows + sign * other.rows
        if ((rows <= 0) & (self.rows > 0)).any():
            return None  # a class that becomes empty has no threshold anymore
        below = np.flatnonzero(other.entries.hashes < self.threshold[other.classes])
        places, known = _places_among(self.entries, other.entries.take(below))
        multiplicity = self.multiplicity.copy()
        np.add.at(multiplicity, places[known], sign * other.multiplicity[below[known]])
        if (multiplicity[places[known]] < 0).any() or (sign < 0 and not known.all()):
            raise never_learned("the number of copies of a row")
        entries, data = self.entries._replace(multiplicity=multiplicity), self.data
        gone, joining = places[known][multiplicity[places[known]] == 0], below[~known]
        if len(gone):
            kept = np.delete(np.arange(len(self.classes)), gone)
            entries, data = entries.take(kept), without_rows(data, gone)
        elif len(joining):
            more = other.entries.take(joining)
            entries = entries.with_more(places[~known], more)
            data = with_rows(data, places[~known], other.data, joining)
            if _lowered(self.thresholds, entries, _costs_of(data, self.budget), self.budget).is_below(self.thresholds):
                return None
        return Sample(rows, self.thresholds, self.budget, entries, data, self.grouped or other.grouped)

    def discount(self, factor: float) -> Sample:
        entries = self.entries._replace(weight=self.weight * factor)
        return _within_budget(self.rows * factor, self.thresholds, self.budget, entries, self.data, self.grouped)

    def reindex(self, positions: Array, size: int) -> Sample:
        floor = np.full(size, ABOVE_ALL)
        floor[positions[positions >= 0]] = self.thresholds.floor[positions >= 0]
        entries = self.entries._replace(classes=positions[self.classes].astype(np.int32))
        rows, thresholds = move_classes(self.rows, positions, size), self.thresholds._replace(floor=floor)
        return _within_budget(rows, thresholds, self.budget, entries, self.data, self.grouped)


class DeferredSample(Deferred, Sample):
    """A ``Sample`` that is read from the model file when it is used; predictions only need ``copies``."""

    plain = Sample

    def copies_per_row(self) -> Floats:
        known: Floats | None = vars(self).get("copies")
        return super().copies_per_row() if known is None else known

    @property
    def is_empty(self) -> bool:
        """Always False, because only large samples are deferred."""
        return False


def _class_weight(classes: Positions, weight: Floats, n_classes: int) -> Floats:
    return np.bincount(classes, weight, minlength=n_classes).astype(np.float64, copy=False)


def _within_budget(
    rows: Floats, thresholds: Thresholds, budget: Budget, entries: Entries, data: Kept | Columns, grouped: bool,
    costs: Array | None = None,
) -> Sample:  # fmt: skip
    """Return the sample of unsorted entries, some with negative weights; ``data`` contains the kept rows.

    ``costs``: those of all rows, if they are known.
    """
    places, entries = _counted(entries, _admitted(entries, thresholds.by_class))
    costs = _costs_of(data, budget) if costs is None else costs
    thresholds = _lowered(thresholds, entries, costs[places], budget)
    kept = _admitted(entries, thresholds.by_class)
    thresholds = thresholds.of_classes_with(rows)
    return Sample(rows, thresholds, budget, entries.take(kept), stored(data, places[kept]), grouped)


def _upper_bounds(entries: Entries, costs: Array, n_classes: int, budget: Budget) -> Thresholds:
    """Return upper bounds of the thresholds from the smallest hashes only, because sorting all hashes is slow."""
    unlimited = Thresholds.unlimited(n_classes)
    total = _class_costs(entries.classes, costs, n_classes)
    if total.sum() <= _OVERSAMPLING * budget.size:
        return unlimited
    level, share = sampling_rates(total, budget.size)
    shares = np.maximum(level / np.maximum(total, 1), share)
    few = _admitted(entries, (np.minimum(_OVERSAMPLING * shares, 1) * ABOVE_ALL).astype(np.uint64))
    places, distinct = _counted(entries, few)
    return _lowered(unlimited, distinct, costs[places], budget)


def _admitted(entries: Entries, threshold: Hashes) -> Array:
    """Return which entries have a class and a weight, and are below the threshold."""
    below = entries.hashes < threshold[entries.classes]
    return np.flatnonzero(below & (entries.classes >= 0) & (entries.weight > 0))


def _counted(entries: Entries, places: Array) -> tuple[Array, Entries]:
    """Merge equal entries at ``places``, in order; also return the first position of each."""
    entries = entries.take(places)
    order = np.lexsort((entries.weight, entries.hashes, entries.classes))
    entries = entries.take(order)
    begins = np.flatnonzero(_is_new(entries))
    multiplicity = np.add.reduceat(entries.multiplicity, begins)
    if (multiplicity < 0).any():
        raise never_learned("the number of copies of a row")
    left = multiplicity > 0
    distinct = entries.take(begins[left])._replace(multiplicity=multiplicity[left])
    return np.minimum.reduceat(places[order], begins)[left], distinct


def _places_among(entries: Entries, few: Entries) -> tuple[Array, Array]:
    """Return the position of each of a few entries among sorted ones, and whether it is there."""
    places, known = np.empty(len(few.classes), dtype=np.int64), np.zeros(len(few.classes), dtype=bool)
    for i, (k, own, weight, _) in enumerate(zip(*few, strict=True)):
        begin, end = np.searchsorted(entries.classes, [k, k + 1])
        first, last = (begin + np.searchsorted(entries.hashes[begin:end], own, side) for side in ("left", "right"))
        alike = np.abs(entries.weight[first:last] - weight) <= ROUNDING * weight
        known[i] = alike.any()
        places[i] = first + (alike.argmax() if known[i] else np.searchsorted(entries.weight[first:last], weight))
    return places, known


def _is_new(entries: Entries) -> Array:
    """Return which of the sorted entries differ from the previous one, up to rounding of weights."""
    classes, hashes, weight, _ = entries
    new = np.ones(len(classes), dtype=bool)
    heavier = np.diff(weight) > ROUNDING * weight[1:]
    new[1:] = (classes[1:] != classes[:-1]) | (hashes[1:] != hashes[:-1]) | heavier
    return new


def _lowered(thresholds: Thresholds, entries: Entries, costs: Array, budget: Budget) -> Thresholds:
    """Return the thresholds at which sorted entries are within the budget; entries of one hash stay together."""
    floor, overall = thresholds
    classes, hashes = entries.classes, entries.hashes
    total = _class_costs(classes, costs, len(floor))
    if overall == ABOVE_ALL and total.sum() <= budget.size:
        return thresholds
    left, n_sharing = _level(total, floor, budget.size // 2)
    # Costs are multiplied by the number of classes that share the level, so that all numbers are integers.
    spent = np.cumsum(costs)
    upto = spent - np.concatenate([[0], np.cumsum(total)])[classes]
    beyond = np.maximum(n_sharing * upto - left, 0)
    over = np.flatnonzero(beyond)
    floor = floor.copy()
    np.minimum.at(floor, classes[over], hashes[over])
    over = over[hashes[over] < overall]
    added = beyond[over] - np.maximum(n_sharing * (upto[over] - costs[over]) - left, 0)
    most = n_sharing * (budget.size - budget.size // 2)
    if added.sum() > most:
        order = np.argsort(hashes[over])
        overall = hashes[over[order[np.searchsorted(np.cumsum(added[order]), most, side="right")]]]
    return Thresholds(floor, overall)


def sampling_rates(total: Array, size: int) -> tuple[float, float]:
    """Return ``level`` and ``share``: a budget that is exceeded keeps about max(level / total_k, share) of class k.

    ``total``: the cost of each class.

    >>> sampling_rates(np.array([9000, 900, 100]), 1000)
    (200.0, 0.0777...)
    """
    left, n_sharing = _level(total, Thresholds.unlimited(len(total)).floor, size // 2)
    level = left / n_sharing
    # The classes of which a share costs more than the level are the largest ones.
    largest = np.cumsum(np.sort(total[total > 0])[::-1])
    shares = (size - size // 2 + level * np.arange(1, len(largest) + 1)) / largest
    return level, float(shares.min())


def _level(total: Array, floor: Hashes, shared: int) -> tuple[int, int]:
    """Return the part of the budget for the classes that cost more than the level, and the number of these classes.

    ``total``: the cost of each class, which for a class with a floor is unknown but more than the level. The level is
    the quotient of both results; if the number of classes is 0, no class has a floor.
    """
    known = np.sort(total[floor == ABOVE_ALL])
    n_sharing = len(total) - np.arange(len(known) + 1)
    left = shared - np.concatenate([[0], np.cumsum(known)])
    above = np.append(known * n_sharing[:-1] > left[:-1], True)
    return int(left[above.argmax()]), int(n_sharing[above.argmax()])


def _costs_of(data: Kept | Columns, budget: Budget) -> Array:
    return row_bytes(data) if budget.unit == "bytes" else np.ones(data.n_rows, dtype=np.int64)


def _class_costs(classes: Positions, costs: Array, n_classes: int) -> Array:
    return np.bincount(classes, costs, minlength=n_classes).astype(np.int64)
