"""Stacking weights of views, fitted to leave-one-out scores: one convex problem.

The scores of a view are centered over the classes and divided by their root mean square, so that one ridge suits all
views. Views that are parts of one sum are divided by the root mean square of the sum, so that parts with small scores
are not magnified. Weights are nonnegative, one per view and class; those of a view are shrunk toward their mean, and
each class has a bias:

    Σ_i weight_i · -log softmax(b + Σ_v w_v · F_vi)[class of i]
    + ½ Σ_v ridge_v (mean(w_v)² + TIE Σ_k (w_vk - mean(w_v))²) + ½ Σ_k (b_k - log share of class k)²

Rows with absent columns have different weights (``PartialWeights``): of two redundant columns, one needs more weight if
the other is absent. With s the share of the given columns, weights are interpolated between ``near`` (almost all
columns) and ``far`` (almost none), and the bias between its value and the class prior:

    scores = log prior + s (bias - log prior) + Σ_v (s near_v + (1 - s) far_v) · F_v

Both are fitted on left-out training rows with columns masked at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from .calibration import log_softmax
from .newton import minimize_large, minimize_nonnegative
from .training_rows import TrainingRows, mean_row_weight

# Shrinkage of a view's weights for the classes toward their mean.
TIE = 2.0
# Minimum scale of the scores of a single column; smaller scores are noise and are not magnified.
LEAST_SIZE = 0.1
# Maximum numbers of views and classes for Newton's method. With one weight per view, ten Newton steps replace a hundred
# steps of L-BFGS.
_FEW_VIEWS, _FEW_CLASSES = 64, 192
# With enough rows, the optimization starts from the solution for every eighth row.
_THINNING, _ENOUGH_ROWS = 8, 200
# Typical second derivative of the log-loss by a score, p (1 - p).
_CURVATURE = 0.1
# Scores of extreme values may be infinite and are clipped here.
MAX_SCORE = 1e290


@dataclass(frozen=True)
class StackingWeights:
    """Weights, ``(views, classes)``, and biases, with the scale and the largest standardized score of each view."""

    scale: Floats
    limit: Floats
    weight: Floats
    bias: Floats

    def with_unused_view(self, place: int) -> StackingWeights:
        """Return the weights with those of one more view, which are 0."""
        scale, limit = np.insert(self.scale, place, 1.0), np.insert(self.limit, place, 0.0)
        return replace(self, scale=scale, limit=limit, weight=np.insert(self.weight, place, 0.0, axis=0))

    def take(self, views: list[int]) -> StackingWeights:
        """Return the weights of some views."""
        return StackingWeights(self.scale[views], self.limit[views], self.weight[views], self.bias)

    def weighted(self, view: int, scores: Floats) -> Floats | None:
        """Return a view's weighted scores, ``(rows, classes)``; None if it has no weight.

        Standardized scores are clipped to the range seen when the weights were fitted, because scores of values unlike
        all training rows can be arbitrarily large.
        """
        if not self.weight[view].any():
            return None
        return np.asarray(self.standardized(view, scores) * self.weight[view])

    def standardized(self, view: int, scores: Floats) -> Floats:
        """Return a view's scores centered, scaled and clipped, as weights are applied to them."""
        if not np.isfinite(scores.sum()):
            scores = np.clip(scores, -MAX_SCORE, MAX_SCORE)
        shown = scores - scores.mean(axis=1, keepdims=True)
        shown /= self.scale[view]
        np.clip(shown, -self.limit[view], self.limit[view], out=shown)
        return np.asarray(shown)

    def weighted_parts(self, view: int, parts: Floats) -> tuple[Floats, Floats]:
        """Weight the parts, ``(parts, classes)``, of a view's scores of one row; also return the effect of clipping."""
        shown = np.clip(parts, -MAX_SCORE, MAX_SCORE)
        shown = (shown - shown.mean(axis=1, keepdims=True)) / self.scale[view] * self.weight[view]
        whole = self.weighted(view, parts.sum(axis=0, keepdims=True))
        return shown, np.zeros(parts.shape[1]) if whole is None else whole[0] - shown.sum(axis=0)

    def scores(self, views: Floats) -> Floats:
        """Return the weighted sum, ``(rows, classes)``, of the scores of all views, ``(views, rows, classes)``."""
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
    """Fit weights to the leave-one-out scores of rows, ``(views, rows, classes)``.

    ``ridge`` and ``least``, the least scale, have one entry per view; ``weight`` is that of the rows. ``by_class``: one
    weight per view and class instead of one per view. Each ``n_parts`` consecutive views are the parts of one sum.
    """
    shown = np.ascontiguousarray(views.transpose(2, 0, 1))
    shown -= shown.mean(axis=0)
    size = np.maximum(_sizes(shown, weight / weight.sum(), n_parts), np.maximum(least, 1e-9))
    shown /= size[:, None]
    limit = np.maximum(shown.max(axis=(0, 2)), -shown.min(axis=(0, 2)))
    rows = np.bincount(classes, weight, minlength=len(shown))
    # Classes without rows (all may be in the left-out fold) count as half a row.
    shares = np.log(np.maximum(rows, 0.5) / max(rows.sum(), 0.5))
    weights, bias = _solve(shown, _Loss(classes, weight, shares), ridge, by_class and len(shown) > 2)
    return StackingWeights(size, limit, weights, shares + bias)


