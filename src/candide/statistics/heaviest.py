"""The heaviest of many tokens, as far as a budget goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.layouts import Array, Floats


def heaviest(weight: Floats, cost: Array, budget: int, names: Callable[[Array], list[Any]]) -> Array:
    """Places of the heaviest tokens whose costs add up to ``budget`` at most, ascending.

    Among equals the first in the order of their ``names`` stay, so that it does not matter who came first. Names are
    asked of those alone that the budget divides.

    >>> heaviest(np.array([1.0, 3.0, 1.0]), np.ones(3), 2, lambda places: [["b", "x", "a"][i] for i in places])
    array([1, 2])
    """
    order = np.argsort(-weight, kind="stable")
    n_within = int(np.searchsorted(np.cumsum(cost[order]), budget, side="right"))
    if n_within == len(order):
        return np.arange(len(order))
    limit = weight[order[n_within]]
    above, equal = np.flatnonzero(weight > limit), np.flatnonzero(weight == limit)
    equal = equal[_sorted_places(names(equal))]
    left = budget - cost[above].sum()
    n_equal = int(np.searchsorted(np.cumsum(cost[equal]), left, side="right"))
    return np.sort(np.concatenate([above, equal[:n_equal]]))


def _sorted_places(names: list[Any]) -> Array:
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
