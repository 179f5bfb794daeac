"""Where to cut a column of numbers: between cells, by their counts alone or by those of the classes."""

from __future__ import annotations

import numpy as np

from ...kernels.layouts import Array, Floats
from ...statistics.grid import Cells
from .histogram import equal_frequency, merged

N_FOLDS = 5
# The optimal cuts are sought among so many stretches of about equal weight.
_STRETCHES = 256
_MOST_BINS = 64


def proportional(weight: Floats) -> Array:
    """First cells of √n bins of about √n rows each: proportional k-interval discretisation (Yang and Webb).

    >>> proportional(np.ones(9))
    array([0, 3, 6])
    """
    return equal_frequency(weight, max(1, int(np.sqrt(weight.sum()) + 0.5)))


def mdlp(cells: Cells) -> Array:
    """First cells of the bins by Fayyad and Irani: the best cut by entropy, while it pays for its own description.

    >>> count = np.array([[9.0, 0.0], [9.0, 1.0], [1.0, 9.0], [0.0, 9.0]])
    >>> mdlp(Cells(np.arange(4.0), np.arange(4.0), count))
    array([0, 2])
    """
    ends = np.vstack([np.zeros(cells.count.shape[1]), np.cumsum(cells.count, axis=0)])
    found, open_ranges = [0], [(0, len(cells.low))]
    while open_ranges:
        begin, end = open_ranges.pop()
        at = _paying_cut(ends[begin : end + 1] - ends[begin])
        if at:
            found.append(begin + at)
            open_ranges += [(begin, begin + at), (begin + at, end)]
    return np.sort(np.array(found, dtype=np.int64))


def _paying_cut(ends: Floats) -> int:
    """The cell before which the best cut lies, 0 if it does not pay; ``ends`` are running counts from 0."""
    if len(ends) <= 2:
        return 0
    whole, left = ends[-1:], ends[1:-1]
    right = whole - left
    after = _bits(left) + _bits(right)
    best = int(after.argmin())
    n = float(whole.sum())
    parts = [part[None] for part in (whole[0], left[best], right[best])]
    classes = [int((part > 0).sum()) for part in parts]
    entropy = [float(_bits(part)[0]) / max(float(part.sum()), 1e-300) for part in parts]
    gain = n * entropy[0] - float(after[best])
    changed = classes[0] * entropy[0] - classes[1] * entropy[1] - classes[2] * entropy[2]
    price = np.log2(max(n - 1.0, 1.0)) + _log2_labelings(classes[0]) - changed
    return best + 1 if gain > price else 0


def _bits(count: Floats) -> Floats:
    """Weight times entropy in bits, ``(places, classes)`` to ``(places,)``."""
    whole = count.sum(axis=1, keepdims=True)
    share = np.divide(count, whole, out=np.ones_like(count), where=count > 0)
    return np.asarray(-(count * np.log2(share)).sum(axis=1))


def _log2_labelings(n_classes: int) -> float:
    """log2(3^k - 2)."""
    return float(n_classes * np.log2(3.0) + np.log2(max(1.0 - 2.0 * 3.0**-n_classes, 1e-300)))


def modl(cells: Cells) -> Array:
    """First cells of the bins that are most probable after the data under Boullé's prior of all partitions.

    The cost of I bins is log n + log C(n+I-1, I-1) + Σ log C(n_i+J-1, J-1) + Σ log n_i! / Π n_ij!. The least is
    found exactly, among cuts between at most 256 stretches of about equal weight and at most 64 bins.

    >>> count = np.array([[9.0, 0.0], [9.0, 1.0], [1.0, 9.0], [0.0, 9.0]])
    >>> modl(Cells(np.arange(4.0), np.arange(4.0), count))
    array([0, 2])
    """
    starts = equal_frequency(cells.count.sum(axis=1), _STRETCHES)
    count = merged(cells, starts).count
    return np.asarray(starts[_cheapest(_bin_costs(count), float(count.sum()))])


def _bin_costs(count: Floats) -> Floats:
    """The cost of a bin of the stretches i to j, at ``[i, j + 1]``; infinite where that is no bin."""
    from scipy.special import gammaln

    n_ranges, n_classes = count.shape
    ends = np.vstack([np.zeros(n_classes), np.cumsum(count, axis=0)])
    whole = ends.sum(axis=1)
    within = np.maximum(whole[None] - whole[:, None], 0.0)
    cost = gammaln(within + n_classes) - gammaln(n_classes)  # log C(n_i+J-1, J-1) + log n_i!
    for part in ends.T:
        cost -= gammaln(np.maximum(part[None] - part[:, None], 0.0) + 1.0)
    cost[np.tril_indices(n_ranges + 1)] = np.inf
    return np.asarray(cost)


def _cheapest(cost: Floats, n: float) -> Array:
    """The first stretches of the best partition: the best of 1, 2, 3 … bins each, by what the last bin begins with."""
    from scipy.special import gammaln

    n_ranges = len(cost) - 1
    reached, back = cost[0], [np.zeros(n_ranges + 1, dtype=np.int64)]
    totals = [reached[-1]]
    for n_bins in range(2, min(n_ranges, _MOST_BINS) + 1):
        ways = reached[:, None] + cost
        back.append(ways.argmin(axis=0))
        reached = ways[back[-1], np.arange(n_ranges + 1)]
        totals.append(reached[-1] + gammaln(n + n_bins) - gammaln(n_bins) - gammaln(n + 1.0))
    firsts, end = [], n_ranges
    for step in range(int(np.argmin(totals)), -1, -1):
        end = int(back[step][end])
        firsts.append(end)
    return np.array(firsts[::-1], dtype=np.int64)


def deal(count: Floats) -> list[Floats]:
    """The rows of each of five folds, ``(cells, classes)``.

    Rows stand in the order of their cells, within a cell in that of their classes, and are dealt one after the other,
    as cards are: which fold a row gets does not depend on its label, but for ties. Weight 1 is a row; a row of less
    takes less room.

    >>> [fold.ravel().tolist() for fold in deal(np.array([[3.0], [0.5], [2.0]]))][:4]
    [[1.0, 0.0, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    """
    ends = np.concatenate([[0.0], np.cumsum(count.ravel())])
    rounds, place = np.divmod(ends, N_FOLDS)
    dealt = (rounds + np.clip(place - fold, 0.0, 1.0) for fold in range(N_FOLDS))
    return [np.diff(up_to).reshape(count.shape) for up_to in dealt]
