"""Semi-supervised learning: unlabeled texts are used if they improve the scores of left-out texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ..data.arrays import as_array
from ..data.labeled_rows import LabeledRows, read_weights
from ..exceptions import InputError
from ..families import Batch
from ..families.text import TextFamily, shared_out, token_by_token
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, TextRows
from ..lazy import dataclass
from ..specs import Spec
from ..stacking.calibration import calibrate, cross_fitted, log_softmax
from ..stacking.refinement import fit_refinement, refine_out_of_fold
from ..stacking.token_views import StackedTokenViews
from ..stacking.training_rows import TrainingRows, group_folds
from ..statistics.hashing import group_hashes, group_of, in_groups, row_hashes
from .accumulator import summarize
from .classifier import Classifier
from .evaluation import Evaluation
from .fitted import Fitted
from .model import Model, completed
from .out_of_fold import scores_with_refitted_weights
from .source import Chunk, MemorySource

How = Literal["em", "sfe"]
# Lower bound of class probabilities, which would be 0 if all texts of a class are in one fold.
_LEAST = 1e-6


class Unlabeled(NamedTuple):
    """Result of semi-supervised learning: cross-validated log-loss on labeled texts without and with unlabeled ones."""

    n_texts: int
    used: bool
    log_loss_without: float
    log_loss_with: float


@dataclass(frozen=True)
class UnlabeledTexts:
    """Texts without labels, and the method for using them."""

    data: TextRows
    weight: Floats | None
    how: How

    def added_to(self, model: Classifier, kernels: Kernels) -> Classifier:
        """Return the model after adding unlabeled texts to its sums."""
        family, state = model.bound_spec.family, model.state
        assert isinstance(family, TextFamily)
        if self.how == "sfe":
            more = token_by_token(family, state.statistics, self.data, self.weight, kernels)
        else:
            share = model.posterior(self.data, kernels, logarithm=False)
            share = share if self.weight is None else share * self.weight[:, None]
            more = shared_out(family, self.data, share, kernels)
        return Classifier(model.bound_spec, replace(state, statistics=state.statistics.merge(more)), model.fitted)


def train_semi_supervised(spec: Spec, rows: Chunk, missing: Array) -> Model:
    """Train a model on texts, with EM or SFE for unlabeled ones (``missing``) if that improves it."""
    from .train import train

    _, data = spec.open(rows.X)
    weight = read_weights(rows.weight, len(missing))
    if data.n_rows != len(missing):
        raise InputError(
            f"found {data.n_rows} texts and {len(missing)} labels; pass one label per text, or None for unlabeled texts"
        )
    labeled, others = np.flatnonzero(~missing), np.flatnonzero(missing)
    labels = as_array(rows.y, "y")[labeled]
    own, rest = (None if weight is None else weight[places] for places in (labeled, others))
    hashes = group_hashes(rows.groups, data.n_rows)
    blocks = None if hashes is None else group_of(in_groups(row_hashes(data), hashes))[labeled]
    names = labels if labels.dtype.kind == "f" else labels.tolist()
    texts = data.take(labeled).texts
    model = train(spec, MemorySource(texts, names, own, blocks))
    unread = UnlabeledTexts(data.take(others), rest, "em" if spec.unlabeled_choice() == "em" else "sfe")
    classifier, result = learn_unlabeled(
        model.classifier, model.batch(texts, labels, own), unread, model.kernels, blocks
    )
    return replace(model, classifier=completed(spec, classifier), unlabeled=result)


def learn_unlabeled(
    model: Classifier, batch: Batch, texts: UnlabeledTexts, kernels: Kernels, blocks: Array | None = None
) -> tuple[Classifier, Unlabeled]:
    """Return the model of labeled texts or of all texts, by cross-validation on the labeled texts.

    A fold is scored by models trained without it, which also predict the labels of unlabeled texts for this fold.
    Stacking weights are fitted on these scores of all folds. Texts in the same block of ``blocks``, and copies, are in
    one fold.
    """
    rows = _scored_rows(model, batch)
    folds = group_folds(batch.classes, _first_of_copies(batch.data) if blocks is None else blocks)
    parts = [_scores_of_fold(model, batch, texts, rows, folds == fold, kernels) for fold in np.unique(folds)]
    order = np.argsort(np.concatenate([part.rows for part in parts]))
    alone = np.concatenate([part.alone for part in parts], axis=1)[:, order]
    together = np.concatenate([part.together for part in parts], axis=1)[:, order]
    seen = _seen(batch.take(rows))
    before, after = (_report(model, seen, scores, folds[rows], kernels) for scores in (alone, together))
    used = bool(after.log_loss < before.log_loss)
    if used:
        state = texts.added_to(model, kernels).state
        fitted = _fitted(Classifier(model.bound_spec, state, model.fitted), seen, together, kernels)
        # Kept rows would be scored with unlabeled texts whose predicted labels depend on the labels of these rows.
        model = Classifier(model.bound_spec, state, fitted, after, model.token_names)
    return model, Unlabeled(texts.data.n_rows, used, before.log_loss, after.log_loss)


def _scored_rows(model: Classifier, batch: Batch) -> Array:
    """Return the labeled rows that are scored; weights are fitted on them."""
    views = None if model.fitted is None else model.fitted.views
    if isinstance(views, StackedTokenViews) and not model.bound_spec.refine:
        return views.subsample(_seen(batch))
    return np.arange(len(batch.classes))


def _first_of_copies(texts: TextRows) -> Array:
    """Return the position of the first copy of each text, because copies belong to one fold."""
    _, first, place = np.unique(row_hashes(texts), return_index=True, return_inverse=True)
    return np.asarray(first[place])


def _seen(batch: Batch) -> TrainingRows:
    weight = np.ones(len(batch.classes)) if batch.weight is None else batch.weight
    return TrainingRows(batch, weight, np.ones(len(batch.classes), dtype=np.int64))


class _Fold(NamedTuple):
    """Rows of a fold, and their scores by models of the other folds without and with unlabeled texts."""

    rows: Array
    alone: Floats
    together: Floats


def _scores_of_fold(
    model: Classifier, batch: Batch, texts: UnlabeledTexts, scored: Array, here: Array, kernels: Kernels
) -> _Fold:
    rest = batch.take(np.flatnonzero(~here))
    rows_left = LabeledRows(rest.data, model.classes, rest.classes, rest.weight)
    state = summarize(model.bound_spec, rows_left, kernels)
    other = Classifier(model.bound_spec, state)
    rows = scored[here[scored]]
    held = batch.data.take(rows)
    both = (_view_scores(one, held, kernels) for one in (other, texts.added_to(other, kernels)))
    return _Fold(rows, *both)


def _view_scores(model: Classifier, data: TextRows, kernels: Kernels) -> Floats:
    """Return scores under all views, ``(views, rows, classes)``; without views, uncalibrated log posteriors."""
    if model.bound_spec.order is None:
        return model.scorer.posterior(data, kernels, logarithm=True)[None]
    scores: Floats = model.likelihood.token_bin_scores(data, kernels)
    return scores


def _report(model: Classifier, seen: TrainingRows, scores: Floats, folds: Array, kernels: Kernels) -> Evaluation:
    classes, weight = seen.batch.classes, seen.case_weight
    if model.fitted is not None and model.fitted.views is not None:
        out = scores_with_refitted_weights(model.bound_spec, model.fitted.views, seen, scores, folds)
        if model.bound_spec.refine:
            out = log_softmax(refine_out_of_fold(model.likelihood, seen, out, folds, kernels))
    else:
        amount = model.bound_spec.family.amount(seen.batch.data)
        out = cross_fitted(model.bound_spec.calibrate, scores[0], classes, weight, amount, seen.multiplicity, folds)
    return Evaluation.of(log_softmax(np.logaddexp(out, np.log(_LEAST))), classes, weight, model.classes.labels)


def _fitted(model: Classifier, seen: TrainingRows, scores: Floats, kernels: Kernels) -> Fitted | None:
    """Return the parameters fitted to the scores of folds."""
    fitted, bound_spec = model.fitted, model.bound_spec
    if fitted is None:
        return None
    out, views, refinement, calibration = scores[0], None, None, None
    if isinstance(fitted.views, StackedTokenViews):
        # With all feature sets, because those without weight, which were dropped, may now have a weight.
        views = StackedTokenViews.unweighted(model.likelihood).fit_weights(scores, seen)
        out = views.combine(scores)
        refinement = fit_refinement(model.likelihood, seen, out, kernels) if bound_spec.refine else None
    if bound_spec.calibrate is not None:
        amount = bound_spec.family.amount(seen.batch.data)
        parts = seen.batch.classes, seen.case_weight, amount, seen.multiplicity
        calibration = calibrate(bound_spec.calibrate, log_softmax(out), *parts)
    weight = float(model.state.rows.sum())
    return Fitted(bound_spec, model.classes, weight, fitted.alpha, calibration, views, refinement, frozen=True)
