"""Logistic regression on tokens that refines the stacked scores of a text classifier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..families.feature_sets import FeatureSet
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, TextRows
from ..kernels.tokens import TokenTables
from ..kernels.vocabulary import Vocabulary
from ..lazy import dataclass
from .token_views import StackedTokenViews
from .training_rows import TrainingRows, make_folds, mean_row_weight, rows_by_fold

# The search ends when the gradient norm is this fraction of the initial one.
_FLAT = 1e-4
_STEPS, _INNER_STEPS = 30, 60


class Change(NamedTuple):
    """A change of δ: its coefficients, and what it adds to the scores of the rows."""

    by_row: Floats
    scores: Floats

    def plus(self, times: float, other: Change) -> Change:
        return Change(self.by_row + times * other.by_row, self.scores + times * other.scores)

    def dot(self, other: Change) -> float:
        """Return the product of two changes of δ."""
        return float(np.vdot(self.by_row, other.scores))


@dataclass(frozen=True)
class OffsetLogisticRegression:
    """The problem: a sparse matrix of rows, their classes, weights and offsets, and the ridge."""

    rows: Any
    by_token: Any  # the same, transposed
    classes: Array
    weight: Floats
    offset: Floats
    ridge: float

    @classmethod
    def of(cls, rows: Any, classes: Array, weight: Floats, offset: Floats, ridge: float) -> OffsetLogisticRegression:
        return cls(rows, rows.T.tocsr(), classes, weight, offset, ridge)

    def solve(self) -> Floats:
        """δ, ``(tokens, classes)``."""
        at = Change(np.zeros_like(self.offset), np.zeros_like(self.offset))
        flat: float | None = None
        for _ in range(_STEPS):
            share = self._share(at.scores)
            slope = self._slope(at, share)
            length = slope.dot(slope)
            flat = _FLAT**2 * length if flat is None else flat
            if length <= flat:
                break
            at = self._further(at, self._newton(slope, share), slope)
        return np.asarray(self.by_token @ at.by_row)

    def _share(self, scores: Floats) -> Floats:
        total = self.offset + scores
        total -= total.max(axis=1, keepdims=True)
        share = np.exp(total)
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def _slope(self, at: Change, share: Floats) -> Change:
        wrong = share.copy()
        wrong[np.arange(len(wrong)), self.classes] -= 1.0
        return self._spread(wrong * self.weight[:, None]).plus(self.ridge, at)

    def _spread(self, by_row: Floats) -> Change:
        """Return the change with these coefficients."""
        if by_row.shape[1] == 2:  # one column is the other's mirror
            scores = self.rows @ (self.by_token @ by_row[:, 1:])
            return Change(by_row, np.concatenate([-scores, scores], axis=1))
        return Change(by_row, self.rows @ (self.by_token @ by_row))

    def _newton(self, slope: Change, share: Floats) -> Change:
        """Return an approximate Newton step by conjugate gradients."""
        left = way = Change(-slope.by_row, -slope.scores)
        step = Change(np.zeros_like(share), np.zeros_like(share))
        length = slope.dot(slope)
        enough = 0.01 * length
        for _ in range(_INNER_STEPS):
            bent = self._spread(self._curved(way.scores, share)).plus(self.ridge, way)
            far = length / way.dot(bent)
            step, left = step.plus(far, way), left.plus(-far, bent)
            before, length = length, left.dot(left)
            if length <= enough:
                break
            way = left.plus(length / before, way)
        return step

    def _curved(self, scores: Floats, share: Floats) -> Floats:
        """Return the Hessian of the loss by scores, times a change of scores, row by row."""
        moved = share * scores
        moved -= share * moved.sum(axis=1, keepdims=True)
        moved *= self.weight[:, None]
        return moved

    def _further(self, at: Change, step: Change, slope: Change) -> Change:
        """Return the point along a step that decreases the loss, by backtracking line search."""
        here, descent, far = self._value(at), slope.dot(step), 1.0
        while far > 1e-9:
            there = at.plus(far, step)
            if self._value(there) <= here + 1e-4 * far * descent:
                return there
            far /= 2
        return at

    def _value(self, at: Change) -> float:
        total = self.offset + at.scores
        own = total[np.arange(len(total)), self.classes]
        top = total.max(axis=1)
        loss = top - own + np.log(np.exp(total - top[:, None]).sum(axis=1))
        return float(self.weight @ loss) + 0.5 * self.ridge * at.dot(at)


_RIDGE = 0.3
# Minimum number of texts that contain a token: with one text, the regression would memorize it.
_LEAST_TEXTS = 2
_FOLDS = 10
# Scores of a fold under all views, at most.
_MOST_SCORES = 1 << 24


@dataclass(frozen=True)
class Refinement:
    """A weight for every token and class; a text's weights are summed and divided by the root of their number."""

    feature_sets: tuple[FeatureSet, ...]
    weights: tuple[Array, ...]  # (tokens, classes) of each feature set

    def scores(self, data: TextRows, kernels: Kernels) -> Floats:
        """Return what is added to the stacked scores, ``(rows, classes)``."""
        feature_sets = [own.features for own in self.feature_sets]
        tables = [TokenTables(once=weights) for weights in self.weights]
        found = kernels.score_tokens(data.texts, feature_sets, tables, distinct=True)
        total = sum(np.asarray(part.once) for part in found)
        n_tokens = sum(np.asarray(part.distinct) for part in found)
        return np.asarray(total / np.sqrt(np.maximum(n_tokens, 1))[:, None])


