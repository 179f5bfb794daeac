"""Temperature and bias: scores divided by how overconfident they are, and shifted per class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.data import Array, Floats
from .base import Rows, normalised

# What the square of each parameter costs, in rows. Parameters of 0 change nothing, so the penalty never makes a
# calibration worse than none; it keeps log T and biases finite where the classes are perfectly separated.
RIDGE = 0.01
# log T at the typical amount stays within ± this; the T of any row within ± _WIDEST.
LIMIT = 30.0
_WIDEST = 50.0
# Differences of scores while fitting, those to impossible classes included: a product with a probability of 0 is 0.
_FARTHEST = 1e100


@dataclass(frozen=True)
class Scaling:
    """p ∝ exp(score / T + bias), with T = e^a (1 + amount)^growth.

    One T for all rows keeps the order of the classes; so does one per row. Evidence that is counted several times adds
    up, so rows that hold more of it (long texts) are more overconfident and need a higher T.
    """

    log_temperature: float = 0.0  # of a row with a typical amount
    growth: float = 0.0
    typical: float = 0.0  # log(1 + amount), averaged over the rows of the fit
    bias: Floats | None = None

    def temperature(self, amount: Floats | None) -> Floats:
        """T of each row; of a typical row without ``amount``."""
        excess = np.zeros(1) if amount is None else np.log1p(amount) - self.typical
        return _temperature(self.log_temperature, self.growth, excess)

    def apply(self, scores: Floats, amount: Floats | None = None) -> Floats:
        """Log probabilities of the classes; impossible ones stay impossible."""
        # Posteriors first: rows without a possible class are settled, and no score overflows upwards.
        scaled = normalised(scores)
        with np.errstate(over="ignore"):
            scaled /= self.temperature(amount)[:, None]
        if self.bias is not None:
            scaled += self.bias
        return normalised(scaled)

    def describe(self) -> dict[str, float | Array]:
        """T of a typical row; growth and the T of a row without evidence where T depends on it; biases if any."""
        numbers: dict[str, float | Array] = {"temperature": float(np.exp(self.log_temperature))}
        if self.growth:
            numbers["growth"] = self.growth
            numbers["temperature_at_0"] = float(np.exp(self.log_temperature - self.growth * self.typical))
        if self.bias is not None:
            numbers["bias"] = self.bias
        return numbers


def fit_scaling(rows: Rows, *, bias: bool) -> Scaling:
    """The scaling of least log-loss, with a bias per class or without."""
    from scipy.optimize import minimize

    log_amount = np.zeros(len(rows.weight)) if rows.amount is None else np.log1p(rows.amount)
    typical = float(np.average(log_amount, weights=rows.weight))
    loss = _Loss.of(rows, log_amount - typical)
    start = np.zeros(2 + rows.n_classes * bias)
    bounds = [(-LIMIT, LIMIT)] * 2 + [(None, None)] * (len(start) - 2)
    options = {"maxiter": 500, "ftol": 1e-12, "gtol": 1e-7}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return Scaling(float(found[0]), float(found[1]), typical, found[2:] if bias else None)


@dataclass(frozen=True)
class _Loss:
    """The mean log-loss with its gradient, as a function of log T, growth and, where given, biases.

    Classes come first here, so that maxima and sums over classes run along rows in memory: many times as fast.
    """

    lead: Floats  # (classes, rows): score minus that of the row's own class
    weight: Floats
    excess: Floats  # log(1 + amount) minus its mean
    class_weight: Floats

    @classmethod
    def of(cls, rows: Rows, excess: Floats) -> _Loss:
        own = rows.of_own_class(rows.posterior)
        # Rows whose own class is impossible have an infinite loss whatever is done.
        kept = np.flatnonzero(own > -np.inf)
        lead = np.clip(rows.posterior[kept] - own[kept, None], -_FARTHEST, _FARTHEST)
        weight = rows.weight[kept]
        class_weight = np.bincount(rows.classes[kept], weight, minlength=rows.n_classes)
        return cls(np.ascontiguousarray(lead.T), weight, excess[kept], class_weight.astype(np.float64))

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        bias = np.zeros(len(self.lead))
        bias[: len(parameters) - 2] = parameters[2:]
        scaled = self.lead / _temperature(parameters[0], parameters[1], self.excess)
        log_total, probability = _softmax(scaled + bias[:, None])
        loss = self.weight @ log_total - self.class_weight @ bias + RIDGE / 2 * (parameters @ parameters)
        probability *= self.weight
        by_log_temperature = -np.einsum("cr,cr->r", probability, scaled)
        by_bias = probability.sum(axis=1) - self.class_weight
        gradient = np.array([by_log_temperature.sum(), by_log_temperature @ self.excess, *by_bias])
        n_rows = max(1, len(self.weight))
        return float(loss) / n_rows, (gradient[: len(parameters)] + RIDGE * parameters) / n_rows


def _softmax(logits: Floats) -> tuple[Floats, Floats]:
    """log Σ exp over classes, and the probabilities; ``logits`` (classes, rows) is used up."""
    top = logits.max(axis=0)
    probability = np.exp(np.subtract(logits, top, out=logits), out=logits)
    total = probability.sum(axis=0)
    probability /= total
    return top + np.log(total), probability


def _temperature(log_temperature: float, growth: float, excess: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(log_temperature + growth * excess, -_WIDEST, _WIDEST)))
