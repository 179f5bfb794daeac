"""Discretization of numeric columns, unsupervised or supervised, and the probabilities of the bins.

Probabilities are smoothed toward the bin frequencies over all classes, which do not depend on labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy import dataclass
from ...statistics.grid import Cells
from .base import CodedColumn
from .histogram import (
    MICRO_BINS,
    Numbers,
    averages,
    cuts_between,
    equal_frequency,
    loss_of_nothing,
    merged,
    middles,
    occupied,
)

N_FOLDS = 5
# Number of ranges of about equal weight between which cuts are searched, and maximum number of bins.
_N_RANGES = 256
_MAX_BINS = 64


def proportional(weight: Floats) -> Array:
    """Return the first cells of √n bins of about √n rows each: proportional k-interval discretization (Yang and Webb).

    >>> proportional(np.ones(9))
    array([0, 3, 6])
    """
    return equal_frequency(weight, max(1, int(np.sqrt(weight.sum()) + 0.5)))


def mdlp(cells: Cells) -> Array:
    """Return the first cells of Fayyad and Irani's bins: entropy-based cuts that reduce the description length.

    >>> count = np.array([[9.0, 0.0], [9.0, 1.0], [1.0, 9.0], [0.0, 9.0]])
    >>> mdlp(Cells(np.arange(4.0), np.arange(4.0), count))
    array([0, 2])
    """
    ends = np.vstack([np.zeros(cells.count.shape[1]), np.cumsum(cells.count, axis=0)])
    found, open_ranges = [0], [(0, len(cells.low))]
    while open_ranges:
        begin, end = open_ranges.pop()
        at = _accepted_cut(ends[begin : end + 1] - ends[begin])
        if at:
            found.append(begin + at)
            open_ranges += [(begin, begin + at), (begin + at, end)]
    return np.sort(np.array(found, dtype=np.int64))


def _accepted_cut(ends: Floats) -> int:
    """Return the cell after the best cut, or 0 if no cut is accepted; ``ends`` are cumulative counts."""
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
    """Return weight times entropy in bits, ``(places, classes)`` to ``(places,)``."""
    whole = count.sum(axis=1, keepdims=True)
    share = np.divide(count, whole, out=np.ones_like(count), where=count > 0)
    return np.asarray(-(count * np.log2(share)).sum(axis=1))


def _log2_labelings(n_classes: int) -> float:
    """Return log2(3^k - 2)."""
    return float(n_classes * np.log2(3.0) + np.log2(max(1.0 - 2.0 * 3.0**-n_classes, 1e-300)))


def modl(cells: Cells) -> Array:
    """Return the first cells of the most probable bins given the data, under Boullé's prior on partitions.

    The cost of I bins is log n + log C(n+I-1, I-1) + Σ log C(n_i+J-1, J-1) + Σ log n_i! / Π n_ij!. The minimum is exact
    for cuts between at most 256 ranges of about equal weight, and at most 64 bins.

    >>> count = np.array([[9.0, 0.0], [9.0, 1.0], [1.0, 9.0], [0.0, 9.0]])
    >>> modl(Cells(np.arange(4.0), np.arange(4.0), count))
    array([0, 2])
    """
    starts = equal_frequency(cells.count.sum(axis=1), _N_RANGES)
    count = merged(cells, starts).count
    return np.asarray(starts[_cheapest(_bin_costs(count), float(count.sum()))])


def _bin_costs(count: Floats) -> Floats:
    """Return the cost of a bin of the ranges i to j at ``[i, j + 1]``; infinite if j < i."""
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
    """Return the first ranges of the best partition, by dynamic programming over the number of bins."""
    from scipy.special import gammaln

    n_ranges = len(cost) - 1
    reached, back = cost[0], [np.zeros(n_ranges + 1, dtype=np.int64)]
    totals = [reached[-1]]
    for n_bins in range(2, min(n_ranges, _MAX_BINS) + 1):
        ways = reached[:, None] + cost
        back.append(ways.argmin(axis=0))
        reached = ways[back[-1], np.arange(n_ranges + 1)]
        totals.append(reached[-1] + gammaln(n + n_bins) - gammaln(n_bins) - gammaln(n + 1.0))
    firsts, end = [], n_ranges
    for step in range(int(np.argmin(totals)), -1, -1):
        end = int(back[step][end])
        firsts.append(end)
    return np.array(firsts[::-1], dtype=np.int64)


def split_folds(count: Floats) -> list[Floats]:
    """Return the rows of each of five folds, ``(cells, classes)``.

    Rows are sorted by cell, then by class, and assigned to the folds in turn. Except for ties, the fold of a row
    therefore does not depend on its label. A weight of 1 counts as one row, and a smaller weight as a part of a row.

    >>> [fold.ravel().tolist() for fold in split_folds(np.array([[3.0], [0.5], [2.0]]))][:4]
    [[1.0, 0.0, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    """
    ends = np.concatenate([[0.0], np.cumsum(count.ravel())])
    rounds, place = np.divmod(ends, N_FOLDS)
    dealt = (rounds + np.clip(place - fold, 0.0, 1.0) for fold in range(N_FOLDS))
    return [np.diff(up_to).reshape(count.shape) for up_to in dealt]


# Weight of the overall bin frequencies as a prior, in rows.
STRENGTHS = (1.0, 5.0)
BIN_NUMBERS = (5, 10, 20)
_MIN_ROWS_PER_RANGE = 5.0


@dataclass(frozen=True, eq=False)
class Coding:
    """Bins with a code each, and one more code for missing cells if they are treated as a value."""

    count: Floats  # (codes, classes)
    share: Floats  # (codes,) of each code over all classes
    ignored: Floats  # (classes,)
    cuts: Floats
    ends: tuple[float, float]
    center: Floats  # of the numbers
    missing: int | None
    atoms: Floats | None  # of the numbers: the value where a code is a point mass, else NaN

    def model(self, family: str, note: str, strength: float, smoother: Floats | None = None) -> CodedColumn:
        """Return the model whose prior is worth ``strength`` rows with the frequencies over all classes."""
        base = strength * self.share
        geometry = self.cuts, self.ends, self.center
        return CodedColumn(
            family, note, self.count, base, self.ignored, smoother, *geometry, None, self.missing, atoms=self.atoms
        )


def coding(numbers: Numbers, first: Array, missing_code: bool) -> Coding:
    """Return bins that begin with the cells ``first``; ``missing_code``: missing cells have a code of their own.

    Each atom of the column has its own bin, whether it is in ``first`` or not.
    """
    cells, missing, atoms = numbers.cells, numbers.missing, numbers.atoms
    if len(atoms):
        first = np.unique(np.concatenate([first, atoms, np.minimum(atoms + 1, len(cells.low) - 1)]))
    bins, places = merged(cells, first), np.searchsorted(first, atoms)
    ends = float(bins.low[0]), float(bins.high[-1])
    count, weight, ignored = bins.count, bins.count.sum(axis=1), missing
    if missing_code:
        # Half a row if no cell was missing in training, so that missing cells have a positive probability.
        count, weight = np.vstack([count, missing]), np.append(weight, max(missing.sum(), 0.5))
        ignored = np.zeros_like(missing)
    share = (weight + 1e-9) / (weight + 1e-9).sum()
    center = averages(cells, first)
    values = None
    if len(atoms):
        values = np.full(len(bins.low), np.nan)
        values[places] = cells.low[atoms]
    cuts = cuts_between(bins, places)
    return Coding(count, share, ignored, cuts, ends, center, len(bins.low) if missing_code else None, values)


def merge_into_ranges(numbers: Numbers) -> Numbers:
    """Return the column in at most 64 ranges of about equal weight, in addition to its atoms.

    The other ranges hold at least five rows each on average, because few rows may remain beside the atoms.
    """
    cells, atoms = occupied(numbers.cells), numbers.atoms
    weight, most = cells.count.sum(axis=1), MICRO_BINS
    if len(atoms):
        rest = float(np.delete(weight, atoms).sum())
        most = int(np.clip(rest / _MIN_ROWS_PER_RANGE, BIN_NUMBERS[0], MICRO_BINS))
    first = equal_frequency(weight, most, atoms)
    return numbers._replace(cells=merged(cells, first), atoms=np.searchsorted(first, atoms))


def bins(numbers: Numbers, first: Array, strength: float, missing_code: bool = False) -> CodedColumn:
    """Return bins that begin with the cells ``first``.

    >>> from candide.statistics import Moments
    >>> cells = Cells(np.arange(4.0), np.arange(4.0), np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> model = bins(Numbers(cells, Moments(*np.zeros((4, 2, 1))), np.zeros(2)), np.array([0, 2]), strength=1.0)
    >>> model.cuts, model.count.tolist(), model.describe()
    (array([1.5]), [[3.0, 0.0], [1.0, 4.0]], '2 bins')
    """
    made = coding(numbers, first, missing_code)
    return made.model("bins", _describe_bins(made), strength)


def usual_bins(small: Numbers, missing_code: bool) -> list[CodedColumn]:
    """Return models with 5, 10 and 20 bins of equal frequency, besides the atoms, from a column in few ranges."""
    weight = small.cells.count.sum(axis=1)
    models = []
    for n_bins in BIN_NUMBERS:
        if len(weight) - len(small.atoms) > n_bins or n_bins == BIN_NUMBERS[0]:
            made = coding(small, equal_frequency(weight, n_bins, small.atoms), missing_code)
            models += [made.model("bins", _describe_bins(made), strength) for strength in STRENGTHS]
    return models


def _describe_bins(made: Coding) -> str:
    n_atoms = 0 if made.atoms is None else int(np.isfinite(made.atoms).sum())
    n_bins = len(made.cuts) + 1 - n_atoms
    return "1 bin" if n_bins == 1 else f"{n_bins} bins"


@dataclass(frozen=True, eq=False)
class FoldedBins(CodedColumn):
    """Supervised bins, evaluated by cross-validation.

    Cuts chosen with the label of a row are overfitted to it. So rows are divided into folds (``split_folds``), and the
    rows of a fold are scored with cuts computed from the other folds. The counts in these bins are of all rows but the
    scored one.
    """

    fold_models: tuple[CodedColumn, ...] = ()
    held: tuple[Floats, ...] = ()  # the rows of each held-out fold, (codes, classes)

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        losses = (
            fold_model.loss_of(rows, log_prior, row)
            for fold_model, rows in zip(self.fold_models, self.held, strict=True)
        )
        return (sum(losses) + loss_of_nothing(self.ignored, log_prior)) / max(self.weight, 1e-300)

    def again(self, **parts: Any) -> Self:
        made = super().again(**parts)
        fold_models = tuple(fold_model.again(**parts) for fold_model in self.fold_models)
        return replace(made, fold_models=fold_models, held=_held(fold_models, parts["cells"], parts["missing"]))


def supervised_bins(
    numbers: Numbers, cut: Callable[[Cells], Array], strength: float, missing_code: bool = False
) -> FoldedBins:
    """Return bins whose first cells ``cut`` determines from the class counts."""
    cells = occupied(numbers.cells)
    numbers = numbers._replace(cells=cells)
    fold_models = tuple(
        bins(numbers, _cut_without(cells, held, cut), strength, missing_code) for held in split_folds(cells.count)
    )
    final = bins(numbers, cut(cells), strength, missing_code)
    return FoldedBins(**vars(final), fold_models=fold_models, held=_held(fold_models, cells, numbers.missing))


def _cut_without(cells: Cells, held: Floats, cut: Callable[[Cells], Array]) -> Array:
    """Return the first cells of the bins computed without some rows."""
    count = cells.count - held
    left = np.flatnonzero(count.sum(axis=1) > 1e-9)
    if not len(left):
        return np.zeros(1, dtype=np.int64)
    others = Cells(cells.low[left], cells.high[left], np.maximum(count[left], 0.0))
    cuts = cuts_between(merged(others, cut(others)))
    return np.unique(np.append(0, np.searchsorted(middles(cells), cuts)))


def _held(fold_models: tuple[CodedColumn, ...], cells: Cells, missing: Floats) -> tuple[Floats, ...]:
    """Return the rows of each fold, coded with the cuts of the other folds; missing cells are divided equally."""
    return tuple(
        fold_model.again(cells=cells._replace(count=held), moments=None, missing=missing / len(fold_models)).count
        for fold_model, held in zip(fold_models, split_folds(cells.count), strict=True)
    )
