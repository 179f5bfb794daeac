"""Newton's method for smooth problems.

For small problems scipy's L-BFGS was tried and dropped: it takes more steps, stalls where scores differ by orders of
magnitude, and on a busy machine its threads wait for each other, hundreds of times as long as the problem takes. It
begins the search in large problems, where Newton's steps end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass

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
class HessianProducts:
    """A large Hessian: its diagonal, and products with a vector."""

    diagonal: Floats
    terms: tuple[Callable[[Floats], Floats], ...]

    def __add__(self, other: HessianProducts) -> HessianProducts:
        return HessianProducts(self.diagonal + other.diagonal, self.terms + other.terms)

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


class Derivatives(NamedTuple):
    """A loss at some point, its gradient, and second derivatives (exact or not, but positive definite)."""

    value: float
    gradient: Floats
    curvature: Any  # Floats or HessianProducts


Loss = Callable[[Floats], Derivatives]


@dataclass(frozen=True)
class PenalizedLoss:
    """Return the sum of the losses of blocks of rows, and the ridge penalty around ``neutral``."""

    blocks: list[Loss]
    neutral: Floats
    ridge: Floats

    def __call__(self, point: Floats) -> Derivatives:
        change = point - self.neutral
        value, gradient = float(self.ridge @ (change * change)) / 2.0, self.ridge * change
        many = len(self.ridge) > MANY
        curvature = HessianProducts(self.ridge, (self.ridge.__mul__,)) if many else np.diag(self.ridge)
        for block in self.blocks:
            part = block(point)
            value += part.value
            gradient += part.gradient
            curvature = curvature + part.curvature
        return Derivatives(value, gradient, curvature)


def blocks(n_rows: int, n_numbers: int, n_parameters: int) -> Iterator[slice]:
    """Return slices of rows with ``n_numbers`` each, for a loss with ``n_parameters``."""
    size = min(_LONGEST, max(1, _CACHED // n_numbers))
    if n_parameters <= MANY:
        size = min(size, _SERIAL // n_parameters**2)
    return (slice(begin, begin + size) for begin in range(0, n_rows, size))


def minimize(loss: Loss, start: Callable[[int], Floats], least: float | Floats = -np.inf) -> Floats:
    """Minimize a loss with parameters of at least ``least``. ``start(k)`` is k powers of ten from ``start(0)``."""
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


def _magnitude(loss: Loss, start: Callable[[int], Floats]) -> tuple[Floats, Derivatives]:
    """Return the best start. If nearly all probabilities are 0 or 1, or all are equal, the Hessian vanishes."""
    best, slope = start(0), loss(start(0))
    for direction in (1, -1):
        power = direction
        while (trial := loss(start(power))).value < slope.value:
            best, slope, power = start(power), trial, power + direction
    return best, slope


def _step(point: Floats, slope: Derivatives, least: float | Floats) -> Floats:
    """Return Newton's step, without parameters at their bound that would leave it."""
    moves = (point > least) | (slope.gradient < 0.0)
    if isinstance(slope.curvature, HessianProducts):
        return slope.curvature.solve(-slope.gradient, moves)
    free = np.flatnonzero(moves)
    # A hair on the diagonal, so that rounding does not make it singular.
    curvature = slope.curvature + np.diag(1e-9 * np.diag(slope.curvature))
    step = np.zeros(len(point))
    step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope.gradient[free])
    return step


def _descend(
    loss: Loss, point: Floats, slope: Derivatives, step: Floats, least: float | Floats
) -> tuple[Floats, Derivatives]:
    """Return the full step, halved until the loss decreases."""
    for halving in range(_MOST_HALVINGS):
        trial = np.maximum(point + step / 2**halving, least)
        trial_slope = loss(trial)
        if trial_slope.value <= slope.value + 1e-4 * float(slope.gradient @ (trial - point)):
            break
    return trial, trial_slope


_PROJECTED_STEPS = 50
_BACKTRACKS = 40
# What a step is still worth, for each unit of the function, when it is the last: the next would be lost in rounding.
_ENOUGH = 1e-18
# A step that is worth more than this share of the one before is no quick end.
_QUICK = 0.05
# Rounding of the function's value.
_NOISE = 1e-13
# Numbers that are so near to 0, and are pushed there, do not take part in a step of all.
_NEAR = 1e-6


