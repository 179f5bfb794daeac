"""Newton's steps to the least point of a convex function, some of whose numbers are at least 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.layouts import Floats

_STEPS = 50
_HALVINGS = 40
# What a step is still worth, for each unit of the function, when it is the last: the next would be lost in rounding.
_ENOUGH = 1e-18
# A step that is worth more than this share of the one before is no quick end.
_QUICK = 0.05
# Rounding of the function's value.
_NOISE = 1e-13
# Numbers that are so near to 0, and are pushed there, do not take part in a step of all.
_NEAR = 1e-6


def least_by_newton(
    function: Callable[[Floats], tuple[float, Floats]],
    curvature: Callable[[Floats], Floats],
    point: Floats,
    n_bounded: int,
) -> Floats:
    """From a start; the first ``n_bounded`` numbers stay at 0 or above.

    ``function`` gives its value and its slope at a point, ``curvature`` the matrix of its second derivatives. (The
    method is Bertsekas' of 1982: numbers at their bound go along their own slope, all others together.)

    >>> middle = np.array([-1.0, 2.0])
    >>> least_by_newton(lambda x: (float((x - middle) @ (x - middle)), 2 * (x - middle)), lambda x: 2 * np.eye(2),
    ...                 np.ones(2), 1)
    array([0., 2.])
    """
    value, slope = function(point)
    before, matrix = np.inf, None
    for _ in range(_STEPS):
        fresh = matrix is None
        matrix = curvature(point) if matrix is None else matrix
        step = _step(point, slope, matrix, n_bounded)
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
    """The point after a step, or as much of it as leads down, with value and slope; None if none does."""
    share = 1.0
    for _ in range(_HALVINGS):
        after = _moved(point, step, share, n_bounded)
        found = function(after)
        if found[0] <= value + 1e-4 * float(slope @ (after - point)) + _NOISE * abs(value):
            return after, *found
        share /= 2.0
    return None


def _step(point: Floats, slope: Floats, matrix: Floats, n_bounded: int) -> Floats:
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
