"""Additive states: classes and a statistic of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.index import Index, label_type
from ..exceptions import ForgetError, InputError, ParameterError
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from ..statistics.hashing import ABOVE_ALL

if TYPE_CHECKING:
    from ..statistics import Sample


@dataclass(frozen=True)
class State:
    """Classes in sorted order, which of them were declared by the user, and the statistic of the rows.

    Declared classes are kept even without rows; other classes are removed with their last row.
    """

    classes: Index
    declared: Array  # (classes,) bool
    statistics: Any
    closed: bool = False  # whether only the declared classes are allowed
    sample: Sample | None = None  # training rows, if they are kept

    @property
    def rows(self) -> Floats:
        """Weight of the rows of each class."""
        rows: Floats = self.statistics.rows
        return rows

    def statistics_with_copies(self) -> Any:
        """Return the statistics; rows of a table have the weight of all their copies in the sample."""
        if self.sample is None or not hasattr(self.statistics, "with_copies"):
            return self.statistics
        return self.statistics.with_copies(self.sample.copies_per_row())

    def kept_below(self, classes: Index) -> Hashes | None:
        """Return the hash below which training rows of each class are kept; None if no rows are kept."""
        if self.sample is None or self.sample.grouped:
            return None  # it depends on the group whether a row is kept
        return np.append(self.sample.threshold, ABOVE_ALL)[classes.positions_in(self.classes)]

    def merge(self, other: State) -> State:
        """Return the state of both sets of rows, with classes aligned."""
        return self._plus(other, "merge")

    def _plus(self, other: State, verb: str) -> State:
        classes = join(self.classes, other.classes)
        a, b = self.among(classes), other.among(classes)
        # The result is closed only if both are.
        closed = self.closed and other.closed
        # A sample from only one of the states would not represent all rows.
        both = a.sample is not None and b.sample is not None
        sample = a.sample.merge(b.sample) if both else None  # type: ignore[union-attr, arg-type]
        plus = getattr(a.statistics, verb, a.statistics.merge)
        return State(classes, a.declared | b.declared, plus(b.statistics), closed, sample)

    def learn(self, batch: State, *, in_place: bool = False) -> State:
        """Return the state after further rows, whose classes must be known if the list of classes is fixed.

        ``in_place``: large sums may be updated in place, which invalidates this state.
        """
        if self.closed:
            _no_unseen_categories(batch.classes, self.classes)
        return replace(self._plus(batch, "absorb" if in_place else "merge"), closed=self.closed)

    def declare(self, classes: Index) -> State:
        """Return the state with a fixed list of classes."""
        _no_unseen_categories(self.classes, classes)
        return replace(self.among(classes), declared=np.ones(len(classes), dtype=bool), closed=True)

    def forget(self, other: State) -> State:
        """Return the state without rows that were added before."""
        unknown = other.classes.positions_in(self.classes) < 0
        if unknown.any():
            unknown_value = other.classes.labels[unknown].tolist()[0]
            raise ForgetError(
                f"these rows were not in the training data: class {unknown_value!r} is unknown to the model; the "
                "model is unchanged; pass only rows that the model was trained on"
            )
        gone = self.in_same_groups(other)
        left = self.statistics.forget(gone.statistics)
        sample = None if self.sample is None or gone.sample is None else self.sample.forget(gone.sample)
        return replace(self, statistics=left, sample=sample).without_empty_classes()

    def in_same_groups(self, other: State) -> State:
        """Return the state of training rows with these classes, in the groups that they had in training."""
        other = other.among(self.classes)
        if self.sample is None or other.sample is None:
            return other
        return replace(other, sample=self.sample.in_same_groups(other.sample))

    def discount(self, factor: float) -> State:
        """Return the state with all weights multiplied by ``factor``, a number between 0 and 1."""
        if not 0 <= factor <= 1:
            raise ParameterError(
                f"factor is {factor!r}; expected a number from 0 to 1, by which all weights are multiplied"
            )
        sample = None if self.sample is None else self.sample.discount(factor)
        return replace(self, statistics=self.statistics.discount(factor), sample=sample)

    def among(self, classes: Index) -> State:
        """Return the state with more classes, which must include the current ones."""
        if classes is self.classes or classes == self.classes:
            return self
        positions = self.classes.positions_in(classes)
        declared = np.zeros(len(classes), dtype=bool)
        declared[positions] = self.declared
        return replace(self._moved(positions, len(classes)), classes=classes, declared=declared)

    def _moved(self, positions: Array, size: int) -> State:
        sample = None if self.sample is None else self.sample.reindex(positions, size)
        return replace(self, statistics=self.statistics.reindex(positions, size), sample=sample)

    def without_empty_classes(self) -> State:
        """Return the state without undeclared classes of weight 0."""
        keep = self.declared | (self.rows > 0)
        if keep.all():
            return self
        if not keep.any():
            raise ForgetError(
                "forgetting these rows would leave the model without classes; the model is unchanged; create a new "
                "model instead"
            )
        positions = np.where(keep, np.cumsum(keep) - 1, -1)
        moved = self._moved(positions, int(keep.sum()))
        return replace(moved, classes=self.classes.take(keep), declared=self.declared[keep])


def join(a: Index, b: Index) -> Index:
    """Return the union of the classes; strings and numbers together, which have no order, raise an error."""
    one, other = a.labels.tolist()[0], b.labels.tolist()[0]
    if label_type(one) != label_type(other):
        raise InputError(f"the labels have different types: {one!r} and {other!r}; convert all labels to the same type")
    return a.union(b)


def _no_unseen_categories(classes: Index, declared: Index) -> None:
    strange = classes.positions_in(declared) < 0
    if strange.any():
        raise InputError(
            f"The target label(s) {classes.labels[strange]} in y do not exist in the initial classes "
            f"{declared.labels}; omit classes in partial_fit to add new ones"
        )
