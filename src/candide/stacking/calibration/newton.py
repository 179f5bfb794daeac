"""A small smooth problem, solved by Newton's method.

scipy's L-BFGS was tried and dropped: it takes more steps, stalls where scores differ by orders of magnitude, and on a
busy machine its threads wait for each other, hundreds of times as long as the problem takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy_dataclass import dataclass

# What the square of a change costs, in rows. Where nothing is changed nothing is paid, so the penalty never makes a
# calibration worse than none; it keeps all parameters finite where the classes are perfectly separated, and small where
# rows are few. Ten and a hundred times less were tried: no better on thousands of rows, much worse on thirty.
RIDGE = 0.2
# Blocks of rows stay in the cache, and sums and products over them are too short for libraries of linear algebra to
# share them out: on a busy machine, threads that wait for each other take a hundred times as long as the work.
_CACHED, _LONGEST, _SERIAL = 1 << 16, 3000, 1 << 18
# More parameters than this, and second derivatives are not made into a matrix.
MANY = 100
_MOST_STEPS, _MOST_HALVINGS, _MOST_PRODUCTS = 100, 40, 50
# The search ends before a step that promises to gain less than this share of the loss.
_GAIN = 1e-10


@dataclass(frozen=True)
class Products:
    """Second derivatives that are too many for a matrix: the diagonal, and terms that multiply all with a vector."""

    diagonal: Floats
    terms: tuple[Callable[[Floats], Floats], ...]

    def __add__(self, other: Products) -> Products:
        return Products(self.diagonal + other.diagonal, self.terms + other.terms)

    def times(self, vector: Floats) -> Floats:
        return np.asarray(sum(term(vector) for term in self.terms))

    def solve(self, target: Floats, free: Array) -> Floats:
        """What gives ``target`` if multiplied, where it is not 0 because it is not free.

        By conjugate gradients, to a hundredth, which is enough for a step.
        """
        rest = target * free
        found, direction = np.zeros(len(target)), rest / self.diagonal
        first = left = float(rest @ direction)
        for _ in range(_MOST_PRODUCTS):
            image = self.times(direction) * free
            rise = float(direction @ image)
            if rise <= 0.0:  # by rounding, where all is flat
                break
            found, rest = found + left / rise * direction, rest - left / rise * image
            before, left = left, float(rest @ (rest / self.diagonal))
            if left <= 1e-4 * first:
                break
            direction = rest / self.diagonal + left / before * direction
        return found


class Slope(NamedTuple):
    """A loss at some point, its gradient, and second derivatives (exact or not, but positive definite)."""

    value: float
    gradient: Floats
    curvature: Any  # Floats or Products


Loss = Callable[[Floats], Slope]


@dataclass(frozen=True)
class Penalised:
    """The losses of blocks of rows together, and half the square of how far ``neutral`` is, times ``ridge``."""

    blocks: list[Loss]
    neutral: Floats
    ridge: Floats

    def __call__(self, point: Floats) -> Slope:
        change = point - self.neutral
        value, gradient = float(self.ridge @ (change * change)) / 2.0, self.ridge * change
        many = len(self.ridge) > MANY
        curvature = Products(self.ridge, (self.ridge.__mul__,)) if many else np.diag(self.ridge)
        for block in self.blocks:
            part = block(point)
            value += part.value
            gradient += part.gradient
            curvature = curvature + part.curvature
        return Slope(value, gradient, curvature)


def blocks(n_rows: int, n_numbers: int, n_parameters: int) -> Iterator[slice]:
    """Stretches of rows with ``n_numbers`` each, for a loss with ``n_parameters``."""
    size = min(_LONGEST, max(1, _CACHED // n_numbers))
    if n_parameters <= MANY:
        size = min(size, _SERIAL // n_parameters**2)
    return (slice(begin, begin + size) for begin in range(0, n_rows, size))


def minimise(loss: Loss, start: Callable[[int], Floats], least: float | Floats = -np.inf) -> Floats:
    """Where the loss is least, no parameter being below ``least``. ``start(k)`` is k powers of ten off ``start(0)``."""
    point, slope = _magnitude(loss, start)
    for _ in range(_MOST_STEPS):
        step = _step(point, slope, least)
        if -float(slope.gradient @ step) < _GAIN * (1.0 + slope.value):
            break
        trial, trial_slope = _descend(loss, point, slope, step, least)
        if not trial_slope.value < slope.value:
            break
        point, slope = trial, trial_slope
    return point


def _magnitude(loss: Loss, start: Callable[[int], Floats]) -> tuple[Floats, Slope]:
    """The best start. Where nearly all probabilities are 0 or 1, or all are equal, second derivatives say nothing."""
    best, slope = start(0), loss(start(0))
    for direction in (1, -1):
        power = direction
        while (trial := loss(start(power))).value < slope.value:
            best, slope, power = start(power), trial, power + direction
    return best, slope


def _step(point: Floats, slope: Slope, least: float | Floats) -> Floats:
    """Newton's step, without what lies on its bound and would leave it."""
    moves = (point > least) | (slope.gradient < 0.0)
    if isinstance(slope.curvature, Products):
        return slope.curvature.solve(-slope.gradient, moves)
    free = np.flatnonzero(moves)
    # A hair on the diagonal, so that rounding does not make it singular.
    curvature = slope.curvature + np.diag(1e-9 * np.diag(slope.curvature))
    step = np.zeros(len(point))
    step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope.gradient[free])
    return step


def _descend(loss: Loss, point: Floats, slope: Slope, step: Floats, least: float | Floats) -> tuple[Floats, Slope]:
    """The whole step, or as many halves of it as it takes to come down."""
    for halving in range(_MOST_HALVINGS):
        trial = np.maximum(point + step / 2**halving, least)
        trial_slope = loss(trial)
        if trial_slope.value <= slope.value + 1e-4 * float(slope.gradient @ (trial - point)):
            break
    return trial, trial_slope
