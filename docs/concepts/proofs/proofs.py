"""Numerical checks that a point is a maximum: derivatives by finite differences, and random alternatives."""

import numpy as np


def slope(f, point, direction, step=1e-6):
    """Return the directional derivative of ``f`` by central differences."""
    return (f(point + step * direction) - f(point - step * direction)) / (2 * step)


def slope_at_boundary(f, point, direction, step=1e-6):
    """Return the one-sided directional derivative, for points on the boundary."""
    return (f(point + step * direction) - f(point)) / step


def second_derivative(f, point, direction, step=1e-4):
    """Return the second directional derivative. ``f`` is concave there if it is negative."""
    return (f(point + step * direction) - 2 * f(point) + f(point - step * direction)) / step**2


def close(found, written, tolerance=1e-4):
    """Return whether numerical values agree with exact ones, relative to the largest of these."""
    found, written = np.asarray(found), np.asarray(written)
    return bool(np.abs(found - written).max() <= tolerance * max(1.0, np.abs(written).max()))


def other_shares(shares, rng, n=300):
    """Yield other shares that sum to one, from very close to far away. Shares are on the last axis."""
    for scale in np.geomspace(1e-4, 1, n):
        anywhere = rng.dirichlet(np.ones(shares.shape[-1]), shares.shape[:-1])
        yield (1 - scale) * shares + scale * anywhere


def transfer(shares, source, target):
    """Return the direction that moves mass from one share to another, so that the sum stays one."""
    direction = np.zeros_like(shares)
    direction[source], direction[target] = -1.0, 1.0
    return direction
