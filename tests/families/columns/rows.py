"""Columns as rows, and what one pass keeps of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from candide.data.columns import Column
from candide.families.columns.base import CodedColumn
from candide.families.columns.histogram import size_kept
from candide.kernels.layouts import Array, Floats, Positions
from candide.statistics import Moments
from candide.statistics.grid import Cells


class Rows(NamedTuple):
    """Numbers, or codes of labels, with classes and weights."""

    values: Array
    classes: Positions
    weight: Floats
    n_classes: int
    labels: Array | None = None

    def column(self) -> Column:
        return Column("x", "number" if self.labels is None else "category", self.values, self.labels)

    def missing(self) -> Array:
        return np.isnan(self.values) if self.labels is None else self.values < 0

    def without(self, i: int, weight: float) -> Rows:
        """With so much of the weight of row ``i`` taken out."""
        left = self.weight.copy()
        left[i] -= weight
        return self._replace(weight=left)

    def parts(self) -> dict[str, Any]:
        """What the models of a column are made of."""
        known = ~self.missing() & (self.weight > 0)
        holes = sums(self.classes[self.missing()], self.weight[self.missing()], self.n_classes)
        values, classes, weight = self.values[known], self.classes[known], self.weight[known]
        if self.labels is not None:
            count = np.zeros((self.n_classes, len(self.labels)))
            np.add.at(count, (classes, values), weight)
            return {"labels": self.labels, "count": count, "missing": holes}
        distinct, code = np.unique(values, return_inverse=True)
        count = np.zeros((len(distinct), self.n_classes))
        np.add.at(count, (code, classes), weight)
        moments = moments_of(values, classes, weight, self.n_classes)
        return {"cells": Cells(distinct, distinct, count), "moments": moments, "missing": holes}


def sums(classes: Positions, parts: Floats, n_classes: int) -> Floats:
    return np.bincount(classes, parts, n_classes).astype(np.float64)


def moments_of(values: Floats, classes: Positions, weight: Floats, n_classes: int) -> Moments:
    whole = sums(classes, weight, n_classes)
    mean = sums(classes, weight * values, n_classes) / np.where(whole > 0, whole, 1.0)
    with np.errstate(over="ignore"):
        scatter = sums(classes, weight * (values - mean[classes]) ** 2, n_classes)
    return Moments(whole, whole[:, None], mean[:, None], scatter[:, None])


def numbers(seed: int, n_rows: int = 60, n_classes: int = 3, *, holes: bool = False, distinct: int = 0) -> Rows:
    """Skewed positive numbers whose place depends on the class; whole weights up to 3."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    values = np.exp(rng.normal(0.6 * classes, 0.7))
    if distinct:
        values = np.minimum(np.floor(values), distinct - 1.0)
    if holes:
        values[rng.random(n_rows) < 0.1 + 0.2 * (classes == 1)] = np.nan
    return Rows(values, classes, rng.integers(1, 4, n_rows).astype(np.float64), n_classes)


def names(seed: int, n_rows: int = 60, n_classes: int = 3, n_labels: int = 6) -> Rows:
    """Categories with holes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    values = np.minimum(rng.poisson(1.0 + classes), n_labels - 1).astype(np.int32)
    values[rng.random(n_rows) < 0.1 + 0.2 * (classes == 1)] = -1
    labels = np.array([f"label {i}" for i in range(n_labels)], dtype=object)
    return Rows(values, classes, rng.integers(1, 4, n_rows).astype(np.float64), n_classes, labels)


def brute_loss(model: Any, rows: Rows, log_prior: Floats) -> float:
    """Every row, copy by copy, scored by a model made again without it; its class keeps its size."""
    total = 0.0
    for i in np.flatnonzero(rows.weight > 0):
        copy = min(1.0, float(rows.weight[i]))
        one = Column("x", rows.column().kind, rows.values[i : i + 1], rows.labels)
        rest = model.again(**rows.without(int(i), copy).parts())
        joint = rest.scores(one)[0] + log_prior
        if not (rows.missing()[i] and not _is_table(model)):
            joint[rows.classes[i]] += _size_kept(model, rest, rows, log_prior)[rows.classes[i]]
        total += rows.weight[i] * (np.logaddexp.reduce(joint) - joint[rows.classes[i]])
    return total / float(rows.weight.sum())


def _size_kept(model: Any, rest: Any, rows: Rows, log_prior: Floats) -> Floats:
    """What a class whose size stays adds, in comparison with one that is smaller by a row."""
    if _is_table(model):
        return np.asarray(np.log(getattr(rest, "presence", rest).whole / getattr(model, "presence", model).whole))
    known = np.bincount(rows.classes, rows.weight * ~rows.missing(), rows.n_classes)
    return size_kept(known, 1.0)


def _is_table(model: Any) -> bool:
    """Whether the size of a class is the whole of a table; then cells that say nothing are not in it."""
    return isinstance(getattr(model, "presence", model), CodedColumn)
