"""Calibration of scores, fitted on scores of rows left out.

Four methods, from stiff to supple: ``temperature`` (one or two numbers, keeps the order of the classes), ``platt``
(and a bias per class), ``beta`` (three numbers per curve) and ``isotonic`` (any rising curve).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...kernels.layouts import Array, Floats, Positions
from ...lazy_dataclass import dataclass
from ..folds import stratified_folds
from .base import Calibration, CalibrationRows, log_softmax
from .scaling import Scaling, fit_scaling

__all__ = ["METHODS", "Calibration", "calibrate", "cross_fitted", "log_softmax"]

METHODS = ("temperature", "platt", "beta", "isotonic")
_FEW = 10


def calibrate(
    method: str,
    scores: Floats,
    classes: Positions,
    weight: Floats,
    amount: Floats | None = None,
    multiplicity: Array | None = None,
) -> Calibration:
    """Fit a calibration.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    scores : array of shape (rows, classes)
        Log joint or log posterior of each row under a model that never saw it; -inf where a class is impossible.
    classes : array of shape (rows,)
        Positions of the rows' own classes.
    weight : array of shape (rows,)
        Weights of the rows; only how they compare matters.
    amount : array of shape (rows,), optional
        How much evidence each row holds, say, the tokens of a text. Where it varies, the temperature follows it;
        ``beta`` and ``isotonic`` then bend what ``platt`` gives.
    multiplicity : array of shape (rows,), optional
        How many equal rows each stands for; its weight is that of all of them. 1 by default.

    Examples
    --------
    Scores three times as sure as they should be, of rows that are right three times in four:

    >>> scores = np.log([[27.0, 1.0], [27.0, 1.0], [1.0, 27.0], [27.0, 1.0]] * 100)
    >>> classes = np.array([0, 0, 1, 1] * 100, dtype=np.int32)
    >>> fitted = calibrate("temperature", scores, classes, np.ones(400))
    >>> round(fitted.describe()["temperature"], 1)
    3.0
    >>> np.exp(fitted.apply(scores[:1])).round(2)
    array([[0.75, 0.25]])
    """
    if method not in METHODS:
        raise ParameterError(f"calibrate is {method!r}; it must be None or one of {', '.join(map(repr, METHODS))}")
    rows = CalibrationRows.of(scores, classes, weight, amount, multiplicity)
    if not len(rows.weight) or rows.n_classes == 1:
        return Scaling()
    if method in ("temperature", "platt"):
        return fit_scaling(rows, bias=method == "platt")
    from .curves import fit_beta, fit_isotonic

    if method == "isotonic":
        if rows.amount is None:
            return fit_isotonic(rows)
        # Where there are many curves, biases before them gain little, and cost the square of their number.
        return _after(fit_scaling(rows, bias=rows.n_classes <= _FEW), rows, fit_isotonic)
    platt = fit_scaling(rows, bias=True)
    # Each class against the rest asks for one scale for all classes, which raw scores do not have.
    alone = rows.amount is None and rows.n_classes == 2 and not platt.bend
    return fit_beta(rows) if alone else _after(platt, rows, fit_beta)


@dataclass(frozen=True)
class Chain:
    """Several calibrations in sequence."""

    first: Calibration
    second: Calibration

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        return self.second.apply(self.first.apply(scores, amount))

    def describe(self) -> dict[str, float | Array]:
        return {**self.first.describe(), **self.second.describe()}


def _after(platt: Scaling, rows: CalibrationRows, fit: Callable[[CalibrationRows], Any]) -> Chain:
    return Chain(platt, fit(replace(rows, posterior=platt.apply(rows.posterior, rows.amount))))


def cross_fitted(
    method: str | None,
    scores: Floats,
    classes: Positions,
    weight: Floats,
    amount: Floats | None = None,
    multiplicity: Array | None = None,
    folds: Array | None = None,
) -> Floats:
    """Return calibrated log probabilities of rows, each by a calibration that was fitted without it.

    Where no ``folds`` are given, the rows of each class are assigned in turn. Without a method, return the log-softmax
    of the scores.

    >>> scores, classes = np.log([[9.0, 1.0], [1.0, 9.0]] * 50), np.array([0, 1] * 50, dtype=np.int32)
    >>> cross_fitted(None, scores, classes, np.ones(100))[0].round(3)
    array([-0.105, -2.303])
    >>> cross_fitted("platt", scores, classes, np.ones(100)).shape
    (100, 2)
    """
    posterior = log_softmax(scores)
    if method is None:
        return posterior
    folds = stratified_folds(classes, np.ones(len(classes), dtype=np.int64)).fold if folds is None else folds
    out = np.empty_like(posterior)
    for fold in np.unique(folds):
        here, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        extra = _part(amount, rest), _part(multiplicity, rest)
        fitted = calibrate(method, posterior[rest], classes[rest], weight[rest], *extra)
        out[here] = fitted.apply(posterior[here], _part(amount, here))
    return out


def _part(values: Array | None, rows: Array) -> Array | None:
    return None if values is None else values[rows]
