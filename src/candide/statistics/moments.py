"""Weight, mean and scatter by class and column, without raw sums of squares, which would lose precision."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from .base import move_classes, never_learned, refuse_above, subtract

# Forgotten rows whose scatter exceeds the existing one by this factor were never learned. The factor is not closer to 1
# because forgetting an extreme value leaves rounding errors in the scatter of the others.
_IMPOSSIBLE = 2.0


@dataclass(frozen=True)
class _ByClass:
    """Weights, means and scatters; classes are the first axis."""

    rows: Floats
    weight: Floats
    mean: Floats
    scatter: Floats

    def take(self, classes: Array) -> Self:
        return type(self)(*(part[classes] for part in vars(self).values()))

    def discount(self, factor: float) -> Self:
        return type(self)(self.rows * factor, self.weight * factor, self.mean, self.scatter * factor)

    def reindex(self, positions: Array, size: int) -> Self:
        return type(self)(*(move_classes(part, positions, size) for part in vars(self).values()))


@dataclass(frozen=True)
class Moments(_ByClass):
    """``scatter`` is the sum of squared deviations from the class's mean. Merged by Chan's formula.

    >>> a = Moments(np.array([2.0]), np.array([[2.0]]), np.array([[1.0]]), np.array([[2.0]]))
    >>> b = Moments(np.array([1.0]), np.array([[1.0]]), np.array([[4.0]]), np.array([[0.0]]))
    >>> a.merge(b).mean, a.merge(b).scatter
    (array([[2.]]), array([[8.]]))
    """

    def merge(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        # If one side has no weight, the other is unchanged, bit for bit.
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
        # The scatter of numbers near the largest double overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            between = (other.mean - mean) ** 2 * (other.weight * share)
            scatter = np.where(left, np.maximum(self.scatter - other.scatter - between, 0.0), 0.0)
        untouched = other.weight == 0
        return Moments(rows, weight, np.where(untouched, self.mean, mean), np.where(untouched, self.scatter, scatter))

    def lost_digits(self, before: Moments) -> bool:
        return bool(((self.scatter <= 1e-4 * before.scatter) & (before.scatter > 0) & (self.weight > 0)).any())

    @property
    def n_columns(self) -> int:
        return int(self.mean.shape[1])

    def together(self) -> Moments:
        weight, mean, variance = (part[None] for part in self.pooled())
        return Moments(self.rows.sum(keepdims=True), weight, mean, variance * weight)

    def only(self, j: int) -> Moments:
        return Moments(self.rows, self.weight[:, [j]], self.mean[:, [j]], self.scatter[:, [j]])

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Return weight, mean and variance of each column over all classes together."""
        weight = self.weight.sum(axis=0)
        share = np.divide(self.weight, weight, out=np.zeros_like(self.weight), where=weight > 0)
        # Deviations from the first class with data, so that a large offset does not lose precision.
        first = self.mean[(self.weight > 0).argmax(axis=0), np.arange(len(weight))]
        mean = first + (share * (self.mean - first)).sum(axis=0)
        within = np.divide(self.scatter.sum(axis=0), weight, out=np.zeros_like(weight), where=weight > 0)
        return weight, mean, within + (share * (self.mean - mean) ** 2).sum(axis=0)


def refuse_scatter(before: Moments, removed: Moments, after: Moments) -> None:
    """Raise an error if the removed rows have more scatter, within them and around the mean, than all rows."""
    share = np.divide(after.weight, before.weight, out=np.zeros_like(after.weight), where=before.weight > 0)
    with np.errstate(over="ignore", invalid="ignore"):
        around = removed.weight * share * (removed.mean - after.mean) ** 2
        all_gone = removed.weight * (removed.mean - before.mean) ** 2
        needed = removed.scatter + np.where(after.weight > 0, around, all_gone)
        rounding = 1e-9 * before.weight * before.mean**2
        impossible = needed > _IMPOSSIBLE * before.scatter + rounding
    if (impossible & (removed.weight > 0)).any():
        raise never_learned("the variance of a column")


