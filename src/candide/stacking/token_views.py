"""Token bins of texts as stacked views."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families import Batch
from ..families.text_likelihood import TextLikelihood, TokenBinName
from ..kernels import Kernels
from ..kernels.kernels import single_threaded_blas
from ..kernels.layouts import Array, Floats, Positions, Sparse, TextRows, chunks
from ..lazy import dataclass
from .training_rows import TrainingRows, make_folds, mean_row_weight, subsample_rows
from .weights import StackingWeights, fit_weights

if TYPE_CHECKING:
    from ..families.table_likelihood import TableLikelihood

_RIDGE = 0.5
# Number of texts scored at once: their scores in all views are in memory until they are combined.
_CHUNK = 1 << 11
# Number of texts that the weights are fitted on; fewer with many classes, because each text contributes to all.
_MOST_ROWS, _ENOUGH_ROWS, _MOST_CELLS = 8_000, 2_000, 400_000
_FOLDS = 10
# Number of folds for the out-of-fold scores of a text column in a table; only two for many rows, to save time.
_COLUMN_FOLDS, _HALVES, _MANY_ROWS = 5, 2, 2_000
_MOST_BYTES = 1 << 21
# Without fitted weights, scores are not clipped.
_MOST_SCORE = 1e6


@dataclass(frozen=True)
class StackedTokenViews:
    """The weights of the bins of every feature set; the bins themselves are computed from the current token sums."""

    names: list[TokenBinName]
    weights: StackingWeights

    @classmethod
    def unweighted(cls, likelihood: TextLikelihood) -> StackedTokenViews:
        """Return views without weights."""
        n_classes = len(likelihood.statistics.rows)
        none = StackingWeights(np.zeros(0), np.zeros(0), np.zeros((0, n_classes)), np.zeros(n_classes))
        return cls(likelihood.bin_names, none)

    @classmethod
    def unfitted(cls, likelihood: TextLikelihood) -> StackedTokenViews:
        """Return the weights used when there is no text to fit on: naive Bayes on the first feature set."""
        names, rows = likelihood.bin_names, likelihood.statistics.rows
        bin_scores = [float(name.feature_set == names[0].feature_set and name.by == names[0].by) for name in names]
        weight = np.repeat(np.array(bin_scores)[:, None], len(rows), axis=1)
        bias = np.log(np.maximum(rows, 0.5) / max(rows.sum(), 0.5))
        return cls(names, StackingWeights(np.ones(len(names)), np.full(len(names), _MOST_SCORE), weight, bias))

    @property
    def n_views(self) -> int:
        return len(self.names)

    @property
    def feature_sets(self) -> tuple[str, ...]:
        """The names of the feature sets."""
        return tuple(dict.fromkeys(name.feature_set for name in self.names))

    def without_unused(self) -> StackedTokenViews:
        """Return the views without feature sets of weight 0, which need no tokenization. At least one set is kept."""
        weighed = {
            name.feature_set for name, weight in zip(self.names, self.weights.weight, strict=True) if weight.any()
        }
        bin_scores = weighed or {self.names[0].feature_set}
        views = [view for view, name in enumerate(self.names) if name.feature_set in bin_scores]
        return replace(self, names=[self.names[view] for view in views], weights=self.weights.take(views))

    def scores(self, likelihood: TextLikelihood, data: TextRows, kernels: Kernels) -> Floats:
        """Return the stacked scores of texts, ``(rows, classes)``."""
        out, bin_scores = np.empty((data.n_rows, len(likelihood.statistics.rows))), self.without_unused()
        for begin, end, part in chunks(data, _CHUNK):
            out[begin:end] = bin_scores.weights.scores(
                likelihood.token_bin_scores(part, kernels, bin_scores.feature_sets)
            )
        return out

    def token_contributions(
        self, likelihood: TextLikelihood, feature_set: str, rows: Sparse, kernels: Kernels
    ) -> Floats:
        """Return the contributions of single tokens, given as rows with one token each."""
        views = [view for view, name in enumerate(self.names) if name.feature_set == feature_set]
        scores = likelihood.token_scores(feature_set, rows, kernels)
        weights = self.weights.take(views)
        # Scores are divided by the root of one plus the number of tokens, which is √2 for a single token.
        return np.asarray(np.sqrt(2.0) * (weights.scores(scores) - weights.bias))

    def left_out_view_scores(self, likelihood: TextLikelihood, batch: Batch, share: Floats, kernels: Kernels) -> Floats:
        """Return scores under all views, ``(views, rows, classes)``, of texts that are left out with their weights."""
        return likelihood.token_bin_left_out(batch, kernels, self.feature_sets)

    def subsample(self, training: TrainingRows) -> Array:
        """Return the rows on which weights are fitted."""
        most = min(_MOST_ROWS, max(_ENOUGH_ROWS, _MOST_CELLS // training.batch.n_classes))
        return subsample_rows(training, self.n_views * training.batch.n_classes, most)

    def left_out_training_scores(self, likelihood: TextLikelihood, training: TrainingRows, kernels: Kernels) -> Floats:
        """Return scores of texts under all views, from token sums without their fold.

        If only the text itself were left out, its tokens would move between bins depending on its class, and the
        weights would be fitted to this leak. Copies of a text, which are one row, are left out together.
        """
        folds, batch = make_folds(training.batch.classes, training.blocks, _FOLDS), training.with_all_copies()
        folds = _numbered(folds)
        groups = _groups(folds, training.batch.data)
        if len(groups) == 1:
            scores = likelihood.token_bin_fold_scores(batch, folds, kernels, self.feature_sets)
        else:
            scores = np.empty((self.n_views, len(folds), training.batch.n_classes))
            for rows in groups:
                of_some = _numbered(folds[rows])
                scores[:, rows] = likelihood.token_bin_fold_scores(
                    batch.take(rows), of_some, kernels, self.feature_sets
                )
        # The tokens are no longer needed, and they take many times as much memory as the texts.
        training.batch.data.counted.clear()
        return scores

    def without_fold(self, likelihood: TextLikelihood, fold: TrainingRows, kernels: Kernels) -> Floats:
        """Return the scores of one fold by sums without it."""
        together = np.zeros(fold.batch.data.n_rows, dtype=np.int32)
        return likelihood.token_bin_fold_scores(fold.with_all_copies(), together, kernels, self.feature_sets)

    def combine(self, scores: Floats) -> Floats:
        """Return the stacked scores of texts from their left-out scores under all views."""
        return self.weights.scores(scores)

    @single_threaded_blas()
    def fit_weights(self, scores: Floats, training: TrainingRows) -> StackedTokenViews:
        """Fit the weights on left-out scores."""
        weight, n_views = training.case_weight / mean_row_weight(training), len(scores)
        how = weight, np.full(n_views, _RIDGE), np.zeros(n_views)
        weights = fit_weights(scores, training.batch.classes, *how, by_class=False, n_parts=1 + self.names[-1].bin)
        return replace(self, weights=weights)


def _numbered(folds: Positions) -> Positions:
    """Renumber folds without gaps."""
    return np.asarray(np.unique(folds, return_inverse=True)[1].astype(folds.dtype))


def _groups(folds: Array, texts: TextRows) -> list[Array]:
    """Return groups of rows that are scored at once, each made of whole folds, to limit the memory for tokens."""
    if texts.counted:
        return [np.arange(texts.n_rows)]
    sizes = np.bincount(folds, texts.sizes())
    group = (np.cumsum(sizes) - sizes) // _MOST_BYTES
    return [np.flatnonzero(np.isin(folds, np.flatnonzero(group == one))) for one in np.unique(group)]


def fit_stacked_token_views(
    likelihood: TextLikelihood, training: TrainingRows, kernels: Kernels
) -> tuple[StackedTokenViews, Floats, Array]:
    """Fit the views; also return the left-out scores that were used, and their rows."""
    if not len(training.case_weight):
        stacked = StackedTokenViews.unfitted(likelihood)
        return stacked, np.zeros((stacked.n_views, 0, training.batch.n_classes)), np.arange(0)
    stacked = StackedTokenViews.unweighted(likelihood)
    rows = stacked.subsample(training)
    some = training if len(rows) == len(training.case_weight) else training.take(rows, training.multiplicity[rows])
    scores = stacked.left_out_training_scores(likelihood, some, kernels)
    training.batch.data.counted.clear()
    return stacked.fit_weights(scores, some), scores, rows


@dataclass(frozen=True)
class TextColumnView:
    """The token bins of a text column, without class biases, because the table has its own."""

    column: int
    stacked: StackedTokenViews
    gain: float = 0.0  # reduction of the mean log-loss by the view alone

    @classmethod
    def of(cls, likelihood: TableLikelihood, column: int) -> TextColumnView:
        """Return views without weights."""
        return cls(column, StackedTokenViews.unweighted(likelihood.texts[column]))

    def subsample(self, training: TrainingRows) -> Array:
        """Return the rows on which weights are fitted."""
        return self.stacked.subsample(training)

    def scores(self, likelihood: TableLikelihood, data: Any, kernels: Kernels) -> Floats:
        """Return the scores of any rows, ``(rows, classes)``."""
        own, absent = likelihood.texts[self.column], data.columns[self.column].absent
        scores = self.stacked.scores(own, data.texts_at(self.column), kernels) - self.stacked.weights.bias
        return scores if absent is None else np.where(absent[:, None], 0.0, scores)

    def left_out(self, likelihood: TableLikelihood, batch: Batch, kernels: Kernels) -> Floats:
        """Return the leave-one-out scores of training rows; the weights do not change."""
        out, own = np.empty((len(batch.classes), batch.n_classes)), likelihood.texts[self.column]
        for begin, end, texts in chunks(batch.data.texts_at(self.column), _CHUNK):
            out[begin:end] = self._added_up(own.token_bin_left_out(batch.rows(begin, end, texts), kernels))
        return out

    def bin_scores(self, likelihood: TableLikelihood, training: TrainingRows, kernels: Kernels) -> Floats:
        """Return the scores of rows under all bins, ``(bins, rows, classes)``, from sums without their fold."""
        texts = training.batch._replace(data=training.batch.data.texts_at(self.column))
        return self.stacked.left_out_training_scores(
            likelihood.texts[self.column], training._replace(batch=texts), kernels
        )

    def fit_weights(self, bin_scores: Floats, training: TrainingRows) -> TextColumnView:
        """Fit the weights on the result of ``bin_scores``."""
        return replace(self, stacked=self.stacked.fit_weights(bin_scores, training))

    def left_out_training_scores(self, bin_scores: Floats, training: TrainingRows) -> Floats:
        """Return scores, ``(rows, classes)``; each row is scored with weights that were fitted without it."""
        classes = training.batch.classes
        n_folds = _HALVES if len(classes) > _MANY_ROWS else _COLUMN_FOLDS
        folds, out = make_folds(classes, training.blocks, n_folds), np.empty(bin_scores.shape[1:])
        for fold in np.unique(folds):
            here, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            without = self.fit_weights(bin_scores[:, rest], training.take(rest, training.multiplicity[rest]))
            out[here] = without._added_up(bin_scores[:, here])
        return out

    def _added_up(self, bin_scores: Floats) -> Floats:
        return np.asarray(self.stacked.combine(bin_scores) - self.stacked.weights.bias)
