"""Newton's method for smooth problems.

SciPy's L-BFGS-B was tried for small problems and rejected: it takes more steps, stalls if scores differ by orders of
magnitude, and on a busy machine its threads wait for each other for much longer than the computation takes. In large
problems it computes the starting point of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy import dataclass

# Penalty of a squared change from the neutral parameters, in rows. The neutral parameters have no penalty, so a
# penalized calibration is never worse than none. The penalty keeps parameters finite if the classes are perfectly
# separated, and small if there are few rows. Penalties 10 and 100 times smaller were tried: they are no better on
# thousands of rows and much worse on 30.
RIDGE = 0.2
# Blocks of rows fit into the cache, and products over them are too small for BLAS to use several threads: on a busy
# machine, waiting threads take a hundred times as long as the computation.
_CACHED_NUMBERS, _MAX_BLOCK_ROWS, _SINGLE_THREAD_SIZE = 1 << 16, 3000, 1 << 18
# With more parameters, the Hessian is not stored as a matrix.
MANY = 100
_MAX_STEPS, _MAX_HALVINGS, _MAX_PRODUCTS = 100, 40, 50
# The iteration ends when the expected decrease of the next step is below this share of the loss.
_TOLERANCE = 1e-10


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
        """Solve for a vector that is 0 for parameters that are not free, by preconditioned conjugate gradients.

        The relative tolerance is 1%, which is enough for a step of Newton's method.
        """
        residual = target * free
        solution, direction = np.zeros(len(target)), residual / self.diagonal
        first = norm = float(residual @ direction)
        for _ in range(_MAX_PRODUCTS):
            product = self.times(direction) * free
            curvature = float(direction @ product)
            if curvature <= 0.0:  # due to rounding, if the function is flat
                break
            solution, residual = solution + norm / curvature * direction, residual - norm / curvature * product
            previous, norm = norm, float(residual @ (residual / self.diagonal))
            if norm <= 1e-4 * first:
                break
            direction = residual / self.diagonal + norm / previous * direction
        return solution


class Derivatives(NamedTuple):
    """A loss at some point, its gradient, and its Hessian or a positive definite approximation."""

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
    size = min(_MAX_BLOCK_ROWS, max(1, _CACHED_NUMBERS // n_numbers))
    if n_parameters <= MANY:
        size = min(size, _SINGLE_THREAD_SIZE // n_parameters**2)
    return (slice(begin, begin + size) for begin in range(0, n_rows, size))


def minimize(loss: Loss, start: Callable[[int], Floats], least: float | Floats = -np.inf) -> Floats:
    """Minimize a loss with parameters of at least ``least``. ``start(k)`` is k powers of ten from ``start(0)``."""
    point, current = _magnitude(loss, start)
    for _ in range(_MAX_STEPS):
        step = _step(point, current, least)
        if -float(current.gradient @ step) < _TOLERANCE * (1.0 + current.value):
            break
        trial, after = _descend(loss, point, current, step, least)
        if not after.value < current.value:
            break
        point, current = trial, after
    return point


def _magnitude(loss: Loss, start: Callable[[int], Floats]) -> tuple[Floats, Derivatives]:
    """Return the best start. If nearly all probabilities are 0 or 1, or all are equal, the Hessian vanishes."""
    best, current = start(0), loss(start(0))
    for direction in (1, -1):
        power = direction
        while (trial := loss(start(power))).value < current.value:
            best, current, power = start(power), trial, power + direction
    return best, current


def _step(point: Floats, current: Derivatives, least: float | Floats) -> Floats:
    """Return the Newton step; parameters at their bound that the gradient pushes outward are fixed."""
    free = (point > least) | (current.gradient < 0.0)
    if isinstance(current.curvature, HessianProducts):
        return current.curvature.solve(-current.gradient, free)
    columns = np.flatnonzero(free)
    # A small multiple of the diagonal, so that rounding does not make the matrix singular.
    curvature = current.curvature + np.diag(1e-9 * np.diag(current.curvature))
    step = np.zeros(len(point))
    step[columns] = -np.linalg.solve(curvature[np.ix_(columns, columns)], current.gradient[columns])
    return step


def _descend(
    loss: Loss, point: Floats, current: Derivatives, step: Floats, least: float | Floats
) -> tuple[Floats, Derivatives]:
    """Return the full step, halved until the loss decreases."""
    for halving in range(_MAX_HALVINGS):
        trial = np.maximum(point + step / 2**halving, least)
        after = loss(trial)
        if after.value <= current.value + 1e-4 * float(current.gradient @ (trial - point)):
            break
    return trial, after


_PROJECTED_STEPS = 50
_BACKTRACKS = 40
# The iteration ends when the expected decrease of a step, relative to the function, is below this: later steps would be
# dominated by rounding.
_LAST_DECREASE = 1e-18
# The Hessian of an earlier point is reused while each expected decrease is below this share of the previous one.
_FAST = 0.05
# Relative rounding error of the function.
_ROUNDING = 1e-13
# Parameters this close to 0 whose gradient is positive are treated as being at their bound.
_AT_BOUND = 1e-6


def minimize_nonnegative(
    function: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Floats],
    point: Floats,
    n_bounded: int,
) -> Floats:
    """Minimize from a starting point; the first ``n_bounded`` parameters are constrained to be non-negative.

    ``function`` returns the value and the gradient, ``curvature`` the Hessian. This is Bertsekas' projected Newton
    method (1982): parameters at their bound take a gradient step, all others a Newton step.

    >>> middle = np.array([-1.0, 2.0])
    >>> minimize_nonnegative(lambda x: (float((x - middle) @ (x - middle)), 2 * (x - middle)), lambda x: 2 * np.eye(2),
    ...                 np.ones(2), 1)
    array([0., 2.])
    """
    value, gradient = function(point)
    previous, hessian = np.inf, None
    for _ in range(_PROJECTED_STEPS):
        is_new = hessian is None
        hessian = curvature(point) if hessian is None else hessian
        step = _projected_step(point, gradient, hessian, n_bounded)
        full = _moved(point, step, 1.0, n_bounded)
        decrease = -float(gradient @ (full - point))
        if decrease <= _LAST_DECREASE * (1.0 + abs(value)):
            return full
        found = _line_search(function, point, value, gradient, step, n_bounded)
        if found is None and is_new:
            break
        if found is not None:
            point, value, gradient = found
        if found is None or decrease > _FAST * previous:
            hessian = None
        previous = decrease
    return point


def _line_search(
    function: Callable[[Floats], tuple[float, Floats]], point: Floats, value: float, gradient: Floats, step: Floats,
    n_bounded: int,
) -> tuple[Floats, float, Floats] | None:  # fmt: skip
    """Return the point after a step, shortened until the loss decreases, with value and gradient; or None."""
    length = 1.0
    for _ in range(_BACKTRACKS):
        after = _moved(point, step, length, n_bounded)
        found = function(after)
        if found[0] <= value + 1e-4 * float(gradient @ (after - point)) + _ROUNDING * abs(value):
            return after, *found
        length /= 2.0
    return None


def _projected_step(point: Floats, gradient: Floats, hessian: Floats, n_bounded: int) -> Floats:
    at_bound = (point <= _AT_BOUND) & (gradient > 0)
    at_bound[n_bounded:] = False
    step = -gradient / np.diag(hessian)
    free = np.flatnonzero(~at_bound)
    step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
    return np.asarray(step)


def _moved(point: Floats, step: Floats, length: float, n_bounded: int) -> Floats:
    out = point + length * step
    np.maximum(out[:n_bounded], 0.0, out=out[:n_bounded])
    return np.asarray(out)


# Iterations of L-BFGS-B, and the number of corrections it stores: with the default of 10 it takes twice as many.
_SEARCH_STEPS, _CORRECTIONS = 500, 30
# Newton steps after the search. They end when the squared gradient, in units of the curvature, which is about twice the
# remaining decrease, is below the tolerance.
_NEWTON_STEPS = 8
_NEWTON_TOLERANCE = 1e-20


class Objective(Protocol):
    """A convex function."""

    def value(self, point: Floats) -> tuple[float, Floats]:
        """Return the function and its gradient at a point."""

    def products(self, point: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a vector by the Hessian at a point."""