@dataclass(frozen=True, eq=False)
class WeightProblem:
    """The problem of fitting stacking weights to the out-of-sample scores of training rows."""

    scores: Floats  # (views, rows, classes)
    ridge: Floats  # of each view
    least: Floats  # the least scale of each view
    training: TrainingRows

    @property
    def weights(self) -> StackingWeights:
        """Weights per view and class; two classes share one weight per view."""
        return self.shared_weights if self.scores.shape[2] <= 2 else self._fit(by_class=True)

    @cached_property
    def shared_weights(self) -> StackingWeights:
        """Weights per view, shared by all classes."""
        return self._fit(by_class=False)

    @single_threaded_blas()
    def _fit(self, *, by_class: bool) -> StackingWeights:
        training = self.training
        weight = training.case_weight / mean_row_weight(training)
        return fit_weights(self.scores, training.batch.classes, weight, self.ridge, self.least, by_class=by_class)

    @cached_property
    def log_posterior(self) -> Floats:
        """Log posteriors of the rows, with weights shared by all classes."""
        return log_softmax(self.shared_weights.scores(self.scores))

    def with_view(self, place: int, scores: Floats, ridge: float) -> WeightProblem:
        """Return the problem with one more view of several columns."""
        more, ridges = np.insert(self.scores, place, scores, axis=0), np.insert(self.ridge, place, ridge)
        return WeightProblem(more, ridges, np.insert(self.least, place, 0.0), self.training)


def fit_weights_from(
    shown: Floats, base: Floats, factor: Floats, start: Floats, ridge: Floats, classes: Array, weight: Floats
) -> tuple[Floats, Floats]:
    """Fit weights ``(views, classes)`` with a ridge toward ``start``, and additions to the biases.

    The scores, ``(classes, views, rows)``, are added to ``base``, ``(classes, rows)``, and to the biases times the
    ``factor`` of each row. Differences from the start are penalized as weights are in ``fit_weights``.
    """
    n_classes, _n_views, n_rows = shown.shape
    loss, begin = _Loss(classes, weight, np.zeros(n_classes)), start.T
    curvature = _CURVATURE * np.broadcast_to(weight, (n_classes, n_rows))
    problem = _ByClass(shown, loss, ridge, begin, base, factor)
    return problem.solve(np.append(begin.ravel(), np.zeros(n_classes)), curvature)


def _sizes(shown: Floats, share: Floats, n_parts: int) -> Floats:
    """Return root mean squares over classes and rows, computed class by class to save memory."""
    sums = (part.reshape(-1, n_parts, len(share)).sum(axis=1) for part in shown)
    mean_square = np.mean([whole**2 @ share for whole in sums], axis=0)
    return np.repeat(np.sqrt(mean_square), n_parts)


