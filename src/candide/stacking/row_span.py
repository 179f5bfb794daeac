"""Logistic regression that goes on from scores: what a sum over the tokens of a row adds to them.

    least over δ:  Σ_i weight_i · -log softmax(offset_i + x_i δ)[class of i]  +  ½ ridge |δ|²

The solution is a sum of rows, δ = Xᵀ a. So all that the search keeps has the size (rows, classes), however many tokens
there are: coefficients a, and the scores X δ = X Xᵀ a that they give. Newton's steps, each by conjugate gradients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass

# The length of the slope, in parts of the first, at which the search ends.
_FLAT = 1e-4
_STEPS, _INNER_STEPS = 30, 60


class Change(NamedTuple):
    """A change of δ: its coefficients, and what it adds to the scores of the rows."""

    by_row: Floats
    scores: Floats

    def plus(self, times: float, other: Change) -> Change:
        return Change(self.by_row + times * other.by_row, self.scores + times * other.scores)

    def dot(self, other: Change) -> float:
        """The product of the two changes of δ."""
        return float(np.vdot(self.by_row, other.scores))


@dataclass(frozen=True)
class Regression:
    """The problem: a sparse matrix of rows, their classes, weights and offsets, and the ridge."""

    rows: Any
    by_token: Any  # the same, transposed
    classes: Array
    weight: Floats
    offset: Floats
    ridge: float

    @classmethod
    def of(cls, rows: Any, classes: Array, weight: Floats, offset: Floats, ridge: float) -> Regression:
        return cls(rows, rows.T.tocsr(), classes, weight, offset, ridge)

    def solve(self) -> Floats:
        """δ, ``(tokens, classes)``."""
        at = Change(np.zeros_like(self.offset), np.zeros_like(self.offset))
        flat: float | None = None
        for _ in range(_STEPS):
            share = self._share(at.scores)
            slope = self._slope(at, share)
            length = slope.dot(slope)
            flat = _FLAT**2 * length if flat is None else flat
            if length <= flat:
                break
            at = self._further(at, self._newton(slope, share), slope)
        return np.asarray(self.by_token @ at.by_row)

    def _share(self, scores: Floats) -> Floats:
        total = self.offset + scores
        total -= total.max(axis=1, keepdims=True)
        share = np.exp(total)
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def _slope(self, at: Change, share: Floats) -> Change:
        wrong = share.copy()
        wrong[np.arange(len(wrong)), self.classes] -= 1.0
        return self._spread(wrong * self.weight[:, None]).plus(self.ridge, at)

    def _spread(self, by_row: Floats) -> Change:
        """The change with these coefficients."""
        if by_row.shape[1] == 2:  # one column is the other's mirror
            scores = self.rows @ (self.by_token @ by_row[:, 1:])
            return Change(by_row, np.concatenate([-scores, scores], axis=1))
        return Change(by_row, self.rows @ (self.by_token @ by_row))

    def _newton(self, slope: Change, share: Floats) -> Change:
        """Where the slope's own slope says that it is 0, roughly: by conjugate gradients."""
        left = way = Change(-slope.by_row, -slope.scores)
        step = Change(np.zeros_like(share), np.zeros_like(share))
        length = slope.dot(slope)
        enough = 0.01 * length
        for _ in range(_INNER_STEPS):
            bent = self._spread(self._curved(way.scores, share)).plus(self.ridge, way)
            far = length / way.dot(bent)
            step, left = step.plus(far, way), left.plus(-far, bent)
            before, length = length, left.dot(left)
            if length <= enough:
                break
            way = left.plus(length / before, way)
        return step

    def _curved(self, scores: Floats, share: Floats) -> Floats:
        """How the slope of the loss changes, row by row, with scores."""
        moved = share * scores
        moved -= share * moved.sum(axis=1, keepdims=True)
        moved *= self.weight[:, None]
        return moved

    def _further(self, at: Change, step: Change, slope: Change) -> Change:
        """As far along a step as it pays."""
        here, descent, far = self._value(at), slope.dot(step), 1.0
        while far > 1e-9:
            there = at.plus(far, step)
            if self._value(there) <= here + 1e-4 * far * descent:
                return there
            far /= 2
        return at

    def _value(self, at: Change) -> float:
        total = self.offset + at.scores
        own = total[np.arange(len(total)), self.classes]
        top = total.max(axis=1)
        loss = top - own + np.log(np.exp(total - top[:, None]).sum(axis=1))
        return float(self.weight @ loss) + 0.5 * self.ridge * at.dot(at)
