"""Calibration of scores, fitted on out-of-sample scores.

There are four methods with increasing flexibility: ``temperature`` (one or two parameters; keeps the ranking of the
classes), ``platt`` (with a bias per class), ``beta`` (three parameters per curve) and ``isotonic`` (any increasing
curve). The last two are in ``calibration_curves``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import dataclass
from .newton import MANY, RIDGE, Derivatives, HessianProducts, PenalizedLoss, blocks, minimize
from .training_rows import stratified_folds

# Represents infinite log-odds, so that differences and slopes are finite.
MAX_LOG_ODDS = 1e200


class Calibration(Protocol):
    """Converts scores to calibrated probabilities."""

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes, ``(rows, classes)``; each row's probabilities sum to 1."""

    def describe(self) -> dict[str, float | Array]:
        """Return the fitted parameters by name."""


@dataclass(frozen=True)
class CalibrationRows:
    """Training rows of a calibration: log posteriors of rows under models fitted without them."""

    posterior: Floats  # (rows, classes)
    classes: Positions
    weight: Floats  # normalized to sum to the number of rows
    amount: Floats | None  # None if all rows have the same amount of evidence

    @classmethod
    def of(
        cls, scores: Floats, classes: Positions, weight: Floats, amount: Floats | None, multiplicity: Array | None
    ) -> CalibrationRows:
        kept = np.flatnonzero(weight > 0)
        posterior, weight = log_softmax(scores[kept]), weight[kept]
        n_rows = len(kept) if multiplicity is None else multiplicity[kept].sum()
        if amount is not None:
            amount = amount[kept]
            amount = amount if len(amount) and np.ptp(amount) > 0 else None
        return cls(posterior, classes[kept], weight * (n_rows / weight.sum()) if len(kept) else weight, amount)

    @property
    def n_classes(self) -> int:
        return int(self.posterior.shape[1])

    def possible(self) -> CalibrationRows:
        """Return the rows whose own class is possible; the loss of the others is infinite under any scaling."""
        return self._take(np.flatnonzero(self.of_own_class(self.posterior) > -np.inf))

    def thinned(self, n_cells: int) -> CalibrationRows:
        """Return evenly spaced rows of each class, with about ``n_cells`` scores."""
        step = -(-self.posterior.size // n_cells)
        return self if step <= 1 else self._take(np.argsort(self.classes, kind="stable")[::step])

    def _take(self, places: Array) -> CalibrationRows:
        if len(places) == len(self.weight):
            return self
        amount = None if self.amount is None else self.amount[places]
        return CalibrationRows(self.posterior[places], self.classes[places], self.weight[places], amount)

    def against_rest(self) -> Iterator[tuple[Floats, Array]]:
        """Yield log-odds and membership for each class; for two classes, only for the second."""
        members = range(1, 2) if self.n_classes == 2 else range(self.n_classes)
        for member, odds in zip(members, np.ascontiguousarray(log_odds(self.posterior).T), strict=True):
            yield odds, self.classes == member

    def log_loss(self, log_probability: Floats) -> float:
        """Return the mean of -log p(own class)."""
        return -float(np.average(self.of_own_class(log_probability), weights=self.weight))

    def of_own_class(self, values: Floats) -> Floats:
        """Return the value of each row's own class from ``(rows, classes)``."""
        return np.asarray(values[np.arange(len(values)), self.classes])


def log_softmax(scores: Floats) -> Floats:
    """Return log posteriors (a copy). Classes with infinite scores, or all if none is possible, have equal shares.

    >>> np.exp(log_softmax(np.array([[0.0, np.log(3.0)], [-np.inf, -np.inf]]))).round(3)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    out = np.array(scores, dtype=np.float64, order="C")
    # One thread, so that n_threads of the estimator is not exceeded; the time is negligible.
    if Kernels(1).normalize(out, logarithm=True):
        top = out.max(axis=1, keepdims=True)
        rows = np.flatnonzero(np.isinf(top[:, 0]))
        leads = out[rows] == top[rows]
        out[rows] = np.where(leads, -np.log(leads.sum(axis=1, keepdims=True)), -np.inf)
    return out


def log_odds(posterior: Floats) -> Floats:
    """Return log p / (1 - p) of each class, ``(rows, classes)``; for two classes, of the second only, ``(rows, 1)``."""
    if posterior.shape[1] == 2:
        return np.clip(posterior[:, 1:] - posterior[:, :1], -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return np.clip(posterior - _log_rest(posterior), -MAX_LOG_ODDS, MAX_LOG_ODDS)


def _log_rest(posterior: Floats) -> Floats:
    """Return log (1 - p). For the best class, the other classes are added up, because 1 - p would lose precision."""
    best = np.arange(len(posterior)), posterior.argmax(axis=1)
    others = posterior.copy()
    others[best] = -np.inf
    rest = np.log1p(-np.exp(others))
    # The log of the sum over the other classes is the difference of their scores before and after normalization.
    rest[best] = others.max(axis=1) - log_softmax(others).max(axis=1)
    return rest


def from_log_odds(odds: Floats) -> Floats:
    """Return log probabilities of all classes from log-odds of each against the rest: the inverse of ``log_odds``."""
    log_probability = -np.logaddexp(0.0, -odds)
    if odds.shape[1] > 1:
        return log_softmax(log_probability)
    return np.column_stack([-np.logaddexp(0.0, odds), log_probability])


# Bound of the absolute value of log T.
MAX_LOG_TEMPERATURE = 50.0
# Candidate values of ``bend``, which are tried if some log-odds exceed 30.
_BENDS, _LARGE_LOG_ODDS = (0.25, 0.5, 0.75, 1.0), 30.0
# Maximum number of scores used to choose ``bend``.
_MAX_SCORES_FOR_BEND = 1 << 22
# Minimum relative reduction of the loss by a larger ``bend``.
_MIN_REDUCTION = 0.01
# Penalty of the squared growth, in rows. Few texts do not determine the growth, and a wrong value makes T approach 0 or
# infinity.
_GROWTH_RIDGE = 5.0
# Maximum score difference during fitting, also for impossible classes, so that products with probability 0 are 0.
_MAX_DIFFERENCE = 1e100


@dataclass(frozen=True)
class Scaling:
    """p ∝ exp(score / T + bias), with T = e^a (1 + amount)^growth.

    A temperature keeps the ranking of the classes, also if it depends on the row. Dependent features count the same
    evidence several times, so rows with more features (long texts) are more overconfident and need a higher T.

    With a ``bend``, the score difference d of a class to the best one is first replaced by ((1 + d)^(1 - bend) - 1) /
    (1 - bend), or log(1 + d) for ``bend=1``. A column without variance can cause differences of millions, and no T
    suits both these and ordinary ones.
    """

    log_temperature: float = 0.0  # for a row with a typical amount
    growth: float = 0.0
    typical: float = 0.0  # mean of log(1 + amount) over the rows of the fit
    bias: Floats | None = None
    bend: float = 0.0
    amounts: tuple[float, float] = (0.0, np.inf)  # range seen in the fit; T is constant outside of it

    def temperature(self, amount: Floats | None) -> Floats:
        """Return the temperature of each row; of a typical row without ``amount``."""
        excess = np.zeros(1) if amount is None else np.log1p(np.clip(amount, *self.amounts)) - self.typical
        return _temperature(self.log_temperature + self.growth * excess)

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes; impossible ones stay impossible."""
        # Normalization handles rows without a possible class and prevents overflow of large scores.
        scaled = bent(log_softmax(scores), self.bend)
        with np.errstate(over="ignore"):
            scaled /= self.temperature(amount)[:, None]
        if self.bias is not None:
            scaled += self.bias
        return log_softmax(scaled)

    def describe(self) -> dict[str, float | Array]:
        """Return T of a typical row, its growth and T of an empty row if it depends on the length, and biases."""
        numbers: dict[str, float | Array] = {"temperature": float(np.exp(self.log_temperature))}
        if self.growth:
            numbers["growth"] = self.growth
            numbers["temperature_at_0"] = float(np.exp(self.log_temperature - self.growth * self.typical))
        if self.bias is not None:
            numbers["bias"] = self.bias
        if self.bend:
            numbers["bend"] = self.bend
        return numbers


def fit_scaling(rows: CalibrationRows, *, bias: bool) -> Scaling:
    """Fit the scaling that minimizes the log-loss, with or without a bias per class."""
    rows = rows.possible()
    if not len(rows.weight):
        return Scaling()
    if (
        rows.amount is not None
        or not (rows.posterior.max(axis=1) - rows.of_own_class(rows.posterior) > _LARGE_LOG_ODDS).any()
    ):
        return _fit(rows, bias)
    few = rows.thinned(_MAX_SCORES_FOR_BEND)
    found = _fit_bend(few, bias)
    return found if few is rows else _fit(rows, bias, found.bend)


def _fit_bend(rows: CalibrationRows, bias: bool) -> Scaling:
    """Return the scaling with the best ``bend``."""
    found = _fit(rows, bias)
    loss = rows.log_loss(found.apply(rows.posterior))
    for bend in _BENDS:
        trial = _fit(rows, bias, bend)
        trial_loss = rows.log_loss(trial.apply(rows.posterior))
        if trial_loss < loss * (1 - _MIN_REDUCTION):
            found, loss = trial, trial_loss
    return found


def bent(posterior: Floats, bend: float) -> Floats:
    """Return scores with large differences compressed; their ranking is unchanged."""
    if not bend:
        return posterior
    behind = posterior.max(axis=1, keepdims=True) - posterior
    shortened = np.log1p(behind) if bend == 1.0 else ((1 + behind) ** (1 - bend) - 1) / (1 - bend)
    return np.asarray(-shortened)


def _fit(rows: CalibrationRows, bias: bool, bend: float = 0.0) -> Scaling:
    rows = replace(rows, posterior=bent(rows.posterior, bend))
    log_amount = np.zeros(len(rows.weight)) if rows.amount is None else np.log1p(rows.amount)
    typical = float(np.average(log_amount, weights=rows.weight))
    neutral = np.zeros(2 + rows.n_classes * bias)
    ridge, least = np.full(len(neutral), RIDGE), np.full(len(neutral), -np.inf)
    ridge[1], least[1] = _GROWTH_RIDGE, 0.0
    loss = PenalizedLoss(list(_parts(rows, log_amount - typical, len(neutral))), neutral, ridge)
    found = minimize(loss, lambda power: power * np.log(10.0) * np.eye(len(neutral))[0], least)
    training = (0.0, np.inf) if rows.amount is None else (float(rows.amount.min()), float(rows.amount.max()))
    return Scaling(float(found[0]), float(found[1]), typical, found[2:] if bias else None, bend, training)


def _parts(rows: CalibrationRows, excess: Floats, n_parameters: int) -> Iterator[_Loss]:
    own = rows.of_own_class(rows.posterior)
    for block in blocks(len(own), rows.n_classes, n_parameters):
        lead = np.clip(rows.posterior[block] - own[block, None], -_MAX_DIFFERENCE, _MAX_DIFFERENCE)
        weight, terms = rows.weight[block], np.array([np.ones(len(lead)), excess[block]])
        class_weight = np.bincount(rows.classes[block], weight, minlength=rows.n_classes)
        yield _Loss(np.ascontiguousarray(lead.T), weight, terms, class_weight.astype(np.float64))


@dataclass(frozen=True)
class _Loss:
    """The log-loss of some rows as a function of log T, growth and, where given, biases.

    Classes come first here, so that maxima and sums over classes run along rows in memory: many times as fast.
    """

    lead: Floats  # (classes, rows): score minus that of the row's own class
    weight: Floats
    terms: Floats  # (2, rows): factors of log T and growth: 1, and log(1 + amount) minus its mean
    class_weight: Floats

    def __call__(self, parameters: Floats) -> Derivatives:
        bias = np.zeros(len(self.lead))
        bias[: len(parameters) - 2] = parameters[2:]
        scaled = self.lead / _temperature(parameters[:2] @ self.terms)
        log_total, probability = _softmax(scaled + bias[:, None])
        mean = np.einsum("cr,cr->r", probability, scaled)
        deviation = np.subtract(scaled, mean, out=scaled)
        weighted = probability * self.weight
        spread = weighted * deviation
        slope = Derivatives(
            float(self.weight @ log_total - self.class_weight @ bias),
            -(self.terms @ (self.weight * mean)),
            (self.terms * np.einsum("cr,cr->r", spread, deviation)) @ self.terms.T,
        )
        return self._with_biases(slope, probability, weighted, spread) if len(parameters) > 2 else slope

    def _with_biases(self, slope: Derivatives, probability: Floats, weighted: Floats, spread: Floats) -> Derivatives:
        share, mixed = weighted.sum(axis=1), -(self.terms @ spread.T)
        gradient = np.concatenate([slope.gradient, share - self.class_weight])
        if len(gradient) > MANY:
            return Derivatives(slope.value, gradient, self._products(slope.curvature, mixed, share, probability))
        curvature = np.empty((len(gradient), len(gradient)))
        curvature[:2, :2], curvature[:2, 2:], curvature[2:, :2] = slope.curvature, mixed, mixed.T
        np.negative(weighted @ probability.T, out=curvature[2:, 2:])
        curvature[2:, 2:].flat[:: len(share) + 1] += share
        return Derivatives(slope.value, gradient, curvature)

    def _products(self, corner: Floats, mixed: Floats, share: Floats, probability: Floats) -> HessianProducts:
        own = share - np.einsum("cr,cr,r->c", probability, probability, self.weight)
        # Single precision is enough for a step, and saves memory.
        probability, weight = probability.astype(np.float32), self.weight.astype(np.float32)

        def times(vector: Floats) -> Floats:
            scales, biases = vector[:2], vector[2:]
            mean = np.einsum("cr,c->r", probability, biases.astype(np.float32))
            image = share * biases - np.einsum("cr,r->c", probability, weight * mean)
            return np.concatenate([corner @ scales + mixed @ biases, scales @ mixed + image])

        return HessianProducts(np.concatenate([np.diag(corner), np.maximum(own, 0.0)]), (times,))


def _softmax(logits: Floats) -> tuple[Floats, Floats]:
    """Return log Σ exp over classes, and the probabilities; ``logits``, (classes, rows), is overwritten."""
    top = logits.max(axis=0)
    probability = np.exp(np.subtract(logits, top, out=logits), out=logits)
    total = probability.sum(axis=0)
    probability /= total
    return top + np.log(total), probability


def _temperature(log_temperature: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(log_temperature, -MAX_LOG_TEMPERATURE, MAX_LOG_TEMPERATURE)))


