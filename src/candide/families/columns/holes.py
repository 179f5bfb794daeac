"""Missing cells as a value beside a distribution of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from ...data.columns import Column
from ...kernels.layouts import Array, Floats, Positions
from ...lazy_dataclass import dataclass
from .base import CodedColumn
from .losses import log_others, own_kept, weighted_losses
from .parametric import ParametricColumn

_KNOWN, _MISSING = 0, 1


@dataclass(frozen=True, eq=False)
class WithHoles:
    """First whether the cell is there, then what it holds: p(missing | class), or p(known | class) p(x | class)."""

    inner: ParametricColumn
    presence: CodedColumn

    @property
    def family(self) -> str:
        return self.inner.family

    @property
    def n_parameters(self) -> int:
        return self.inner.n_parameters + self.presence.n_parameters

    def describe(self) -> str:
        return self.inner.describe() + ", missing is a value"

    def scores(self, column: Column) -> Floats:
        return self.inner.scores(column) + self.presence.table()[self._codes(column)]

    def left_out(self, column: Column, classes: Positions, weight: Floats | None, *, keep_size: bool = False) -> Floats:
        codes = Column(column.name, "number", self._codes(column).astype(np.float64))
        there = self.presence.left_out(codes, classes, weight, keep_size=keep_size)
        return self.inner.left_out(column, classes, weight) + there

    def _codes(self, column: Column) -> Array:
        if column.kind == "number":
            return np.where(np.isnan(np.asarray(column.values, dtype=np.float64)), _MISSING, _KNOWN)
        return np.full(len(column.values), _MISSING)

    def class_loss(self, log_prior: Floats, row: float | Floats = 1.0) -> float:
        there, count = self.presence, self.presence.count
        joint = there.table() + log_prior
        own = own_kept(there.part, there.whole, there.own[:, None], np.minimum(count, row)) + log_prior
        absent = weighted_losses(log_others(joint[[_MISSING]]), own[[_MISSING]], count[[_MISSING]])
        known = self.inner.loss_of_known(joint[_KNOWN], own[_KNOWN], row)
        return (known + float(absent.sum())) / max(float(count.sum()), 1e-300)

    def again(self, **parts: Any) -> Self:
        inner = self.inner.again(**parts)
        presence = replace(self.presence, count=_count(inner))
        return replace(self, inner=_without_holes(inner), presence=presence)

    def sample(self, classes: Positions, rng: np.random.Generator) -> Array:
        return self.inner.sample(classes, rng)

    def expected(self, posterior: Floats) -> Array:
        return self.inner.expected(posterior)

    def parameters(self) -> dict[str, Array]:
        return self.inner.parameters()


def with_holes(inner: ParametricColumn, strength: float = 1.0) -> WithHoles:
    """Presence smoothed by as many rows with the share of all classes together.

    >>> from candide.families.columns.changes import moments_of
    >>> from candide.families.columns.normal_column import gaussian
    >>> from candide.families.columns.stretches import Numbers
    >>> from candide.statistics.grid import Cells
    >>> x, count = np.arange(2.0), np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> model = with_holes(gaussian(Numbers(Cells(x, x, count), moments_of(x, count), np.array([0.0, 2.0]))))
    >>> np.exp(model.scores(Column("x", "number", np.array([np.nan])))).round(3)
    array([[0.111, 0.467]])
    """
    count = _count(inner)
    weight = count.sum(axis=1) + np.array([0.0, 0.0 if inner.ignored.any() else 0.5])
    base = strength * (weight + 1e-9) / (weight + 1e-9).sum()
    presence = CodedColumn("presence", "", count, base, np.zeros(count.shape[1]), labels=np.arange(2.0))
    return WithHoles(_without_holes(inner), presence)


def _count(inner: ParametricColumn) -> Floats:
    return np.stack([inner.cells.count.sum(axis=0), inner.ignored])


def _without_holes(inner: ParametricColumn) -> ParametricColumn:
    return replace(inner, ignored=np.zeros_like(inner.ignored))
