"""Effects of single columns and of pairs of columns on the scores of a view, for explanations."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from .binning import MergedCodes
from .views import FieldsOnlyPickle, ViewContributions

# The ridge of effects, in rows.
_RIDGE = 20.0
# Factor of the variance by chance that is subtracted from the variance of an effect.
_CHANCE_FACTOR = 3.0
# Number of columns with the largest effects whose pairs are tried, and maximum number of pairs that are kept.
_PAIRED, _MOST_PAIRS = 12, 12


@dataclass(frozen=True)
class Effects(FieldsOnlyPickle):
    """Scores as a sum of effects of columns and of pairs of columns, each of mean about 0, and a remainder."""

    merged: MergedCodes
    single: Floats  # (slots, classes)
    pairs: Array  # int64 (pairs, 2): positions among the columns of the merged codes
    joint: Floats  # (joint slots of all pairs, classes)

    def contributions(self, codes: Positions, score: Floats) -> ViewContributions:
        """Return the terms of the score of one row; effects are 0 for rows with a missing column."""
        slots, sizes = self.merged.slots(codes), pair_sizes(self.merged, self.pairs)
        if slots.min(initial=0) < 0:
            single, joint = (np.zeros((n, len(score))) for n in (slots.shape[1], len(self.pairs)))
        else:
            own = [int(_joint_slots(self.merged, slots, pair)[0]) for pair in self.pairs]
            place = np.cumsum(sizes) - sizes + np.array(own, dtype=np.int64)
            single, joint = self.single[slots[0]], self.joint[place]
        rest = score - single.sum(axis=0) - joint.sum(axis=0)
        return ViewContributions(self.merged.columns, single, rest, self.merged.columns[self.pairs], joint)


def pair_sizes(merged: MergedCodes, pairs: Array) -> Array:
    """Return the number of joint slots of each pair."""
    return np.asarray(merged.sizes[pairs].prod(axis=1))


def _joint_slots(merged: MergedCodes, slots: Positions, pair: Array) -> Positions:
    own = slots[:, pair].astype(np.int64) - merged.offsets[pair]
    return np.asarray(own[:, 0] * merged.sizes[pair[1]] + own[:, 1])


class _Rows(NamedTuple):
    slots: Positions
    weight: Floats  # of mean 1
    kernels: Kernels


def fit_effects(merged: MergedCodes, scores: Floats, codes: Positions, weight: Floats, kernels: Kernels) -> Effects:
    """Return the effects of columns, and of the pairs that explain most of the residuals.

    Parameters
    ----------
    merged : MergedCodes
        The columns, with few slots each.
    scores : array of shape (rows, classes)
        The scores of a view.
    codes : array of shape (rows, columns)
        The codes of all columns.
    weight : array of shape (rows,)
        The weights of the rows.
    """
    rows = _Rows(merged.slots(codes), weight / weight.mean(), kernels)
    centered = scores - np.average(scores, axis=0, weights=rows.weight)
    single, variance = _single_effects(merged, centered, rows)
    residual = centered - single[rows.slots].sum(axis=1)
    tried = np.sort(np.argsort(-variance, kind="stable")[:_PAIRED])
    pairs = [np.array(pair) for pair in combinations(tried.tolist(), 2)]
    gains = np.array([_pair_effect(merged, residual, rows, pair).variance for pair in pairs])
    kept, tables = [], []
    for pair in (pairs[place] for place in np.argsort(-gains, kind="stable")[:_MOST_PAIRS].tolist()):
        effect = _pair_effect(merged, residual, rows, pair)
        if effect.variance > 0:
            residual = residual - effect.table[effect.place]
            kept.append(pair)
            tables.append(effect.table)
    n_classes = scores.shape[1]
    return Effects(
        merged, single, np.array(kept, dtype=np.int64).reshape(-1, 2), np.vstack([np.zeros((0, n_classes)), *tables])
    )


def _single_effects(merged: MergedCodes, scores: Floats, rows: _Rows) -> tuple[Floats, Floats]:
    """Return shrunken effects from a least squares fit, each with mean 0 over the rows, and their variances."""
    from scipy.linalg import cho_factor, cho_solve

    slots, weight = rows.slots, rows.weight
    n_slots, n_columns = int(merged.offsets[-1]), slots.shape[1]
    none = np.zeros(len(slots), dtype=np.int32)
    matrix = rows.kernels.joint_counts(slots, slots, none, weight, (1, n_slots, n_slots))[0]
    count = np.diag(matrix).copy()
    matrix[np.diag_indices(n_slots)] += _RIDGE
    at = slots.ravel()
    sums = [np.bincount(at, np.repeat(weight * own, n_columns), minlength=n_slots) for own in scores.T]
    found = cho_solve(cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False), np.column_stack(sums))
    offsets, sizes = merged.offsets[:-1], merged.sizes
    total = np.maximum(np.add.reduceat(count, offsets), 1e-300)
    found -= np.repeat(np.add.reduceat(found * count[:, None], offsets, axis=0) / total[:, None], sizes, axis=0)
    found[count == 0] = 0.0
    variance = np.add.reduceat((found**2).sum(axis=1) * count, offsets) / total
    kept = _shrinkage(variance, sizes, scores - found[slots].sum(axis=1), weight)
    return np.asarray(found * np.repeat(kept, sizes)[:, None]), kept**2 * variance


def _shrinkage(variance: Floats | np.floating, n_values: Array | int, residual: Floats, weight: Floats) -> Floats:
    """Return the factor that shrinks effects by the share of their variance that is due to chance."""
    by_chance = (
        _CHANCE_FACTOR * (n_values - 1) * float(np.average((residual**2).sum(axis=1), weights=weight)) / weight.sum()
    )
    return np.asarray(np.maximum(1.0 - by_chance / np.maximum(variance, 1e-300), 0.0))


class _PairEffect(NamedTuple):
    place: Positions  # joint slot of each row
    table: Floats  # (joint slots, classes)
    variance: float


def _pair_effect(merged: MergedCodes, residual: Floats, rows: _Rows, pair: Array) -> _PairEffect:
    """Return the shrunk means of the residuals by the joint slots of two columns."""
    place, size = _joint_slots(merged, rows.slots, pair), int(merged.sizes[pair].prod())
    count = np.bincount(place, rows.weight, minlength=size)
    sums = [np.bincount(place, rows.weight * own, minlength=size) for own in residual.T]
    table = np.column_stack(sums) / (count + _RIDGE)[:, None]
    variance = count @ (table**2).sum(axis=1) / rows.weight.sum()
    kept = float(_shrinkage(variance, int(np.count_nonzero(count)), residual - table[place], rows.weight))
    return _PairEffect(place, kept * table, kept**2 * float(variance))