__all__ = ["METHODS", "Calibration", "calibrate", "cross_fitted", "log_softmax"]

METHODS = ("temperature", "platt", "beta", "isotonic")
_FEW_CLASSES = 10


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
        Log joint or log posterior of each row under a model trained without it; -inf where a class is impossible.
    classes : array of shape (rows,)
        Positions of the rows' own classes.
    weight : array of shape (rows,)
        Weights of the rows, of which only the ratios matter.
    amount : array of shape (rows,), optional
        Amount of evidence of each row, such as the number of tokens of a text. If it varies, the temperature depends on
        it, and ``beta`` and ``isotonic`` are applied to the result of ``platt``.
    multiplicity : array of shape (rows,), optional
        Number of equal rows that each row represents; its weight is their total weight. 1 by default.

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
        raise ParameterError(f"calibrate is {method!r}; expected None or one of {', '.join(map(repr, METHODS))}")
    rows = CalibrationRows.of(scores, classes, weight, amount, multiplicity)
    if not len(rows.weight) or rows.n_classes == 1:
        return Scaling()
    if method in ("temperature", "platt"):
        return fit_scaling(rows, bias=method == "platt")
    from .calibration_curves import fit_beta, fit_isotonic

    if method == "isotonic":
        if rows.amount is None:
            return fit_isotonic(rows)
        # With many curves, fitting biases first improves little and takes time quadratic in the number of classes.
        return _after(fit_scaling(rows, bias=rows.n_classes <= _FEW_CLASSES), rows, fit_isotonic)
    platt = fit_scaling(rows, bias=True)
    # One-against-rest curves require a common scale for all classes, which raw scores do not have.
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

    Without ``folds``, the rows of each class are assigned to folds in turn. Without a method, return the log-softmax of
    the scores.

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