@dataclass(frozen=True)
class BlockMoments(_ByClass):
    """``scatter`` is the sum of (x - mean)(x - mean)ᵀ over the rows of a class, ``(classes, columns, columns)``.

    Merged by Chan's formula. ``rows`` and ``weight`` have one number per class, ``mean`` one per class and column.

    ``rows`` includes rows with missing cells; ``weight``, ``mean`` and ``scatter`` are those of complete rows.

    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, np.nan]])
    >>> moments = BlockMoments.observe(X, np.zeros(3, dtype=np.int32), None, n_classes=1)
    >>> moments.rows, moments.weight, moments.mean
    (array([3.]), array([2.]), array([[1., 3.]]))
    >>> moments.scatter
    array([[[2., 4.],
            [4., 8.]]])
    """

    @classmethod
    def observe(cls, values: Floats, classes: Positions, weight: Floats | None, n_classes: int) -> BlockMoments:
        """Return the moments of rows, ``(rows, columns)``, missing as NaN."""
        row_weight = np.ones(len(classes)) if weight is None else weight
        rows = np.bincount(classes, row_weight, minlength=n_classes).astype(np.float64, copy=False)
        use = np.flatnonzero(~np.isnan(values).any(axis=1) & (row_weight > 0))
        use = use[np.argsort(classes[use], kind="stable")]
        ends = np.searchsorted(classes[use], np.arange(n_classes + 1))
        parts = [_moments(values[members], row_weight[members]) for members in np.split(use, ends[1:-1])]
        weights, means, scatters = zip(*parts, strict=True)
        return cls(rows, np.array(weights), np.array(means), np.array(scatters))

    def merge(self, other: BlockMoments) -> BlockMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)[:, None]
        delta = other.mean - self.mean
        # If one side has no weight, the other is unchanged, bit for bit.
        mean = np.where(self.weight[:, None] > 0, self.mean + delta * share, other.mean)
        mean = np.where(other.weight[:, None] > 0, mean, self.mean)
        both = (self.weight > 0) & (other.weight > 0)
        between = np.where(both, self.weight * share[:, 0], 0.0)[:, None, None] * _square(delta)
        return BlockMoments(self.rows + other.rows, weight, mean, self.scatter + other.scatter + between)

    def forget(self, other: BlockMoments) -> BlockMoments:
        after = self.without(other)
        refuse_scatter(self._single(), other._single(), after._single())
        return after

    def _single(self) -> Moments:
        """Return the moments of each column separately."""
        weight = np.repeat(self.weight[:, None], self.mean.shape[1], axis=1)
        return Moments(self.rows, weight, self.mean, np.diagonal(self.scatter, axis1=1, axis2=2))

    def without(self, other: BlockMoments) -> BlockMoments:
        rows = subtract(self.rows, other.rows, "the weight of a class")
        weight = subtract(self.weight, other.weight, "the weight of the complete rows of a class")
        refuse_above(weight[:, None], rows, self.rows, "the weight of rows with missing cells")
        ratio = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        mean = self.mean + (self.mean - other.mean) * ratio[:, None]
        share = np.divide(weight, self.weight, out=np.zeros_like(weight), where=self.weight > 0)
        between = (other.weight * share)[:, None, None] * _square(other.mean - mean)
        left = (weight > 0)[:, None]
        mean = np.where(left, mean, 0.0)
        scatter = np.where(left[..., None], _without_negatives(self.scatter - other.scatter - between), 0.0)
        untouched = (other.weight == 0)[:, None]
        mean = np.where(untouched, self.mean, mean)
        return BlockMoments(rows, weight, mean, np.where(untouched[..., None], self.scatter, scatter))

    def lost_digits(self, before: BlockMoments) -> bool:
        now, then = (np.diagonal(part.scatter, axis1=1, axis2=2) for part in (self, before))
        return bool(((now <= 1e-4 * then) & (then > 0) & (self.weight > 0)[:, None]).any())

    def together(self) -> BlockMoments:
        weight = self.weight.sum()
        share = self.weight / weight if weight > 0 else np.zeros_like(self.weight)
        # Deviations from the first class with data, so that a large offset does not lose precision.
        first = self.mean[(self.weight > 0).argmax()]
        mean = first + share @ (self.mean - first)
        between = np.einsum("k,kij->ij", self.weight, _square(self.mean - mean))
        scatter = self.scatter.sum(axis=0) + between
        return BlockMoments(self.rows.sum(keepdims=True), np.array([weight]), mean[None], scatter[None])

    def only(self, j: int) -> BlockMoments:
        return BlockMoments(self.rows, self.weight, self.mean[:, [j]], self.scatter[:, [j]][:, :, [j]])


def _moments(values: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
    """Return weight, mean and scatter of some rows of one class."""
    total = float(weight.sum())
    if not len(values):
        return total, np.zeros(values.shape[1]), np.zeros((values.shape[1], values.shape[1]))
    share = weight / total
    # The mean of the residuals is added to the mean, so that a large offset does not lose precision.
    mean = share @ values
    mean = mean + share @ (values - mean)
    # The product of a matrix with its own transpose is exactly symmetric.
    deviation = (values - mean) * np.sqrt(weight)[:, None]
    return total, mean, deviation.T @ deviation


def _square(delta: Floats) -> Floats:
    return np.asarray(delta[:, :, None] * delta[:, None, :])


def _without_negatives(scatter: Floats) -> Floats:
    """Return the scatter with negative variances from rounding set to 0, and their covariances."""
    known = np.diagonal(scatter, axis1=1, axis2=2) > 0
    return np.where(known[:, :, None] & known[:, None, :], scatter, 0.0)