def _solve(shown: Floats, loss: _Loss, ridge: Floats, by_class: bool) -> tuple[Floats, Floats]:
    """Fit one weight per view and, if ``by_class``, continue from there with one per view and class.

    ``shown`` are scores, ``(classes, views, rows)``; return weights ``(views, classes)`` and biases relative to the log
    class frequencies.
    """
    n_classes, n_views, n_rows = shown.shape
    point = _common(shown, loss, ridge, approximate=by_class)
    w, b = point[:n_views], point[n_views:]
    if not by_class:
        return np.repeat(w[:, None], n_classes, axis=1), b

    problem = _ByClass(shown, loss, ridge, np.zeros((n_classes, n_views)), np.zeros((n_classes, 1)), np.ones(n_rows))
    start = np.concatenate([np.tile(w, n_classes), b])
    return problem.solve(start, loss.curvature(np.matmul(w, shown), b))


def _common(shown: Floats, loss: _Loss, ridge: Floats, *, approximate: bool) -> Floats:
    """Fit one weight per view and one bias per class; ``approximate``: only as a start for another search."""
    n_classes, n_views, n_rows = shown.shape
    whole, start = _Common(shown, loss, ridge), np.zeros(n_views + n_classes)
    if n_views > _FEW_VIEWS or n_classes > _FEW_CLASSES:
        curvature = _CURVATURE * np.broadcast_to(loss.weight, (n_classes, n_rows))
        diagonal = np.append(_squares(shown, curvature).sum(axis=0) + ridge, curvature.sum(axis=1) + 1.0)
        return minimize_large(whole, start, n_views, diagonal, approximate=approximate)
    if n_rows >= _THINNING * _ENOUGH_ROWS:
        few = _Common(np.ascontiguousarray(shown[:, :, ::_THINNING]), loss.every(_THINNING), ridge)
        start = minimize_nonnegative(few.value, few.curvature, start, n_views)
    return minimize_nonnegative(whole.value, whole.curvature, start, n_views)


