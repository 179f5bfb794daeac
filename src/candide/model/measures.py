"""What can be said about probabilities when the truth is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.layouts import Array, Floats, Positions
from .table import Table, named

N_BINS = 15
N_POINTS = 200


def mean_and_error(
    values: Floats, weight: Floats, multiplicity: Array, groups: Array | None = None
) -> tuple[float, float]:
    """The weighted mean and its standard error: infinite where the mean is, NaN for a single row or group.

    The weight of a row, all its copies together, says how much it counts; the multiplicity alone says how often it was
    seen, so heavy weights do not make the error small. Rows of one of the ``groups`` are one observation.
    """
    mean, n_rows = float(np.average(values, weights=weight)), multiplicity.sum()
    if groups is not None:
        own = np.unique(groups, return_inverse=True)[1]
        n_rows = int(own.max(initial=-1)) + 1
    if n_rows < 2 or np.isinf(mean):
        return mean, mean if np.isinf(mean) else np.nan
    if groups is not None:
        variance = (np.bincount(own, weight * (values - mean)) ** 2).sum() * n_rows / (n_rows - 1)
        return mean, float(np.sqrt(variance) / weight.sum())
    variance = ((weight * (values - mean)) ** 2 / multiplicity).sum() * n_rows / (n_rows - 1)
    return mean, float(np.sqrt(variance) / weight.sum())


def squared_error(probability: Floats, classes: Positions) -> Floats:
    """Σ (p - truth)² over all classes, row by row."""
    own = probability[np.arange(len(classes)), classes]
    return np.asarray(np.maximum(np.einsum("rc,rc->r", probability, probability) + 1.0 - 2.0 * own, 0.0))


def confusion(classes: Positions, answer: Array, weight: Floats, n_classes: int) -> Floats:
    """Weight of rows, true × answered."""
    cells = np.bincount(classes * np.int64(n_classes) + answer, weight, minlength=n_classes**2)
    return np.asarray(cells.reshape(n_classes, n_classes), dtype=np.float64)


def per_class(confused: Floats, labels: Array) -> Table:
    """Precision, recall and their harmonic mean; NaN where there is nothing to divide by."""
    right, answered, true = np.diag(confused), confused.sum(axis=0), confused.sum(axis=1)
    return Table(
        {
            "class": named(np.arange(len(labels)), labels),
            "precision": _share(right, answered),
            "recall": _share(right, true),
            "f1": _share(2.0 * right, answered + true),
            "weight": true,
        }
    )


class Confidences(NamedTuple):
    """Weights of answers and of right ones by confidence, each distinct value once, rising: ties have no order."""

    confidence: Floats
    weight: Floats
    right: Floats

    @classmethod
    def of(cls, confidence: Floats, right: Array, weight: Floats) -> Confidences:
        distinct, place = np.unique(confidence, return_inverse=True)
        return cls(distinct, *(np.bincount(place, part).astype(np.float64) for part in (weight, weight * right)))

    def reliability(self) -> Table:
        """Mean confidence and accuracy in bins of about equal weight."""
        middle = (np.cumsum(self.weight) - self.weight / 2.0) / self.weight.sum()
        place = np.minimum((middle * N_BINS).astype(np.intp), N_BINS - 1)
        weight = np.bincount(place, self.weight)
        filled = np.flatnonzero(weight)
        confidence = np.bincount(place, self.weight * self.confidence)[filled] / weight[filled]
        accuracy = np.bincount(place, self.right)[filled] / weight[filled]
        return Table({"confidence": confidence, "accuracy": accuracy, "weight": weight[filled]})

    def risk_by_coverage(self) -> tuple[Table, float]:
        """Error rates of the surest answers by the share they make up, and the mean over that share."""
        weight, wrong = self.weight[::-1], (self.weight - self.right)[::-1]
        answered = np.cumsum(weight)
        risk = np.maximum(np.cumsum(wrong), 0.0) / answered
        shown = np.unique(np.linspace(0, len(risk) - 1, N_POINTS).round().astype(np.intp))
        curve = Table({"coverage": (answered / answered[-1])[shown], "risk": risk[shown]})
        return curve, float(np.average(risk, weights=weight))


def expected_calibration_error(reliability: Table) -> float:
    """The mean distance of confidence from accuracy."""
    gap = np.abs(reliability["confidence"] - reliability["accuracy"])
    return float(np.average(gap, weights=reliability["weight"]))


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0))
