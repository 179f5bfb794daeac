"""Weights for views of the same rows, from scores of rows that were left out: one convex problem.

A view's scores are centred over the classes and divided by their own size, so that one ridge suits all. The weights are
at least 0, one per view and class; those of a view are tied to their mean, and a bias is added per class:

    Σ_i weight_i · -log softmax(b + Σ_v w_v · F_vi)[class of i]
    + ½ Σ_v ridge_v (mean(w_v)² + TIE Σ_k (w_vk - mean(w_v))²) + ½ Σ_k (b_k - log share of class k)²
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...kernels.data import Array, Floats

# How strongly the weights that a view has for the classes are held together.
TIE = 2.0
# Scores smaller than this are noise, not to be blown up to the size of others.
LEAST_SIZE = 0.1
_STEPS = 500
# Of the log-loss, for each unit of squared scores: a share p of a class gives p (1 - p).
_CURVATURE = 0.1
# Scores of values far beyond all others may be infinite.
_HUGE = 1e290


@dataclass(frozen=True)
class Mixture:
    """What was fitted: the size and the largest score of each view, weights ``(views, classes)`` and biases."""

    size: Floats
    limit: Floats
    weight: Floats
    bias: Floats

    def take(self, views: list[int]) -> Mixture:
        """Of some views, as if the others had no weight."""
        return Mixture(self.size[views], self.limit[views], self.weight[views], self.bias)

    def part(self, view: int, scores: Floats) -> Floats | None:
        """What a view's scores add, ``(rows, classes)``; None if it has no weight.

        No score goes beyond what was seen when the weights were fitted: of a value that nobody met, views say wild
        things.
        """
        if not self.weight[view].any():
            return None
        if not np.isfinite(scores.sum()):
            scores = np.clip(scores, -_HUGE, _HUGE)
        shown = scores - scores.mean(axis=1, keepdims=True)
        shown /= self.size[view]
        np.clip(shown, -self.limit[view], self.limit[view], out=shown)
        shown *= self.weight[view]
        return np.asarray(shown)

    def scores(self, views: Floats) -> Floats:
        """Of rows, ``(rows, classes)``, from those of all views, ``(views, rows, classes)``."""
        out = np.tile(self.bias, (views.shape[1], 1))
        for view, scores in enumerate(views):
            part = self.part(view, scores)
            if part is not None:
                out += part
        return out


def fit_mixture(views: Floats, classes: Array, weight: Floats, ridge: Floats, least: Floats) -> Mixture:
    """From the left-out scores of rows, ``(views, rows, classes)``, which are changed in place.

    ``ridge`` and ``least``, the least size, are those of each view; rows count by their ``weight``.
    """
    views -= views.mean(axis=2, keepdims=True)
    share = weight / weight.sum()
    mean_square = np.einsum("vik,vik,i->v", views, views, share) / views.shape[2]
    size = np.maximum(np.sqrt(mean_square), np.maximum(least, 1e-9))
    views /= size[:, None, None]
    limit = np.abs(views).max(axis=(1, 2))
    rows = np.bincount(classes, weight, minlength=views.shape[2])
    # Of classes without rows half a row, as of those that a fold has all rows of.
    shares = np.log(np.maximum(rows, 0.5) / max(rows.sum(), 0.5))
    weights, bias = _solve(views, classes, weight, ridge, shares)
    return Mixture(size, limit, weights, bias)


def _solve(views: Floats, classes: Array, weight: Floats, ridge: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """One weight a view first; with more than two classes, from there one a view and class.

    Biases are counted from ``shares``, the logarithms of the classes' shares.
    """
    n_views, n_rows, n_classes = views.shape
    flat = views.reshape(n_views, n_rows * n_classes)
    loss = _Loss(classes, weight, n_classes)

    def common(point: Floats) -> tuple[float, Floats]:
        w, b = point[:n_views], point[n_views:]
        value, slope = loss((w @ flat).reshape(n_rows, n_classes) + (shares + b))
        gradient = np.concatenate([flat @ slope.ravel() + ridge * w, slope.sum(axis=0) + b])
        return value + 0.5 * float(ridge @ (w * w) + b @ b), gradient

    curvature = _CURVATURE * np.einsum("vik,vik,i->vk", views, views, weight)
    of_bias = np.full(n_classes, _CURVATURE * weight.sum() + 1.0)
    steep = np.append(curvature.sum(axis=1) + ridge, of_bias)
    point = _least(common, np.zeros(n_views + n_classes), n_views, steep)
    weights, bias = np.repeat(point[:n_views, None], n_classes, axis=1), point[n_views:]
    if n_classes == 2:
        return weights, shares + bias
    by_class = np.ascontiguousarray(views.transpose(2, 1, 0))  # (classes, rows, views)

    def free(point: Floats) -> tuple[float, Floats]:
        w, b = point[:-n_classes].reshape(n_views, n_classes), point[-n_classes:]
        value, slope = loss(np.ascontiguousarray(np.matmul(by_class, w.T[:, :, None])[:, :, 0].T) + (shares + b))
        mean = w.mean(axis=1, keepdims=True)
        apart = w - mean
        pull = ridge[:, None] * (mean / n_classes + TIE * apart)
        gradient = np.matmul(slope.T[:, None, :], by_class)[:, 0].T + pull
        penalty = ridge @ (mean[:, 0] ** 2 + TIE * (apart**2).sum(axis=1)) + b @ b
        return value + 0.5 * float(penalty), np.concatenate([gradient.ravel(), slope.sum(axis=0) + b])

    steep = np.append((curvature + TIE * ridge[:, None]).ravel(), of_bias)
    point = _least(free, np.concatenate([weights.ravel(), bias]), n_views * n_classes, steep)
    return point[:-n_classes].reshape(n_views, n_classes), shares + point[-n_classes:]


class _Loss:
    """The weighted log-loss of scores, and its slope."""

    def __init__(self, classes: Array, weight: Floats, n_classes: int) -> None:
        self.place = np.arange(len(classes)) * n_classes + classes
        self.weight = weight

    def __call__(self, scores: Floats) -> tuple[float, Floats]:
        assert scores.flags.c_contiguous  # places are counted along rows
        top = scores.max(axis=1, keepdims=True)
        share = np.exp(scores - top)
        total = share.sum(axis=1, keepdims=True)
        value = float(self.weight @ (np.log(total[:, 0]) + top[:, 0] - scores.ravel()[self.place]))
        share /= total
        share.reshape(-1)[self.place] -= 1.0
        share *= self.weight[:, None]
        return value, share


def _least(function: Callable[[Floats], tuple[float, Floats]], start: Floats, n_weights: int, steep: Floats) -> Floats:
    """The least point whose weights, the first of its numbers, are at least 0.

    ``steep`` is about how the slope of each number grows. Ridges differ by a factor of ten thousand: unless numbers are
    measured by it, the search ends far from the solution, and where, hangs on last digits.
    """
    from scipy.optimize import minimize

    unit = 1.0 / np.sqrt(steep)

    def measured(point: Floats) -> tuple[float, Floats]:
        value, slope = function(point * unit)
        return value, slope * unit

    bounds = [(0.0, None)] * n_weights + [(None, None)] * (len(start) - n_weights)
    options = {"maxiter": _STEPS, "ftol": 1e-14, "gtol": 1e-8}
    found = minimize(measured, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x * unit)
