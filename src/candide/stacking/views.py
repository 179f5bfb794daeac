"""The interface of views, the rows they read, and the choice of their smoothing strength.

A view is a model of several columns together. It scores rows under every class, and computes leave-one-out scores of
its training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels import Kernels
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Dense, Floats, Positions
from ..statistics.hashing import row_hashes
from .calibration import log_softmax


class FieldsOnlyPickle:
    """A base class for dataclasses that pickles the fields only, not the larger cached tables computed from them."""

    def __getstate__(self) -> dict[str, Any]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # of dataclasses
        return {name: getattr(self, name) for name in names}


# Views of dependent columns are overconfident, so their losses are compared at the best of these temperatures.
_TEMPERATURES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1)
# Maximum number of rows used to choose the smoothing strength.
_FEW_ROWS = 500


class BinnedRows(NamedTuple):
    """Rows as codes and numbers, the input of views."""

    codes: Array  # int32 (rows, columns): 0 to V - 1 for values, V for missing, V + 1 unseen, -1 not given
    numbers: Floats  # (rows, numeric columns), missing as NaN
    without: Array | None = None  # bool (rows, numeric columns): which numbers are not given; None: all are given
    known: Array | None = None  # the codes before masking; None: no cell is masked

    def take(self, rows: Array | slice) -> BinnedRows:
        """Return some of the rows."""
        return BinnedRows._make(None if part is None else part[rows] for part in self)

    def whole(self) -> BinnedRows:
        """Return the rows before masking."""
        return self if self.known is None else BinnedRows(self.known, self.numbers)

    def hashes(self) -> Hashes:
        """Return a hash of each row before masking."""
        whole = self.whole()
        return row_hashes(Dense.of(np.hstack([whole.codes, whole.numbers])))


class LabeledRows(NamedTuple):
    """Rows with classes and weights, from which a view is fitted.

    A row may represent several equal rows. ``case_weight`` is its weight in the sums, and ``weight`` is what is
    subtracted when it is left out: the weight of one copy, scaled like the case weight where a sample represents more
    rows than it holds.
    """

    binned: BinnedRows
    classes: Positions
    case_weight: Floats
    weight: Floats

    def take(self, rows: Array | slice) -> LabeledRows:
        """Return some of the rows."""
        return LabeledRows(self.binned.take(rows), self.classes[rows], self.case_weight[rows], self.weight[rows])

    def subsample(self, most: int = _FEW_ROWS) -> LabeledRows:
        """Return up to 500 of the rows, or ``most``, evenly spaced in their order."""
        n_rows = len(self.classes)
        return self if n_rows <= most else self.take(np.arange(most) * n_rows // most)

    def under_each_class(self, n_classes: int, own: Callable[[Positions, Floats], Floats]) -> Floats:
        """Return scores, ``(rows, classes)``, class by class; weight is removed only from the own class."""
        shares = [
            (np.full_like(self.classes, k), np.where(self.classes == k, self.weight, 0.0)) for k in range(n_classes)
        ]
        return np.column_stack([own(classes, weight) for classes, weight in shares])


class ViewContributions(NamedTuple):
    """The scores of one row under a view, as a sum of terms."""

    columns: Array  # (parts,) positions of columns among the codes
    scores: Floats  # (parts, classes)
    rest: Floats  # (classes,) contribution that belongs to no single column
    pairs: Array = np.zeros((0, 2), dtype=np.int64)  # (pairs, 2) positions of columns with a common term
    pair_scores: Floats | None = None  # (pairs, classes)


class View(Protocol):
    """A view: scores that are log p(x | class) up to a term that all classes share."""

    @property
    def name(self) -> str:
        """The name in summaries."""

    def scores(self, binned: BinnedRows, kernels: Kernels) -> Floats:
        """Return the scores of any rows, ``(rows, classes)``."""

    def left_out(self, binned: BinnedRows, classes: Positions, weight: Floats, kernels: Kernels) -> Floats:
        """Return the scores, ``(rows, classes)``, of training rows, each with this weight of it left out."""

    def contributions(self, binned: BinnedRows, numbers: Array, kernels: Kernels) -> ViewContributions:
        """Return the terms that sum to the scores of one row.

        ``numbers`` are the positions of the numeric columns among the codes.
        """

    def updated(self, cases: LabeledRows, sign: float, kernels: Kernels) -> View:
        """Return the view with rows added to its sums (``sign`` is 1.0) or removed from them (-1.0).

        Codes, coordinates and smoothing strengths stay those of the last refit.
        """


def tempered_loss(scores: Floats, classes: Array, weight: Floats, log_prior: Floats) -> float:
    """Return the mean log-loss of the scores at the best of a few temperatures."""
    rows = np.arange(len(scores))

    def loss(temperature: float) -> float:
        log_posterior = log_softmax(temperature * scores + log_prior)
        return -float(np.average(log_posterior[rows, classes], weights=weight))

    return min(map(loss, _TEMPERATURES))


def least_loss(
    strengths: tuple[float, ...], score: Callable[[float, LabeledRows], Floats], cases: LabeledRows, log_prior: Floats
) -> float:
    """Return the strength with the lowest leave-one-out log-loss on a subsample, the first one in case of ties."""
    few = cases.subsample()
    return min(
        strengths, key=lambda strength: tempered_loss(score(strength, few), few.classes, few.case_weight, log_prior)
    )


def averaged(logs: Floats) -> tuple[Floats, Floats]:
    """Split log mean over parents of exp(Σ over columns) into a term per column and a rest, ``(classes,)``.

    With s the sums over columns and r = softmax(s) over parents, log Σ exp s = Σ r s + H(r). The term of a column is
    the mean of its values over the parents, weighted by r; the entropy H(r) is the rest. ``logs`` is ``(parents,
    columns, classes)``; without parents, the results are 0.

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
    """Compute scores ``size`` rows at a time, to bound the memory of intermediate arrays."""
    n_rows = len(binned.codes)
    if n_rows <= size:
        return scores_of(slice(0, n_rows))
    return np.concatenate([scores_of(slice(begin, begin + size)) for begin in range(0, n_rows, size)])
