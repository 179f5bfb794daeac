"""Weights for views of the same rows, from scores of rows that were left out: one convex problem.

A view's scores are centred over the classes and divided by their own size, so that one ridge suits all. Parts of one
thing are divided by the size of their sum: one that is almost empty is not to be blown up. The weights are at least 0,
one per view and class; those of a view are tied to their mean, and a bias is added per class:

    Σ_i weight_i · -log softmax(b + Σ_v w_v · F_vi)[class of i]
    + ½ Σ_v ridge_v (mean(w_v)² + TIE Σ_k (w_vk - mean(w_v))²) + ½ Σ_k (b_k - log share of class k)²
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from .newton import minimize_nonnegative

# How strongly the weights that a view has for the classes are held together.
TIE = 2.0
# Scores smaller than this are noise, not to be blown up to the size of others.
LEAST_SIZE = 0.1
_STEPS = 500
# Views and classes of which all second derivatives are worth their time: with one weight each, ten of Newton's steps do
# what takes the other search a hundred.
_FEW_VIEWS, _FEW_CLASSES = 64, 192
# Every so many rows tell where to begin, if these are enough.
_EVERY, _ENOUGH_ROWS = 8, 200
# Steps whose slopes the search remembers: with the usual ten it takes twice as many.
_REMEMBERED = 30
# Of the log-loss, for each unit of squared scores: a share p of a class gives p (1 - p).
_CURVATURE = 0.1
# Scores of values far beyond all others may be infinite.
MAX_SCORE = 1e290


@dataclass(frozen=True)
class StackingWeights:
    """What was fitted: the size and the largest score of each view, weights ``(views, classes)`` and biases."""

    scale: Floats
    limit: Floats
    weight: Floats
    bias: Floats

    def take(self, views: list[int]) -> StackingWeights:
        """Of some views, as if the others had no weight."""
        return StackingWeights(self.scale[views], self.limit[views], self.weight[views], self.bias)

    def weighted(self, view: int, scores: Floats) -> Floats | None:
        """What a view's scores add, ``(rows, classes)``; None if it has no weight.

        No score goes beyond what was training when the weights were fitted: of a value that nobody met, views say wild
        things.
        """
        if not self.weight[view].any():
            return None
        return np.asarray(self.standardized(view, scores) * self.weight[view])

    def standardized(self, view: int, scores: Floats) -> Floats:
        """A view's scores as weights are applied to them: centred, scaled and within limits."""
        if not np.isfinite(scores.sum()):
            scores = np.clip(scores, -MAX_SCORE, MAX_SCORE)
        shown = scores - scores.mean(axis=1, keepdims=True)
        shown /= self.scale[view]
        np.clip(shown, -self.limit[view], self.limit[view], out=shown)
        return np.asarray(shown)

    def weighted_parts(self, view: int, parts: Floats) -> tuple[Floats, Floats]:
        """What parts of a view's scores of one row, ``(parts, classes)``, add; and what its limit takes away again."""
        shown = np.clip(parts, -MAX_SCORE, MAX_SCORE)
        shown = (shown - shown.mean(axis=1, keepdims=True)) / self.scale[view] * self.weight[view]
        whole = self.weighted(view, parts.sum(axis=0, keepdims=True))
        return shown, np.zeros(parts.shape[1]) if whole is None else whole[0] - shown.sum(axis=0)

    def scores(self, views: Floats) -> Floats:
        """Of rows, ``(rows, classes)``, from those of all views, ``(views, rows, classes)``."""
        out = np.tile(self.bias, (views.shape[1], 1))
        for view, scores in enumerate(views):
            part = self.weighted(view, scores)
            if part is not None:
                out += part
        return out


def fit_weights(
    views: Floats,
    classes: Array,
    weight: Floats,
    ridge: Floats,
    least: Floats,
    *,
    by_class: bool = True,
    n_parts: int = 1,
) -> StackingWeights:
    """From the left-out scores of rows, ``(views, rows, classes)``.

    ``ridge`` and ``least``, the least size, are those of each view; rows count by their ``weight``. ``by_class``: a
    view has a weight for each class, else one for all. ``n_parts`` views in a row are parts of one thing.
    """
    shown = np.ascontiguousarray(views.transpose(2, 0, 1))
    shown -= shown.mean(axis=0)
    size = np.maximum(_sizes(shown, weight / weight.sum(), n_parts), np.maximum(least, 1e-9))
    shown /= size[:, None]
    limit = np.maximum(shown.max(axis=(0, 2)), -shown.min(axis=(0, 2)))
    rows = np.bincount(classes, weight, minlength=len(shown))
    # Of classes without rows half a row, as of those that a fold has all rows of.
    shares = np.log(np.maximum(rows, 0.5) / max(rows.sum(), 0.5))
    weights, bias = _solve(shown, _Loss(classes, weight, shares), ridge, by_class and len(shown) > 2)
    return StackingWeights(size, limit, weights, shares + bias)


