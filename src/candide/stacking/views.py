"""What a view is, what it reads, and how its smoothing strength is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from .calibration.base import log_softmax


class FieldsOnlyPickle:
    """A dataclass of which the fields alone are pickled: tables that were made of them would outweigh these."""

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # of dataclasses
        return {name: getattr(self, name) for name in names}


# Scores of views that repeat themselves are too sure; each is judged at the temperature that suits it best.
_TEMPERATURES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1)
# Rows that are enough to choose between a few strengths.
_FEW_ROWS = 500


class BinnedRows(NamedTuple):
    """Rows as views see them."""

    codes: Array  # int32 (rows, columns): of a column's V codes 0 to V - 1; V is missing, V + 1 unseen, -1 not given
    numbers: Floats  # (rows, number columns), missing as NaN
    without: Array | None = None  # bool (rows, number columns): which numbers are not given; None: all are
    known: Array | None = None  # the codes before cells were masked; None: no cell is masked

    def take(self, rows: Array | slice) -> BinnedRows:
        """Some of the rows."""
        return BinnedRows._make(None if part is None else part[rows] for part in self)

    def whole(self) -> BinnedRows:
        """Return the rows without the mask."""
        return self if self.known is None else BinnedRows(self.known, self.numbers)


class LabeledRows(NamedTuple):
    """Rows that a view learns from.

    A row may stand for several: it is in the sums with its ``case_weight``, and ``weight`` is what leaves them when it
    is left out. That is the weight of one copy as it counts in the sums: where a sample stands for more rows than it
    holds, scaled like the case weight.
    """

    binned: BinnedRows
    classes: Positions
    case_weight: Floats
    weight: Floats

    def take(self, rows: Array | slice) -> LabeledRows:
        """Some of the rows."""
        return LabeledRows(self.binned.take(rows), self.classes[rows], self.case_weight[rows], self.weight[rows])

    def subsample(self, most: int = _FEW_ROWS) -> LabeledRows:
        """Up to 500 of the rows, or ``most``, evenly spaced in the order they are in."""
        n_rows = len(self.classes)
        return self if n_rows <= most else self.take(np.arange(most) * n_rows // most)

    def under_each_class(self, n_classes: int, own: Callable[[Positions, Floats], Floats]) -> Floats:
        """``(rows, classes)`` from scores under one class without some weight of it; other classes than the own one
        lose none.
        """
        shares = [
            (np.full_like(self.classes, k), np.where(self.classes == k, self.weight, 0.0)) for k in range(n_classes)
        ]
        return np.column_stack([own(classes, weight) for classes, weight in shares])


class ViewContributions(NamedTuple):
    """One row's scores under a view as a sum."""

    columns: Array  # (parts,) places of columns among the codes
    scores: Floats  # (parts, classes)
    rest: Floats  # (classes,) what belongs to no column alone


class View(Protocol):
    """One look at the rows: scores that are log p(x | class) up to a term that all classes share."""

    @property
    def name(self) -> str:
        """What a summary calls it."""

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        """``(rows, classes)`` of any rows."""

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        """``(rows, classes)`` of rows that the view has learned, each as if this weight of it had not been there."""

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        """What the scores of one row are the sum of. ``numbers``: places of the number columns among the codes."""

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        """With further rows in its sums (``sign`` is 1.0), or without some that are in them (-1.0).

        Codes, coordinates and strengths of smoothing stay as the last refit has made them.
        """


def tempered_loss(scores: Floats, classes: Array, weight: Floats, log_prior: Floats) -> float:
    """The mean log-loss of the scores, at the best of a few temperatures."""
    rows = np.arange(len(scores))

    def loss(temperature: float) -> float:
        log_posterior = log_softmax(temperature * scores + log_prior)
        return -float(np.average(log_posterior[rows, classes], weights=weight))

    return min(map(loss, _TEMPERATURES))


def least_loss(
    strengths: tuple[float, ...], score: Callable[[float, LabeledRows], Floats], cases: LabeledRows, log_prior: Floats
) -> float:
    """The strength under which a few rows, each left out, are predicted best; of equals the first."""
    few = cases.subsample()
    return min(
        strengths, key=lambda strength: tempered_loss(score(strength, few), few.classes, few.case_weight, log_prior)
    )


def averaged(logs: Floats) -> tuple[Floats, Floats]:
    """log of the mean over parents of exp(Σ over columns), ``(classes,)``, as a sum: of each column, and the rest.

    Nothing of any column without parents.

    From ``(parents, columns, classes)``. With s the sums and r = softmax(s), log Σ exp s = Σ r s + H(r): a column adds
    the mean of what it says beside each parent, weighed by how well that one explains the row, and the entropy of
    those weights is a term of its own.

    >>> logs = np.log(np.array([[[0.5], [0.2]], [[0.1], [0.4]]]))
    >>> columns, rest = averaged(logs)
    >>> round(float(np.exp(columns.sum() + rest[0])), 12), (0.5 * 0.2 + 0.1 * 0.4) / 2
    (0.07, 0.07)
    """
    if not len(logs):
        return np.zeros(logs.shape[1:]), np.zeros(logs.shape[2])
    sums = logs.sum(axis=1)
    log_share = sums - np.logaddexp.reduce(sums, axis=0)
    share = np.exp(log_share)
    entropy = -np.where(share > 0, share * log_share, 0.0).sum(axis=0)
    return np.einsum("uk,ujk->jk", share, logs), entropy - np.log(len(logs))


def by_chunks(binned: BinnedRows, scores_of: Callable[[slice], Floats], size: int) -> Floats:
    """Scores of many rows, ``size`` of them at a time: what is made of all at once would take much memory."""
    n_rows = len(binned.codes)
    if n_rows <= size:
        return scores_of(slice(0, n_rows))
    return np.concatenate([scores_of(slice(begin, begin + size)) for begin in range(0, n_rows, size)])