def word_features(feature_sets: Iterable[FeatureSet]) -> list[FeatureSet]:
    """Return the feature sets of words and pairs of words, which a refinement uses."""
    return [feature_set for feature_set in feature_sets if feature_set.tokenizer.analyzer == "word"]


def fit_refinement(likelihood: TextLikelihood, training: TrainingRows, offset: Floats, kernels: Kernels) -> Refinement:
    """Fit a refinement of texts, given their stacked scores by models that were not trained on them."""
    feature_sets, rows = _tokens(likelihood, training, kernels)
    weights = _solved(rows, training, offset)
    ends = np.cumsum([len(feature_set.coding) for feature_set in feature_sets])[:-1]
    return Refinement(
        feature_sets, tuple(np.ascontiguousarray(part, dtype=np.float32) for part in np.split(weights, ends))
    )


def refine_out_of_fold(
    likelihood: TextLikelihood, training: TrainingRows, offset: Floats, folds: Array, kernels: Kernels
) -> Floats:
    """Return the scores of texts, each refined with a regression fitted to the other folds."""
    _, rows = _tokens(likelihood, training, kernels)
    out = np.empty_like(offset)
    for here in rows_by_fold(folds):
        rest = np.setdiff1d(np.arange(len(folds)), here, assume_unique=True)
        out[here] = offset[here]
        if len(rest):
            weights = _solved(rows[rest], training.take(rest, training.multiplicity[rest]), offset[rest])
            out[here] += rows[here] @ weights
    return out


def out_of_fold_scores(
    likelihood: TextLikelihood, views: StackedTokenViews, training: TrainingRows, kernels: Kernels
) -> Floats:
    """Return the stacked scores of every text by sums without its fold; one fold at a time, to limit memory."""
    classes = training.batch.classes
    n_scores = views.n_views * len(classes) * training.batch.n_classes
    folds = make_folds(classes, training.blocks, max(_FOLDS, -(-n_scores // _MOST_SCORES)))
    out = np.empty((len(classes), training.batch.n_classes))
    for here in rows_by_fold(folds):
        fold = training.take(here, training.multiplicity[here])
        out[here] = views.combine(views.without_fold(likelihood, fold, kernels))
    return out


def _tokens(likelihood: TextLikelihood, training: TrainingRows, kernels: Kernels) -> tuple[tuple[FeatureSet, ...], Any]:
    """Return feature sets of tokens that occur in several texts, and the texts as rows of length 1."""
    from scipy.sparse import csr_array, hstack

    chosen = [
        feature_set._replace(coding=Vocabulary(), fixed=True)
        for feature_set in word_features(likelihood.family.feature_sets)
    ]
    found = kernels.count_tokens(training.batch.data.texts, [own.features for own in chosen], grow=True)
    feature_sets, parts = [], []
    for feature_set, one in zip(chosen, found, strict=True):
        rows = one.rows.matrix()
        held = np.bincount(rows.indices, np.repeat(training.multiplicity, np.diff(rows.indptr)), rows.shape[1])
        kept = np.flatnonzero(held >= _LEAST_TEXTS)
        assert isinstance(one.coding, Vocabulary)
        feature_sets.append(feature_set._replace(coding=one.coding.take(kept)))
        parts.append(csr_array(rows)[:, kept])
    rows = csr_array(hstack(parts), dtype=np.float64)
    n_tokens = np.diff(rows.indptr)
    rows.data = np.repeat(1.0 / np.sqrt(np.maximum(n_tokens, 1)), n_tokens)
    return tuple(feature_sets), rows


def _solved(rows: Any, training: TrainingRows, offset: Floats) -> Floats:
    if not len(training.case_weight):
        return np.zeros((rows.shape[1], training.batch.n_classes))
    weight = training.case_weight / mean_row_weight(training)
    return OffsetLogisticRegression.of(rows, training.batch.classes, weight, offset, _RIDGE).solve()
