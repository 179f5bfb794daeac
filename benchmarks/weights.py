"""Weights of columns found from outside, through public verbs alone: one model a column, and one convex problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.model_selection import cross_val_predict

from .halves import LEAST

RIDGE = 1.0

# Log probabilities of training rows by a model of one column. Each holds the class prior, which the biases undo.
SCORES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "left out": lambda model, X, y: model.leave_one_out(X, y, class_prior="fixed"),
    "seen": lambda model, X, y: model.predict_log_proba(X),
    "folds": lambda model, X, y: cross_val_predict(model, X, y, cv=5, method="predict_log_proba"),
}


class Weighted:
    """Naive Bayes whose columns have weights of at least 0, fitted to ``scores`` of training rows."""

    def __init__(self, make: Callable[[Any], Any], scores: Callable[[Any, Any, Any], Any]) -> None:
        self.make, self.scores = make, scores

    def fit(self, X: Any, y: Any) -> Weighted:
        self.models = {column: self.make(X).fit(X[[column]], y) for column in X}
        self.classes_ = next(iter(self.models.values())).classes_
        views = np.stack([self.scores(model, X[[column]], y) for column, model in self.models.items()])
        views = np.maximum(views, np.log(LEAST))  # a fold may lack a class
        self.weight, self.bias = solve(views, np.searchsorted(self.classes_, y))
        return self

    def predict_proba(self, X: Any) -> Any:
        views = np.stack([model.predict_log_proba(X[[column]]) for column, model in self.models.items()])
        return np.exp(log_softmax(np.tensordot(self.weight, views, axes=1) + self.bias, axis=1))


def solve(views: Any, position: Any) -> tuple[Any, Any]:
    """Weights and biases of least log-loss for views ``(columns, rows, classes)``, with a ridge toward one weight.

    The ridge draws to the mean of the weights, which stays free: a common temperature costs nothing.
    """
    n_columns, n_rows, n_classes = views.shape
    true = np.eye(n_classes)[position]

    def loss(point: Any) -> tuple[float, Any]:
        weight, bias = point[:n_columns], point[n_columns:]
        log_probability = log_softmax(np.tensordot(weight, views, axes=1) + bias, axis=1)
        excess, spread = np.exp(log_probability) - true, weight - weight.mean()
        slope = np.concatenate([np.tensordot(views, excess, axes=2) + RIDGE * spread, excess.sum(axis=0)])
        value = -(true * log_probability).sum() + RIDGE / 2 * (spread**2).sum()
        return value / n_rows, slope / n_rows

    start = np.concatenate([np.full(n_columns, 1 / np.sqrt(n_columns)), np.zeros(n_classes)])
    bounds = [(0, None)] * n_columns + [(None, None)] * n_classes
    point = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500}).x
    return point[:n_columns], point[n_columns:]