def fit_weights_from(
    shown: Floats, base: Floats, factor: Floats, start: Floats, ridge: Floats, classes: Array, weight: Floats
) -> tuple[Floats, Floats]:
    """Fit weights ``(views, classes)`` with a ridge toward ``start``, and additions to the biases.

    From ``(classes, views, rows)``: scores that are added to ``base``, ``(classes, rows)``, beside which biases count
    by the ``factor`` of each row. Differences from the start are held small as weights are, and tied like these.
    """
    n_classes, n_views, n_rows = shown.shape
    loss, none, begin = _Loss(classes, weight, np.zeros(n_classes)), np.zeros(n_classes), start.T

    def value(point: Floats) -> tuple[float, Floats]:
        w, b = point[:-n_classes].reshape(n_classes, n_views), point[-n_classes:]
        total, slope = loss(np.matmul(w[:, None, :], shown)[:, 0] + (base + b[:, None] * factor), none)
        away = w - begin
        mean = away.mean(axis=0)
        apart = away - mean
        gradient = _over_rows(shown, slope) + ridge * (mean / n_classes + TIE * apart)
        penalty = ridge @ (mean**2 + TIE * (apart**2).sum(axis=0)) + b @ b
        return total + 0.5 * float(penalty), np.concatenate([gradient.ravel(), slope @ factor + b])

    curvature = _CURVATURE * np.broadcast_to(weight, (n_classes, n_rows))
    steep = np.append((_squares(shown, curvature) + TIE * ridge).ravel(), curvature @ factor**2 + 1.0)
    point = _least(value, np.append(begin.ravel(), none), begin.size, steep)
    return np.ascontiguousarray(point[:-n_classes].reshape(n_classes, n_views).T), point[-n_classes:]


def _sizes(shown: Floats, share: Floats, n_parts: int) -> Floats:
    """Roots of mean squares over classes and rows, class by class for the memory."""
    sums = (part.reshape(-1, n_parts, len(share)).sum(axis=1) for part in shown)
    mean_square = np.mean([whole**2 @ share for whole in sums], axis=0)
    return np.repeat(np.sqrt(mean_square), n_parts)


def _solve(shown: Floats, loss: _Loss, ridge: Floats, by_class: bool) -> tuple[Floats, Floats]:
    """One weight a view first; ``by_class``, from there one a view and class.

    From ``(classes, views, rows)`` weights ``(views, classes)``, and biases counted from the shares of the classes.
    """
    n_classes, n_views, _ = shown.shape
    point = _common(shown, loss, ridge, nearly=by_class)
    w, b = point[:n_views], point[n_views:]
    if not by_class:
        return np.repeat(w[:, None], n_classes, axis=1), b

    def free(point: Floats) -> tuple[float, Floats]:
        w, b = point[:-n_classes].reshape(n_classes, n_views), point[-n_classes:]
        value, slope = loss(np.matmul(w[:, None, :], shown)[:, 0], b)
        mean = w.mean(axis=0)
        apart = w - mean
        gradient = _over_rows(shown, slope) + ridge * (mean / n_classes + TIE * apart)
        penalty = ridge @ (mean**2 + TIE * (apart**2).sum(axis=0)) + b @ b
        return value + 0.5 * float(penalty), np.concatenate([gradient.ravel(), slope.sum(axis=1) + b])

    curvature = loss.curvature(np.matmul(w, shown), b)
    steep = np.append((_squares(shown, curvature) + TIE * ridge).ravel(), curvature.sum(axis=1) + 1.0)
    point = _least(free, np.concatenate([np.tile(w, n_classes), b]), n_views * n_classes, steep)
    return point[:-n_classes].reshape(n_classes, n_views).T, point[-n_classes:]


def _common(shown: Floats, loss: _Loss, ridge: Floats, *, nearly: bool) -> Floats:
    """One weight a view and one bias a class; ``nearly``, for another search to begin with."""
    n_classes, n_views, n_rows = shown.shape
    whole, start = _Common(shown, loss, ridge), np.zeros(n_views + n_classes)
    if n_views > _FEW_VIEWS or n_classes > _FEW_CLASSES:
        curvature = _CURVATURE * np.broadcast_to(loss.weight, (n_classes, n_rows))
        steep = np.append(_squares(shown, curvature).sum(axis=0) + ridge, curvature.sum(axis=1) + 1.0)
        return _least(whole.value, start, n_views, steep, nearly=nearly)
    if n_rows >= _EVERY * _ENOUGH_ROWS:
        few = _Common(np.ascontiguousarray(shown[:, :, ::_EVERY]), loss.every(_EVERY), ridge)
        start = minimize_nonnegative(few.value, few.curvature, start, n_views)
    return minimize_nonnegative(whole.value, whole.curvature, start, n_views)


