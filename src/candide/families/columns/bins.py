"""Numbers in bins: shares smoothed towards those of all classes together, which do not depend on labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy_dataclass import dataclass
from ...statistics.grid import Cells
from .base import CodedColumn
from .discretise import deal
from .histogram import MICRO_BINS, Numbers, averages, cuts_between, equal_frequency, merged, middles, occupied
from .losses import loss_of_nothing

# Weight of rows that the shares of all classes together count for.
STRENGTHS = (1.0, 5.0)
BIN_NUMBERS = (5, 10, 20)
_ROWS_BESIDE_ATOMS = 5.0


@dataclass(frozen=True, eq=False)
class Coding:
    """Stretches of cells with a code each, and one more for missing cells if they are a value."""

    count: Floats  # (codes, classes)
    share: Floats  # (codes,) of all classes together
    ignored: Floats  # (classes,)
    cuts: Floats
    ends: tuple[float, float]
    center: Floats  # of the numbers
    missing: int | None
    atoms: Floats | None  # of the numbers: the value where a code is a point mass, else NaN

    def model(self, family: str, note: str, strength: float, smoother: Floats | None = None) -> CodedColumn:
        """The model whose base is ``strength`` rows with the shares of all classes together."""
        base = strength * self.share
        geometry = self.cuts, self.ends, self.center
        return CodedColumn(
            family, note, self.count, base, self.ignored, smoother, *geometry, None, self.missing, atoms=self.atoms
        )


def coding(numbers: Numbers, first: Array, missing_code: bool) -> Coding:
    """Stretches that begin with the cells ``first``; ``missing_code``: missing cells have a code of their own.

    The atoms of the column are stretches by themselves, whether ``first`` has them or not.
    """
    cells, missing, atoms = numbers.cells, numbers.missing, numbers.atoms
    if len(atoms):
        first = np.unique(np.concatenate([first, atoms, np.minimum(atoms + 1, len(cells.low) - 1)]))
    bins, places = merged(cells, first), np.searchsorted(first, atoms)
    ends = float(bins.low[0]), float(bins.high[-1])
    count, weight, ignored = bins.count, bins.count.sum(axis=1), missing
    if missing_code:
        # Half a row where none was missing in training, so that absence is possible.
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


def micro(numbers: Numbers) -> Numbers:
    """The column in at most 64 stretches of about equal weight, besides its atoms.

    What atoms leave may be few rows: their stretches hold at least five rows each on average.
    """
    cells, atoms = occupied(numbers.cells), numbers.atoms
    weight, most = cells.count.sum(axis=1), MICRO_BINS
    if len(atoms):
        rest = float(np.delete(weight, atoms).sum())
        most = int(np.clip(rest / _ROWS_BESIDE_ATOMS, BIN_NUMBERS[0], MICRO_BINS))
    first = equal_frequency(weight, most, atoms)
    return numbers._replace(cells=merged(cells, first), atoms=np.searchsorted(first, atoms))


def bins(numbers: Numbers, first: Array, strength: float, missing_code: bool = False) -> CodedColumn:
    """Bins that begin with the cells ``first``.

    >>> from candide.statistics import Moments
    >>> cells = Cells(np.arange(4.0), np.arange(4.0), np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> model = bins(Numbers(cells, Moments(*np.zeros((4, 2, 1))), np.zeros(2)), np.array([0, 2]), strength=1.0)
    >>> model.cuts, model.count.tolist(), model.describe()
    (array([1.5]), [[3.0, 0.0], [1.0, 4.0]], '2 bins')
    """
    made = coding(numbers, first, missing_code)
    return made.model("bins", _note(made), strength)


def usual_bins(small: Numbers, missing_code: bool) -> list[CodedColumn]:
    """5, 10 and 20 bins of equal frequency besides the atoms, made of a column in few stretches."""
    weight = small.cells.count.sum(axis=1)
    models = []
    for n_bins in BIN_NUMBERS:
        if len(weight) - len(small.atoms) > n_bins or n_bins == BIN_NUMBERS[0]:
            made = coding(small, equal_frequency(weight, n_bins, small.atoms), missing_code)
            models += [made.model("bins", _note(made), strength) for strength in STRENGTHS]
    return models


def _note(made: Coding) -> str:
    n_atoms = 0 if made.atoms is None else int(np.isfinite(made.atoms).sum())
    n_bins = len(made.cuts) + 1 - n_atoms
    return "1 bin" if n_bins == 1 else f"{n_bins} bins"


@dataclass(frozen=True, eq=False)
class FoldedBins(CodedColumn):
    """Bins whose cuts were made with the labels in sight, judged by folds.

    Cuts that have seen a row's label fit it. So the rows are dealt into folds (``deal``); a judge has the cuts that
    the other folds make, and the counts of all rows, and scores the rows of its fold, each left out of the counts.
    """

    judges: tuple[CodedColumn, ...] = ()
    held: tuple[Floats, ...] = ()  # the rows of each judge's fold, (codes, classes)

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        losses = (judge.loss_of(rows, log_prior, row) for judge, rows in zip(self.judges, self.held, strict=True))
        return (sum(losses) + loss_of_nothing(self.ignored, log_prior)) / max(self.weight, 1e-300)

    def again(self, **parts: Any) -> Self:
        made = super().again(**parts)
        judges = tuple(judge.again(**parts) for judge in self.judges)
        return replace(made, judges=judges, held=_held(judges, parts["cells"], parts["missing"]))


def supervised_bins(
    numbers: Numbers, cut: Callable[[Cells], Array], strength: float, missing_code: bool = False
) -> FoldedBins:
    """Bins that begin with the cells which ``cut`` finds from the counts of the classes."""
    cells = occupied(numbers.cells)
    numbers = numbers._replace(cells=cells)
    judges = tuple(bins(numbers, _cut_without(cells, held, cut), strength, missing_code) for held in deal(cells.count))
    final = bins(numbers, cut(cells), strength, missing_code)
    return FoldedBins(**vars(final), judges=judges, held=_held(judges, cells, numbers.missing))


def _cut_without(cells: Cells, held: Floats, cut: Callable[[Cells], Array]) -> Array:
    """The first cells of the bins that are made when some rows were never there."""
    count = cells.count - held
    left = np.flatnonzero(count.sum(axis=1) > 1e-9)
    if not len(left):
        return np.zeros(1, dtype=np.int64)
    others = Cells(cells.low[left], cells.high[left], np.maximum(count[left], 0.0))
    cuts = cuts_between(merged(others, cut(others)))
    return np.unique(np.append(0, np.searchsorted(middles(cells), cuts)))


def _held(judges: tuple[CodedColumn, ...], cells: Cells, missing: Floats) -> tuple[Floats, ...]:
    """The rows of each fold as its judge codes them; missing cells, which no cut has seen, in equal parts."""
    return tuple(
        judge.again(cells=cells._replace(count=held), moments=None, missing=missing / len(judges)).count
        for judge, held in zip(judges, deal(cells.count), strict=True)
    )
