"""Weight, mean and scatter per class and column; never raw sums of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .base import move_classes, never_learned, refuse_above, subtract

# Rows that take away more than this multiple of the scatter there is were never in it. It is no closer to 1 because
# forgetting an extreme value leaves rounding in the scatter of the others.
_IMPOSSIBLE = 2.0


@dataclass(frozen=True)
class Moments:
    """``scatter`` is the sum of squared deviations from the class's mean. Merged by Chan's formula.

    >>> a = Moments(np.array([2.0]), np.array([[2.0]]), np.array([[1.0]]), np.array([[2.0]]))
    >>> b = Moments(np.array([1.0]), np.array([[1.0]]), np.array([[4.0]]), np.array([[0.0]]))
    >>> a.merge(b).mean, a.merge(b).scatter
    (array([[2.]]), array([[8.]]))
    """

    rows: Floats
    weight: Floats
    mean: Floats
    scatter: Floats

    def merge(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        # A side without weight leaves the other as it is, bit for bit.
        mean = np.where(self.weight > 0, self.mean + delta * share, other.mean)
        between = np.where((self.weight > 0) & (other.weight > 0), delta * delta * (self.weight * share), 0.0)
        mean = np.where(other.weight > 0, mean, self.mean)
        return Moments(self.rows + other.rows, weight, mean, self.scatter + other.scatter + between)

    def forget(self, other: Moments) -> Moments:
        after = self.without(other)
        refuse_scatter(self, other, after)
        return after

    def without(self, other: Moments) -> Moments:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        weight = subtract(self.weight, other.weight, "the weight of a column")
        refuse_above(weight, rows, self.rows, "the number of missing cells")
        left = weight > 0
        ratio = np.divide(other.weight, weight, out=np.zeros_like(weight), where=left)
        mean = np.where(left, self.mean + (self.mean - other.mean) * ratio, 0.0)
        share = np.divide(weight, self.weight, out=np.zeros_like(weight), where=self.weight > 0)
        # Numbers near the end of their range have scatters beyond it.
        with np.errstate(over="ignore", invalid="ignore"):
            between = (other.mean - mean) ** 2 * (other.weight * share)
            scatter = np.where(left, np.maximum(self.scatter - other.scatter - between, 0.0), 0.0)
        untouched = other.weight == 0
        return Moments(rows, weight, np.where(untouched, self.mean, mean), np.where(untouched, self.scatter, scatter))

    def lost_digits(self, before: Moments) -> bool:
        return bool(((self.scatter <= 1e-4 * before.scatter) & (before.scatter > 0) & (self.weight > 0)).any())

    def take(self, classes: Array) -> Moments:
        return Moments(*(part[classes] for part in self.arrays().values()))

    def together(self) -> Moments:
        weight, mean, variance = (part[None] for part in self.pooled())
        return Moments(self.rows.sum(keepdims=True), weight, mean, variance * weight)

    def only(self, j: int) -> Moments:
        return Moments(self.rows, self.weight[:, [j]], self.mean[:, [j]], self.scatter[:, [j]])

    def discount(self, factor: float) -> Moments:
        return Moments(self.rows * factor, self.weight * factor, self.mean, self.scatter * factor)

    def reindex(self, positions: Array, size: int) -> Moments:
        return Moments(*(move_classes(part, positions, size) for part in self.arrays().values()))

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weight, mean and variance of each column over all classes together."""
        weight = self.weight.sum(axis=0)
        share = np.divide(self.weight, weight, out=np.zeros_like(self.weight), where=weight > 0)
        # Deviations from the first class that has data, so that a large offset costs no digits.
        first = self.mean[(self.weight > 0).argmax(axis=0), np.arange(len(weight))]
        mean = first + (share * (self.mean - first)).sum(axis=0)
        within = np.divide(self.scatter.sum(axis=0), weight, out=np.zeros_like(weight), where=weight > 0)
        return weight, mean, within + (share * (self.mean - mean) ** 2).sum(axis=0)

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "weight": self.weight, "mean": self.mean, "scatter": self.scatter}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Moments:
        return cls(**arrays)


def refuse_scatter(before: Moments, removed: Moments, after: Moments) -> None:
    """Raises if the removed rows have more scatter, within them and around the mean, than all rows had."""
    share = np.divide(after.weight, before.weight, out=np.zeros_like(after.weight), where=before.weight > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        around = removed.weight * share * (removed.mean - after.mean) ** 2
        all_gone = removed.weight * (removed.mean - before.mean) ** 2
        needed = removed.scatter + np.where(after.weight > 0, around, all_gone)
        rounding = 1e-9 * before.weight * before.mean**2
        impossible = needed > _IMPOSSIBLE * before.scatter + rounding
    if (impossible & (removed.weight > 0)).any():
        raise never_learned("the variance of a column")