def minimize_nonnegative(
    function: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Floats],
    point: Floats,
    n_bounded: int,
) -> Floats:
    """Minimize from a starting point; the first ``n_bounded`` numbers are constrained to be non-negative.

    ``function`` gives its value and its slope at a point, ``curvature`` the matrix of its second derivatives. (The
    method is Bertsekas' of 1982: numbers at their bound go along their own slope, all others together.)

    >>> middle = np.array([-1.0, 2.0])
    >>> minimize_nonnegative(lambda x: (float((x - middle) @ (x - middle)), 2 * (x - middle)), lambda x: 2 * np.eye(2),
    ...                 np.ones(2), 1)
    array([0., 2.])
    """
    value, slope = function(point)
    before, matrix = np.inf, None
    for _ in range(_PROJECTED_STEPS):
        fresh = matrix is None
        matrix = curvature(point) if matrix is None else matrix
        step = _projected_step(point, slope, matrix, n_bounded)
        last = _moved(point, step, 1.0, n_bounded)
        worth = -float(slope @ (last - point))
        if worth <= _ENOUGH * (1.0 + abs(value)):
            return last
        found = _downhill(function, point, value, slope, step, n_bounded)
        if found is None and fresh:
            break
        if found is not None:
            point, value, slope = found
        # The matrix of an earlier point is as good as long as steps soon become small.
        if found is None or worth > _QUICK * before:
            matrix = None
        before = worth
    return point


def _downhill(
    function: Callable[[Floats], tuple[float, Floats]], point: Floats, value: float, slope: Floats, step: Floats,
    n_bounded: int,
) -> tuple[Floats, float, Floats] | None:  # fmt: skip
    """Return the point after a step, shortened until the loss decreases, with value and gradient; or None."""
    share = 1.0
    for _ in range(_BACKTRACKS):
        after = _moved(point, step, share, n_bounded)
        found = function(after)
        if found[0] <= value + 1e-4 * float(slope @ (after - point)) + _NOISE * abs(value):
            return after, *found
        share /= 2.0
    return None


def _projected_step(point: Floats, slope: Floats, matrix: Floats, n_bounded: int) -> Floats:
    held = (point <= _NEAR) & (slope > 0)
    held[n_bounded:] = False
    step = -slope / np.diag(matrix)
    free = np.flatnonzero(~held)
    step[free] = -np.linalg.solve(matrix[np.ix_(free, free)], slope[free])
    return np.asarray(step)


def _moved(point: Floats, step: Floats, share: float, n_bounded: int) -> Floats:
    out = point + share * step
    np.maximum(out[:n_bounded], 0.0, out=out[:n_bounded])
    return np.asarray(out)


# Steps of L-BFGS, and those it remembers: with the usual ten it takes twice as many.
_SEARCH_STEPS, _REMEMBERED = 500, 30
# Newton's steps after the search, and the square of the gradient, in units of the curvature, at which they end: about
# twice what is left to gain.
_NEWTON_STEPS = 8
_CLOSE = 1e-20


class Objective(Protocol):
    """A convex function."""

    def value(self, point: Floats) -> tuple[float, Floats]:
        """Return the function and its gradient at a point."""

    def products(self, point: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a vector by the Hessian at a point."""


def minimize_large(problem: Objective, start: Floats, n_bounded: int, steep: Floats, *, nearly: bool = False) -> Floats:
    """Minimize a function of many parameters, the first ``n_bounded`` of which stay nonnegative.

    By L-BFGS-B, which ends where rounding hides what steps gain, and then by Newton's method, which needs the gradient
    alone; ``nearly``: by L-BFGS-B alone, with a loose tolerance. ``steep`` approximates the second derivative of each
    parameter. Where these differ by a factor of ten thousand, a search that does not scale parameters by them ends far
    from the solution.
    """
    from scipy.optimize import minimize

    unit = 1.0 / np.sqrt(steep)

    def measured(point: Floats) -> tuple[float, Floats]:
        value, slope = problem.value(point * unit)
        return value, slope * unit

    bounds = [(0.0, None)] * n_bounded + [(None, None)] * (len(start) - n_bounded)
    gain, slope = (1e-5, 1e-3) if nearly else (1e-7, 1e-4)
    options = {"maxiter": _SEARCH_STEPS, "maxcor": _REMEMBERED, "ftol": gain, "gtol": slope}
    found = minimize(measured, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    point = np.asarray(found.x * unit)
    return point if nearly else _polished(problem, point, n_bounded, steep)


def _polished(problem: Objective, point: Floats, n_bounded: int, steep: Floats) -> Floats:
    """Return the minimum, from a point nearby, by Newton's steps."""
    slope = problem.value(point)[1]
    free = _free(point, slope, n_bounded)
    left = float(slope**2 / steep @ free)
    for _ in range(_NEWTON_STEPS):
        if left <= _CLOSE:
            break
        further = point + HessianProducts(steep, (problem.products(point),)).solve(-slope, free)
        np.maximum(further[:n_bounded], 0.0, out=further[:n_bounded])
        slope = problem.value(further)[1]
        free = _free(further, slope, n_bounded)
        before, left = left, float(slope**2 / steep @ free)
        if left >= before:
            break
        point = further
    return point


def _free(point: Floats, slope: Floats, n_bounded: int) -> Array:
    """Return which parameters may move: not the weights of 0 that a step would make negative."""
    free = (point > 0.0) | (slope < 0.0)
    free[n_bounded:] = True
    return np.asarray(free)