@dataclass(frozen=True)
class _Common:
    """What is to be least, by one weight for each view and then one bias for each class."""

    shown: Floats
    loss: _Loss
    ridge: Floats

    def value(self, point: Floats) -> tuple[float, Floats]:
        """With its slope."""
        w, b, ridge = *self._parts(point), self.ridge
        value, slope = self.loss(np.matmul(w, self.shown), b)
        gradient = np.concatenate([_over_rows(self.shown, slope).sum(axis=0) + ridge * w, slope.sum(axis=1) + b])
        return value + 0.5 * float(ridge @ (w * w) + b @ b), gradient

    def curvature(self, point: Floats) -> Floats:
        """Its second derivatives."""
        w, b = self._parts(point)
        share, weight = self.loss.share(np.matmul(w, self.shown), b), self.loss.weight
        n_classes, n_views, n_rows = self.shown.shape
        out, mean = np.diag(np.append(self.ridge, np.ones(n_classes))), np.zeros((n_views, n_rows))
        own, both = out[:n_views, :n_views], out[:n_views, n_views:]
        for k, part in enumerate(self.shown):
            heavy = part * (weight * share[k])
            own += heavy @ part.T
            both[:, k] = heavy.sum(axis=1)
            mean += share[k] * part
        heavy = mean * weight
        own -= heavy @ mean.T
        both -= heavy @ share.T
        out[n_views:, :n_views] = both.T
        out[n_views:, n_views:] += np.diag(share @ weight) - (share * weight) @ share.T
        return out

    def _parts(self, point: Floats) -> tuple[Floats, Floats]:
        n_views = len(self.ridge)
        return point[:n_views], point[n_views:]


def _over_rows(shown: Floats, factor: Floats) -> Floats:
    """``(classes, views)``: sums over the rows, times a factor for each class and row."""
    return np.asarray(np.matmul(shown, factor[:, :, None])[:, :, 0])


def _squares(shown: Floats, factor: Floats) -> Floats:
    """The same of the squares, class by class: those of all would take as much memory again."""
    return np.array([part**2 @ by_row for part, by_row in zip(shown, factor, strict=True)])


class _Loss:
    """The weighted log-loss of scores ``(classes, rows)``, which are used up, with biases; and its slope."""

    def __init__(self, classes: Array, weight: Floats, shares: Floats) -> None:
        self.classes = classes
        self.place = classes * len(classes) + np.arange(len(classes))
        self.weight = weight
        self.shares = shares

    def __call__(self, scores: Floats, bias: Floats) -> tuple[float, Floats]:
        assert scores.flags.c_contiguous  # places are counted along rows
        scores += (self.shares + bias)[:, None]
        scores -= scores.max(axis=0)
        own = scores.reshape(-1)[self.place]
        total = np.exp(scores, out=scores).sum(axis=0)
        value = float(self.weight @ (np.log(total) - own))
        scores *= self.weight / total
        scores.reshape(-1)[self.place] -= self.weight
        return value, scores

    def every(self, step: int) -> _Loss:
        """Of some rows, which stand for all."""
        return _Loss(self.classes[::step], step * self.weight[::step], self.shares)

    def curvature(self, scores: Floats, bias: Floats) -> Floats:
        """By scores, ``(classes, rows)``."""
        share = self.share(scores, bias)
        return np.asarray(self.weight * share * (1.0 - share))

    def share(self, scores: Floats, bias: Floats) -> Floats:
        """Probabilities by scores, which are used up."""
        scores += (self.shares + bias)[:, None]
        scores -= scores.max(axis=0)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=0)
        return scores


def _least(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, n_weights: int, steep: Floats, *,
    nearly: bool = False,
) -> Floats:  # fmt: skip
    """The least point whose weights, the first of its numbers, are at least 0; ``nearly``, where a search may begin.

    ``steep`` is about how the slope of each number grows. Ridges differ by a factor of ten thousand: unless numbers are
    measured by it, the search ends far from the solution, and where, hangs on last digits.
    """
    from scipy.optimize import minimize

    unit = 1.0 / np.sqrt(steep)

    def measured(point: Floats) -> tuple[float, Floats]:
        value, slope = function(point * unit)
        return value, slope * unit

    bounds = [(0.0, None)] * n_weights + [(None, None)] * (len(start) - n_weights)
    gain, slope = (1e-5, 1e-3) if nearly else (1e-14, 1e-8)
    options = {"maxiter": _STEPS, "maxcor": _REMEMBERED, "ftol": gain, "gtol": slope}
    found = minimize(measured, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x * unit)