def minimize_large(
    problem: Objective, start: Floats, n_bounded: int, curvature: Floats, *, approximate: bool = False
) -> Floats:
    """Minimize a function of many parameters, the first ``n_bounded`` of which are constrained to be non-negative.

    L-BFGS-B ends where the decrease of the function is lost in rounding; Newton's method, which only needs the
    gradient, continues from there. With ``approximate``, L-BFGS-B alone is used, with a loose tolerance. ``curvature``
    approximates the diagonal of the Hessian. Parameters are scaled by it, because L-BFGS-B ends far from the solution
    if second derivatives differ by a factor of ten thousand.
    """
    from scipy.optimize import minimize

    unit = 1.0 / np.sqrt(curvature)

    def scaled(point: Floats) -> tuple[float, Floats]:
        value, gradient = problem.value(point * unit)
        return value, gradient * unit

    bounds = [(0.0, None)] * n_bounded + [(None, None)] * (len(start) - n_bounded)
    ftol, gtol = (1e-5, 1e-3) if approximate else (1e-7, 1e-4)
    options = {"maxiter": _SEARCH_STEPS, "maxcor": _CORRECTIONS, "ftol": ftol, "gtol": gtol}
    found = minimize(scaled, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    point = np.asarray(found.x * unit)
    return point if approximate else _newton_steps(problem, point, n_bounded, curvature)


def _newton_steps(problem: Objective, point: Floats, n_bounded: int, curvature: Floats) -> Floats:
    """Return the minimum, starting from a point close to it."""
    gradient = problem.value(point)[1]
    free = _free(point, gradient, n_bounded)
    remaining = float(gradient**2 / curvature @ free)
    for _ in range(_NEWTON_STEPS):
        if remaining <= _NEWTON_TOLERANCE:
            break
        after = point + HessianProducts(curvature, (problem.products(point),)).solve(-gradient, free)
        np.maximum(after[:n_bounded], 0.0, out=after[:n_bounded])
        gradient = problem.value(after)[1]
        free = _free(after, gradient, n_bounded)
        previous, remaining = remaining, float(gradient**2 / curvature @ free)
        if remaining >= previous:
            break
        point = after
    return point


def _free(point: Floats, gradient: Floats, n_bounded: int) -> Array:
    """Return which parameters may change: not those at their bound that a step would make negative."""
    free = (point > 0.0) | (gradient < 0.0)
    free[n_bounded:] = True
    return np.asarray(free)
