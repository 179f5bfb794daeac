"""Weights of views for rows of which some columns are not given.

Of two columns that share a message one needs more weight when the other is not given. The weights change with the share
s of the columns that are given, from ``near`` (almost all) to ``far`` (almost none), and the bias fades to the class
prior:

    scores = log prior + s (bias - log prior) + Σ_v (s near_v + (1 - s) far_v) · F_v

Both are fitted on left-out rows of training with columns taken away at random. Complete rows have the weights of the
weights itself.
"""

from __future__ import annotations

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .weights import StackingWeights, fit_weights_from

# Different sets of columns that are taken away, and rows that they are taken from: at most, and per row of training.
_PATTERNS = 256
_MOST_ROWS, _REPLICATES = 3_600, 8
# Scores (views × rows × classes) that are held at once.
_MOST_SCORES = 1 << 20
_SEED = 20
# CholeskyFactor on the ridges of the far weights, which differ more from those of complete rows.
_FAR_RIDGE = 0.1


@dataclass(frozen=True)
class PartialWeights:
    """For each view and class a weight where almost all columns are given, and one where almost none is."""

    near: Floats  # (views, classes)
    far: Floats
    bias: Floats  # (classes,) where almost all columns are given

    def take(self, views: list[int]) -> PartialWeights:
        """Of some views."""
        return PartialWeights(self.near[views], self.far[views], self.bias)

    def at(self, share: float) -> Floats:
        """The weights of a row of which such a share of the columns is given."""
        return np.asarray(share * self.near + (1.0 - share) * self.far)

    def biases(self, share: Floats, log_prior: Floats) -> Floats:
        """``(rows, classes)``: the biases of rows with such shares of the columns."""
        # Impossible classes are handled later.
        known = np.where(np.isfinite(log_prior), log_prior, self.bias)
        return np.asarray(known + share[:, None] * (self.bias - known))


@dataclass(frozen=True)
class Masks:
    """Rows, several times, each time without some columns."""

    rows: Array  # (cases,) places of rows
    absent: Array  # bool (cases, columns)


def draw_masks(n_rows: int, n_columns: int, n_scores: int) -> Masks:
    """Sets of columns that are not given, from few to most; every row gets a set or two. Of a fixed seed.

    ``n_scores`` is the number of views times that of classes.
    """
    rng = np.random.default_rng(_SEED)
    share = (np.arange(_PATTERNS) + 0.5) / _PATTERNS
    # At least one column is given, and one is not.
    n_absent = np.clip(np.round(share * n_columns), 1, n_columns - 1).astype(np.int64)
    place = np.argsort(rng.random((_PATTERNS, n_columns)), axis=1)
    patterns = place < n_absent[:, None]
    n_cases = min(_REPLICATES * n_rows, _MOST_ROWS, max(200, _MOST_SCORES // max(1, n_scores)))
    cases = np.arange(n_cases)
    rows = cases * n_rows // n_cases if n_cases <= n_rows else cases % n_rows
    # Rows with the same absent columns are adjacent, so that views compute what depends on the set once.
    return Masks(rng.permutation(rows), patterns[cases * _PATTERNS // n_cases])


def fit_partial(
    whole: StackingWeights,
    views: Floats,
    share: Floats,
    classes: Array,
    weight: Floats,
    log_prior: Floats,
    ridge: Floats,
) -> PartialWeights:
    """From weights for complete rows and left-out scores of rows without some columns, ``(views, rows, classes)``.

    ``share`` is the share of columns that each row has. ``ridge`` holds the weights of each view for almost all columns
    to those for complete rows, and more loosely those for almost none to the mean of these over the classes.
    """
    shown = np.stack([whole.standardized(v, scores).T for v, scores in enumerate(views)], axis=1)
    start = PartialWeights(
        whole.weight, np.repeat(whole.weight.mean(axis=1, keepdims=True), len(shown), axis=1), whole.bias
    )
    found = fit_weights_from(
        np.concatenate([share * shown, (1.0 - share) * shown], axis=1),
        start.biases(share, log_prior).T,
        share,
        np.concatenate([start.near, start.far]),
        np.concatenate([ridge, _FAR_RIDGE * ridge]),
        classes,
        weight,
    )
    near, far = np.split(found[0], 2)
    return PartialWeights(near, far, whole.bias + found[1])
