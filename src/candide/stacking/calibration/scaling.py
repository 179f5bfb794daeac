"""Temperature and Platt scaling: scores divided by a temperature, and shifted per class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...kernels.layouts import Array, Floats
from ...lazy_dataclass import dataclass
from ..newton import MANY, RIDGE, Derivatives, HessianProducts, PenalizedLoss, blocks, minimize
from .base import CalibrationRows, log_softmax

# log T stays within ± this, whatever the scores and the amount.
MAX_LOG_TEMPERATURE = 50.0
# How much large differences of scores are shortened, where there are any beyond e^30.
_BENDS, _WILD = (0.25, 0.5, 0.75, 1.0), 30.0
# Scores that are enough to choose a bend by.
_ENOUGH = 1 << 22
# A bend must lower the loss by this share to be worth it.
_WORTH = 0.01
# What the square of the growth costs, in rows: a few texts cannot tell it, and a wrong one makes T vanish or explode.
_GROWTH_RIDGE = 5.0
# Differences of scores while fitting, those to impossible classes included: a product with a probability of 0 is 0.
_FARTHEST = 1e100


@dataclass(frozen=True)
class Scaling:
    """p ∝ exp(score / T + bias), with T = e^a (1 + amount)^growth.

    One T for all rows keeps the order of the classes; so does one per row. Evidence that is counted several times adds
    up, so rows that hold more of it (long texts) are more overconfident and need a higher T.

    With a ``bend``, a class that lies d behind the best is first brought to ((1 + d)^(1 - bend) - 1) / (1 - bend), at
    most log(1 + d): a column without variance can rule a class out by millions, and no T suits that and the rest too.
    """

    log_temperature: float = 0.0  # of a row with a typical amount
    growth: float = 0.0
    typical: float = 0.0  # log(1 + amount), averaged over the rows of the fit
    bias: Floats | None = None
    bend: float = 0.0
    amounts: tuple[float, float] = (0.0, np.inf)  # training by the fit; beyond them T stays as at the ends

    def temperature(self, amount: Floats | None) -> Floats:
        """Return the temperature of each row; of a typical row without ``amount``."""
        excess = np.zeros(1) if amount is None else np.log1p(np.clip(amount, *self.amounts)) - self.typical
        return _temperature(self.log_temperature + self.growth * excess)

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Return log probabilities of the classes; impossible ones stay impossible."""
        # Posteriors first: rows without a possible class are settled, and no score overflows upwards.
        scaled = bent(log_softmax(scores), self.bend)
        with np.errstate(over="ignore"):
            scaled /= self.temperature(amount)[:, None]
        if self.bias is not None:
            scaled += self.bias
        return log_softmax(scaled)

    def describe(self) -> dict[str, float | Array]:
        """T of a typical row; growth and the T of a row without evidence where T depends on it; biases if any."""
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
    """Fit the scaling of least log-loss, with or without a bias per class."""
    rows = rows.possible()
    if not len(rows.weight):
        return Scaling()
    if rows.amount is not None or not (rows.posterior.max(axis=1) - rows.of_own_class(rows.posterior) > _WILD).any():
        return _fit(rows, bias)
    few = rows.thinned(_ENOUGH)
    found = _fit_bend(few, bias)
    return found if few is rows else _fit(rows, bias, found.bend)


def _fit_bend(rows: CalibrationRows, bias: bool) -> Scaling:
    """The best of all bends."""
    found = _fit(rows, bias)
    loss = rows.log_loss(found.apply(rows.posterior))
    for bend in _BENDS:
        trial = _fit(rows, bias, bend)
        trial_loss = rows.log_loss(trial.apply(rows.posterior))
        if trial_loss < loss * (1 - _WORTH):
            found, loss = trial, trial_loss
    return found


def bent(posterior: Floats, bend: float) -> Floats:
    """Scores with large differences shortened; the order stays."""
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
        lead = np.clip(rows.posterior[block] - own[block, None], -_FARTHEST, _FARTHEST)
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
    terms: Floats  # (2, rows): what log T and growth are multiplied with, 1 and log(1 + amount) minus its mean
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
        # Half the digits: a step needs no more, and many are kept.
        probability, weight = probability.astype(np.float32), self.weight.astype(np.float32)

        def times(vector: Floats) -> Floats:
            scales, biases = vector[:2], vector[2:]
            mean = np.einsum("cr,c->r", probability, biases.astype(np.float32))
            image = share * biases - np.einsum("cr,r->c", probability, weight * mean)
            return np.concatenate([corner @ scales + mixed @ biases, scales @ mixed + image])

        return HessianProducts(np.concatenate([np.diag(corner), np.maximum(own, 0.0)]), (times,))


def _softmax(logits: Floats) -> tuple[Floats, Floats]:
    """log Σ exp over classes, and the probabilities; ``logits`` (classes, rows) is used up."""
    top = logits.max(axis=0)
    probability = np.exp(np.subtract(logits, top, out=logits), out=logits)
    total = probability.sum(axis=0)
    probability /= total
    return top + np.log(total), probability


def _temperature(log_temperature: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(log_temperature, -MAX_LOG_TEMPERATURE, MAX_LOG_TEMPERATURE)))
