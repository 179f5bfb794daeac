"""What a page needs to prove that a point is a maximum: slopes and bends by differences, and rivals."""

import numpy as np


def slope(f, point, direction, step=1e-6):
    """How fast ``f`` rises from a point in a direction, by two values on either side of it."""
    return (f(point + step * direction) - f(point - step * direction)) / (2 * step)


def slope_from_border(f, point, direction, step=1e-6):
    """The same where only one side exists: a share of 0 can grow and not shrink."""
    return (f(point + step * direction) - f(point)) / step


def bend(f, point, direction, step=1e-4):
    """The second derivative along a direction, by three values. Below 0: ``f`` is concave there."""
    return (f(point + step * direction) - 2 * f(point) + f(point - step * direction)) / step**2


def close(found, written, tolerance=1e-4):
    """Whether numbers found by differences are the written ones, to a part of the largest among them."""
    found, written = np.asarray(found), np.asarray(written)
    return bool(np.abs(found - written).max() <= tolerance * max(1.0, np.abs(written).max()))


def other_shares(shares, rng, n=300):
    """Other shares that sum to one, from a hair's breadth away to anywhere. Shares lie on the last axis."""
    for reach in np.geomspace(1e-4, 1, n):
        anywhere = rng.dirichlet(np.ones(shares.shape[-1]), shares.shape[:-1])
        yield (1 - reach) * shares + reach * anywhere


def transfer(shares, source, target):
    """The direction that takes from one share and gives to another, so that the sum stays one."""
    direction = np.zeros_like(shares)
    direction[source], direction[target] = -1.0, 1.0
    return direction