@dataclass(frozen=True)
class _Common:
    """The objective as a function of one weight per view followed by one bias per class."""

    shown: Floats
    loss: _Loss
    ridge: Floats

    def value(self, point: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        w, b, ridge = *self._parts(point), self.ridge
        value, slope = self.loss(np.matmul(w, self.shown), b)
        gradient = np.concatenate([_over_rows(self.shown, slope).sum(axis=0) + ridge * w, slope.sum(axis=1) + b])
        return value + 0.5 * float(ridge @ (w * w) + b @ b), gradient

    def products(self, point: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a vector by the Hessian."""
        w, b = self._parts(point)
        share = self.loss.share(np.matmul(w, self.shown), b)

        def times(vector: Floats) -> Floats:
            w, b = self._parts(vector)
            slope = self.loss.change_of_slope(share, np.matmul(w, self.shown) + b[:, None])
            own = _over_rows(self.shown, slope).sum(axis=0) + self.ridge * w
            return np.concatenate([own, slope.sum(axis=1) + b])

        return times

    def curvature(self, point: Floats) -> Floats:
        """Return the Hessian."""
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


@dataclass(frozen=True)
class _ByClass:
    """The objective as a function of one weight per class and view followed by one bias per class.

    The scores are added to ``base`` and to the biases times the ``factor`` of each row.
    """

    shown: Floats  # (classes, views, rows)
    loss: _Loss
    ridge: Floats
    center: Floats  # (classes, views): weights that have no penalty
    base: Floats  # (classes, rows)
    factor: Floats  # (rows,)

    def solve(self, start: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return weights ``(views, classes)`` and biases; ``curvature`` is approximately that of the scores."""
        weights = (_squares(self.shown, curvature) + TIE * self.ridge).ravel()
        diagonal = np.append(weights, curvature @ self.factor**2 + 1.0)
        w, b = self._parts(minimize_large(self, start, self.center.size, diagonal))
        return np.ascontiguousarray(w.T), b

    def value(self, point: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient."""
        w, b = self._parts(point)
        total, slope = self.loss(self._scores(w, b) + self.base, np.zeros(len(b)))
        penalty, pull = _penalty(w - self.center, b, self.ridge)
        return total + penalty, self._gradient(slope, pull, b)

    def products(self, point: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a vector by the Hessian."""
        w, b = self._parts(point)
        share = self.loss.share(self._scores(w, b) + self.base, np.zeros(len(b)))

        def times(vector: Floats) -> Floats:
            w, b = self._parts(vector)
            slope = self.loss.change_of_slope(share, self._scores(w, b))
            return self._gradient(slope, _penalty(w, b, self.ridge)[1], b)

        return times

    def _scores(self, w: Floats, b: Floats) -> Floats:
        return np.asarray(np.matmul(w[:, None, :], self.shown)[:, 0] + b[:, None] * self.factor)

    def _gradient(self, slope: Floats, pull: Floats, b: Floats) -> Floats:
        return np.concatenate([(_over_rows(self.shown, slope) + pull).ravel(), slope @ self.factor + b])

    def _parts(self, point: Floats) -> tuple[Floats, Floats]:
        n_classes, n_views, _ = self.shown.shape
        return point[:-n_classes].reshape(n_classes, n_views), point[-n_classes:]


def _penalty(weights: Floats, bias: Floats, ridge: Floats) -> tuple[float, Floats]:
    """Return the penalty of weights ``(classes, views)`` and biases, and its gradient by the weights."""
    mean = weights.mean(axis=0)
    apart = weights - mean
    value = ridge @ (mean**2 + TIE * (apart**2).sum(axis=0)) + bias @ bias
    return 0.5 * float(value), ridge * (mean / len(weights) + TIE * apart)


def _over_rows(shown: Floats, factor: Floats) -> Floats:
    """Return sums over the rows, ``(classes, views)``, with a factor for each class and row."""
    return np.asarray(np.matmul(shown, factor[:, :, None])[:, :, 0])


def _squares(shown: Floats, factor: Floats) -> Floats:
    """Return the same sums of squares, computed class by class to save memory."""
    return np.array([part**2 @ by_row for part, by_row in zip(shown, factor, strict=True)])


class _Loss:
    """The weighted log-loss of scores, ``(classes, rows)``, with biases, and its gradient. Scores are overwritten."""

    def __init__(self, classes: Array, weight: Floats, shares: Floats) -> None:
        self.classes = classes
        self.place = classes * len(classes) + np.arange(len(classes))
        self.weight = weight
        self.shares = shares

    def __call__(self, scores: Floats, bias: Floats) -> tuple[float, Floats]:
        assert scores.flags.c_contiguous  # ``place`` indexes the flattened array
        scores += (self.shares + bias)[:, None]
        scores -= scores.max(axis=0)
        own = scores.reshape(-1)[self.place]
        total = np.exp(scores, out=scores).sum(axis=0)
        value = float(self.weight @ (np.log(total) - own))
        scores *= self.weight / total
        scores.reshape(-1)[self.place] -= self.weight
        return value, scores

    def every(self, step: int) -> _Loss:
        """Return the loss of every ``step``-th row, with weights that represent all rows."""
        return _Loss(self.classes[::step], step * self.weight[::step], self.shares)

    def curvature(self, scores: Floats, bias: Floats) -> Floats:
        """Return second derivatives by the scores, ``(classes, rows)``."""
        share = self.share(scores, bias)
        return np.asarray(self.weight * share * (1.0 - share))

    def change_of_slope(self, share: Floats, change: Floats) -> Floats:
        """Return the change of the gradient by the scores for a change of scores, at class probabilities ``share``."""
        return np.asarray(self.weight * share * (change - (share * change).sum(axis=0)))

    def share(self, scores: Floats, bias: Floats) -> Floats:
        """Return class probabilities from scores, which are overwritten."""
        scores += (self.shares + bias)[:, None]
        scores -= scores.max(axis=0)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=0)
        return scores


# Number of different sets of masked columns; maximum number of masked rows in total, and per training row.
_PATTERNS = 256
_MOST_ROWS, _REPLICATES = 3_600, 8
# Maximum number of scores (views × rows × classes) in memory at once.
_MOST_SCORES = 1 << 20
_SEED = 20
# Factor of the ridges of the far weights, which differ more from the weights for complete rows.
_FAR_RIDGE = 0.1


@dataclass(frozen=True)
class PartialWeights:
    """Two weights per view and class: one for rows with almost all columns given, one for rows with almost none."""

    near: Floats  # (views, classes)
    far: Floats
    bias: Floats  # (classes,) for rows with almost all columns given

    def take(self, views: list[int]) -> PartialWeights:
        """Return the weights of some views."""
        return PartialWeights(self.near[views], self.far[views], self.bias)

    def at(self, share: float) -> Floats:
        """Return the weights of a row, from the share of its columns that is given."""
        return np.asarray(share * self.near + (1.0 - share) * self.far)

    def biases(self, share: Floats, log_prior: Floats) -> Floats:
        """Return the biases of rows, ``(rows, classes)``, from the shares of their columns that are given."""
        # Impossible classes are handled by the caller.
        known = np.where(np.isfinite(log_prior), log_prior, self.bias)
        return np.asarray(known + share[:, None] * (self.bias - known))


@dataclass(frozen=True)
class Masks:
    """Copies of rows with some columns masked."""

    rows: Array  # (cases,) positions of rows
    absent: Array  # bool (cases, columns)


def draw_masks(n_rows: int, n_columns: int, n_scores: int) -> Masks:
    """Draw sets of masked columns, from few to most columns, and assign them to copies of rows, with a fixed seed.

    ``n_scores`` is the number of views times that of classes.
    """
    rng = np.random.default_rng(_SEED)
    share = (np.arange(_PATTERNS) + 0.5) / _PATTERNS
    # At least one column is given, and at least one is masked.
    n_absent = np.clip(np.round(share * n_columns), 1, n_columns - 1).astype(np.int64)
    place = np.argsort(rng.random((_PATTERNS, n_columns)), axis=1)
    patterns = place < n_absent[:, None]
    n_cases = min(_REPLICATES * n_rows, _MOST_ROWS, max(200, _MOST_SCORES // max(1, n_scores)))
    cases = np.arange(n_cases)
    rows = cases * n_rows // n_cases if n_cases <= n_rows else cases % n_rows
    # Rows with the same absent columns are adjacent, so that views compute what depends on the set once.
    return Masks(rng.permutation(rows), patterns[cases * _PATTERNS // n_cases])


def fit_partial(
    whole: StackingWeights,
    views: Floats,
    share: Floats,
    classes: Array,
    weight: Floats,
    log_prior: Floats,
    ridge: Floats,
) -> PartialWeights:
    """Fit partial weights to left-out scores of masked rows, ``(views, rows, classes)``.

    ``share`` is the share of given columns of each row. ``ridge`` shrinks the near weights of each view toward those
    for complete rows and, less strongly, the far weights toward their mean over the classes.
    """
    shown = np.stack([whole.standardized(v, scores).T for v, scores in enumerate(views)], axis=1)
    start = PartialWeights(
        whole.weight, np.repeat(whole.weight.mean(axis=1, keepdims=True), len(shown), axis=1), whole.bias
    )
    found = fit_weights_from(
        np.concatenate([share * shown, (1.0 - share) * shown], axis=1),
        start.biases(share, log_prior).T,
        share,
        np.concatenate([start.near, start.far]),
        np.concatenate([ridge, _FAR_RIDGE * ridge]),
        classes,
        weight,
    )
    near, far = np.split(found[0], 2)
    return PartialWeights(near, far, whole.bias + found[1])
