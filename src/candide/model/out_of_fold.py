"""Out-of-fold scores of training rows: by models, including choices and weights, that were fitted without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..families import Batch
from ..families.base import refuse_unseen_categories
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, chunks
from ..specs import BoundSpec
from ..stacking.calibration import calibrate, cross_fitted, log_softmax
from ..stacking.refinement import out_of_fold_scores, refine_out_of_fold
from ..stacking.stacked_views import StackedViews
from ..stacking.token_views import StackedTokenViews
from ..stacking.training_rows import N_FOLDS, TrainingRows, group_folds, make_folds, rows_by_fold
from ..statistics import Sample
from ..statistics.hashing import group_hashes, row_hashes
from .evaluation import Evaluation
from .fitted import alphas, scores_left_out, seen_rows
from .leave_one_out import PriorWhileOut, cross_val_log_proba, leave_one_out
from .state import State

if TYPE_CHECKING:
    from .classifier import Classifier

# Maximum number of rows for which the whole model of a table is refitted without each fold.
_MAX_REFITTED_ROWS = 5_000
# Maximum number of folds for which stacked views are refitted.
_MAX_STACKED_FOLDS = 10


class OutOfFoldScores(NamedTuple):
    """Log probabilities of training rows by models that were fitted without them, including choices and weights."""

    seen: TrainingRows
    log_probability: Floats
    optimistic: Floats  # with choices made on all rows
    plain: Floats | None = None  # without stacking and calibration, if the model has them


def score_out_of_fold(model: Classifier, kernels: Kernels) -> OutOfFoldScores:
    """Score every row by a model without the row, with all choices made without its fold."""
    result = _score_out_of_fold(model, kernels)
    if model.bound_spec.corrects:
        result = result._replace(plain=_plain_left_out(model, result.seen, kernels))
    lone = _lone_rows(result.seen)
    if not lone.any():
        return result
    return result._replace(
        log_probability=_without_own_class(result.log_probability, result.seen, lone),
        optimistic=_without_own_class(result.optimistic, result.seen, lone),
        plain=None if result.plain is None else _without_own_class(result.plain, result.seen, lone),
    )


def _lone_rows(seen: TrainingRows) -> Array:
    """Return which rows are the only one of their class, or are in the only group of their class."""
    known = seen.case_weight > 0
    classes = seen.batch.classes
    units = np.arange(len(classes)) if seen.blocks is None else np.asarray(seen.blocks)
    pairs = np.unique(np.column_stack([classes, units])[known], axis=0)
    n_units = np.bincount(pairs[:, 0], minlength=seen.batch.n_classes)
    if (n_units > 0).sum() < 2:
        return np.zeros(len(classes), dtype=bool)  # with one class, nothing else can be predicted
    return np.asarray(known & (n_units[classes] == 1))


def _without_own_class(log_probability: Floats, seen: TrainingRows, lone: Array) -> Floats:
    """Set the probability of a lone row's own class to its frequency.

    Without the row, its class is empty and has the distribution of all rows, which would make it seem likely.
    """
    out = log_probability.copy()
    own = seen.batch.classes[lone]
    weight = np.bincount(seen.batch.classes, seen.case_weight, seen.batch.n_classes)
    share = weight[own] / weight.sum()
    rest = out[lone]
    rest[np.arange(len(own)), own] = -np.inf
    rest = log_softmax(rest) + np.log1p(-share)[:, None]
    rest[np.arange(len(own)), own] = np.log(share)
    out[lone] = rest
    return out


def _plain_left_out(model: Classifier, seen: TrainingRows, kernels: Kernels) -> Floats:
    """Score training rows left out by plain naive Bayes: the same family, without stacking and calibration."""
    alpha = None if model.fitted is None else model.fitted.alpha
    scores, _ = scores_left_out(model.bound_spec, model.state, seen, alpha, kernels)
    return log_softmax(scores)


def _score_out_of_fold(model: Classifier, kernels: Kernels) -> OutOfFoldScores:
    bound_spec, state = model.bound_spec, model.state
    seen = seen_rows(bound_spec, state, "leave-one-out scoring (loo_, predict_set)")
    fitted = model.fitted
    if fitted is not None and fitted.views is not None:
        return _stacked_out_of_fold(model, fitted.views, seen, kernels)
    if fitted is None:
        scores, _ = scores_left_out(bound_spec, state, seen, None, kernels)
        return OutOfFoldScores(seen, scores, scores)
    row, folds, copies = seen.stratified_folds()
    seen = seen.take(row, copies)
    scores, amount = scores_left_out(bound_spec, state, seen, fitted.alpha, kernels)
    optimistic = scores if fitted.calibration is None else fitted.calibration.apply(scores, amount)
    return OutOfFoldScores(seen, cross_chosen(bound_spec, state, seen, scores, folds, kernels), optimistic)


def _stacked_out_of_fold(
    model: Classifier, views: StackedViews | StackedTokenViews, seen: TrainingRows, kernels: Kernels
) -> OutOfFoldScores:
    if isinstance(views, StackedTokenViews) and model.bound_spec.refine:
        return _refined_out_of_fold(model, views, seen, kernels)
    row, folds, copies = seen.stratified_folds()
    if isinstance(views, StackedViews) and _is_small(model.state, seen):
        seen = seen.take(row, copies)
        return OutOfFoldScores(
            seen, _refitted_scores(model, seen, folds, kernels), _optimistic(model, _left_out(model, seen, kernels))
        )
    few = views.subsample(seen)
    # The rows are chosen before they are assigned to folds: evenly spaced rows may all be in one fold.
    seen = seen.take(few, seen.multiplicity[few])
    row, folds, copies = seen.stratified_folds()
    scores, seen = _left_out(model, seen, kernels)[:, row], seen.take(row, copies)
    return OutOfFoldScores(
        seen, scores_with_refitted_weights(model.bound_spec, views, seen, scores, folds), _optimistic(model, scores)
    )


def _refined_out_of_fold(
    model: Classifier, views: StackedTokenViews, seen: TrainingRows, kernels: Kernels
) -> OutOfFoldScores:
    """Score texts by models fitted without them; with many texts, only the refinement is refitted.

    Copies, which are one row, are left out together: a refinement would memorize a text.
    """
    assert model.fitted is not None
    assert model.fitted.refinement is not None
    folds = make_folds(seen.batch.classes, seen.blocks, N_FOLDS)
    begun = out_of_fold_scores(model.likelihood, views, seen, kernels)
    optimistic = log_softmax(begun + model.fitted.refinement.scores(seen.batch.data, kernels))
    if _is_small(model.state, seen) and folds.any() and not model.fitted.frozen:
        return OutOfFoldScores(seen, _refitted_scores(model, seen, folds, kernels), optimistic)
    return OutOfFoldScores(
        seen, log_softmax(refine_out_of_fold(model.likelihood, seen, begun, folds, kernels)), optimistic
    )


def _is_small(state: State, seen: TrainingRows) -> bool:
    """Return whether the sample contains all rows, and few enough to refit the whole model for each fold.

    With more rows, only the weights are refitted, because the other choices hardly depend on a fold.
    """
    assert state.sample is not None
    everything = np.allclose(state.sample.represented(), state.rows, rtol=1e-9, atol=0.0)
    return everything and int(seen.multiplicity.sum()) <= _MAX_REFITTED_ROWS


def _left_out(model: Classifier, seen: TrainingRows, kernels: Kernels) -> Floats:
    views = _views(model)
    assert views is not None
    return views.left_out_training_scores(model.likelihood, seen, kernels)


def _views(model: Classifier) -> StackedViews | StackedTokenViews | None:
    return None if model.fitted is None else model.fitted.views


def _optimistic(model: Classifier, scores: Floats) -> Floats:
    """Return scores of rows left out of all sums, with choices and weights fitted on all rows."""
    assert model.fitted is not None
    assert model.fitted.views is not None
    calibration, out = model.fitted.calibration, log_softmax(model.fitted.views.combine(scores))
    return out if calibration is None else calibration.apply(out, None)


def _refitted_scores(model: Classifier, seen: TrainingRows, folds: Array, kernels: Kernels) -> Floats:
    """Score each row by a model fitted without its fold: families, views and weights."""
    bare = type(model)(replace(model.bound_spec, target=None), model.state)
    out = np.empty((len(folds), len(model.classes)))
    for here in rows_by_fold(folds):
        if len(here) == len(folds):  # all rows are copies of one, so no model is left
            out[here] = -np.log(len(model.classes))
            continue
        rows = seen.batch.take(here).data
        out[here] = _without_fold(bare, seen, here, kernels).posterior(rows, kernels, logarithm=True)
    return _possible(out, float(model.state.rows.sum()))


def _without_fold(model: Classifier, seen: TrainingRows, here: Array, kernels: Kernels) -> Classifier:
    """Return the model of all rows except those of a fold; copies stay merged into one row."""
    rest = np.delete(np.arange(len(seen.case_weight)), here)
    here, rest = (np.repeat(rows, seen.multiplicity[rows]) for rows in (here, rest))
    gone, left = seen.batch.take(here), seen.batch.take(rest)
    bound_spec, state = model.bound_spec, model.state
    statistics = state.statistics_with_copies().forget(bound_spec.family.observe(gone, kernels))
    groups = None if seen.blocks is None else group_hashes(seen.blocks[rest], len(rest))
    kept = left.data, left.classes, left.weight, left.n_classes
    assert state.sample is not None
    sample = Sample.of(*kept, state.sample.budget, groups=groups)
    return type(model)(bound_spec, replace(state, statistics=statistics, sample=sample))


def _possible(log_probability: Floats, weight: float) -> Floats:
    """Return finite log probabilities: classes whose rows were all in one fold get half a row."""
    if np.isfinite(log_probability).all():
        return log_probability
    least = 0.5 / max(weight, 1.0)
    return np.asarray(np.logaddexp(log_probability, np.log(least)) - np.log1p(least * log_probability.shape[1]))


def scores_with_refitted_weights(
    bound_spec: BoundSpec, views: StackedViews | StackedTokenViews, seen: TrainingRows, scores: Floats, folds: Array
) -> Floats:
    """Score each row by weights that were fitted without its fold."""
    out = np.empty(scores.shape[1:])
    for here in rows_by_fold(folds):
        rest = np.setdiff1d(np.arange(len(folds)), here, assume_unique=True)
        # For a single row, there are no other rows to fit weights on, and only one class.
        again = views.fit_weights(scores[:, rest], seen.take(rest, seen.multiplicity[rest])) if len(rest) else views
        out[here] = again.combine(scores[:, here])
    parts = seen.batch.classes, seen.case_weight, None, seen.multiplicity
    return cross_fitted(bound_spec.calibrate, log_softmax(out), *parts, folds)


def cross_chosen(
    bound_spec: BoundSpec, state: State, seen: TrainingRows, scores: Floats, folds: Array, kernels: Kernels
) -> Floats:
    """Return log probabilities of training rows from their ``scores``, with choices repeated without each fold.

    The scores are leave-one-out scores, or scores without the row's block; in this case, folds contain whole blocks.
    """
    classes, weight, amount = seen.batch.classes, seen.case_weight, bound_spec.family.amount(seen.batch.data)
    if bound_spec.alpha != "loo":
        return cross_fitted(bound_spec.calibrate, scores, classes, weight, amount, seen.multiplicity, folds)
    out, held = np.empty_like(scores), [folds == fold for fold in np.unique(folds)]
    others = [np.flatnonzero(~here) for here in held]
    # By folds instead of blocks, because many blocks would be scored for every α and column.
    alone = seen if seen.blocks is None else seen._replace(blocks=folds)
    for here, rest, alpha in zip(held, others, alphas(bound_spec, state, alone, others, kernels), strict=True):
        scores, amount = scores_left_out(bound_spec, state, seen, alpha, kernels)
        out[here] = _applied(bound_spec, scores, amount, seen, rest)[here]
    return out


def _applied(bound_spec: BoundSpec, scores: Floats, amount: Floats | None, seen: TrainingRows, rows: Array) -> Floats:
    """Return the scores of all rows, calibrated on some of them."""
    if bound_spec.calibrate is None:
        return scores
    part = scores[rows], seen.batch.classes[rows], seen.case_weight[rows]
    extra = None if amount is None else amount[rows], seen.multiplicity[rows]
    return calibrate(bound_spec.calibrate, *part, *extra).apply(scores, amount)


def left_out_posterior(model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """Return log p(class | x) of training rows, each left out of the counts; fitted parameters stay the same.

    Copies of a row that the sample detects are left out with it.
    """
    refuse_unseen_categories(batch, model.state.statistics)
    if model.state.sample is not None:
        distinct, places = _without_copies(model.state.sample, batch)
        return _left_out_posterior(model, distinct, kernels, prior)[places]
    return _left_out_posterior(model, batch, kernels, prior)


def _without_copies(sample: Sample, batch: Batch) -> tuple[Batch, Array | slice]:
    """Return the batch with copies as one row of their total weight, and the position of each original row in it."""
    if not sample.has_copies:
        return batch, slice(None)
    weight, place = sample.copied_weight(batch.classes, row_hashes(batch.data))
    rows = np.where(place < 0, np.arange(len(place)) + len(sample.classes), place)
    _, first, places = np.unique(rows, return_index=True, return_inverse=True)
    own = np.ones(len(place)) if batch.weight is None else batch.weight
    return batch._replace(weight=np.where(place < 0, own, weight)).take(first), places


def _left_out_posterior(model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    fitted = model.fitted
    if fitted is not None and fitted.refinement is not None:
        raise ParameterError(
            "leave-one-out has no closed form for refine=True, which fits a regression on all training texts; use "
            "cross_val_log_proba, which refits it for each fold, or loo_"
        )
    if (
        fitted is not None
        and isinstance(fitted.views, StackedViews)
        and fitted.changed
        and model.state.sample is not None
    ):
        # Rows that were learned after the views were fitted are not in them and cannot be left out.
        model = model.refitted(model.bound_spec)
    views = _views(model)
    if views is None:
        return model.calibrated(leave_one_out(model, batch, kernels, prior), batch.data)
    share = _share_in_sample(model.state, batch)
    parts = []
    for begin, end, data in chunks(batch.data):
        weight = None if batch.weight is None else batch.weight[begin:end]
        part = Batch(data, batch.classes[begin:end], weight, batch.n_classes)
        parts.append(views.combine(views.left_out_view_scores(model.likelihood, part, share[begin:end], kernels)))
    return model.calibrated(log_softmax(np.concatenate(parts)), batch.data)


def folds_left_out(model: Classifier, batch: Batch, folds: Array, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """Return log p(class | x) of learned rows, each fold by a model without it.

    Fitted parameters stay the same, except stacked views, which contain the fold and are refitted. Many folds are then
    grouped, so that several are left out together.
    """
    if _views(model) is None:
        return model.calibrated(cross_val_log_proba(model, batch, folds, kernels, prior), batch.data)
    refuse_unseen_categories(batch, model.state.statistics)
    if len(np.unique(folds)) > _MAX_STACKED_FOLDS:
        folds = group_folds(batch.classes, folds)
    out = np.empty((len(folds), len(model.classes)))
    for rows in rows_by_fold(folds):
        part = batch.take(rows)
        out[rows] = _without(model, part, kernels).posterior(part.data, kernels, logarithm=True)
    return out


def _without(model: Classifier, batch: Batch, kernels: Kernels) -> Classifier:
    """Return the model without these rows, with the same classes, even those without rows."""
    bound_spec, state = model.bound_spec, model.state
    seen_rows(bound_spec, state, "cross_val_log_proba of stacked views")
    assert state.sample is not None
    gone = Sample.of(batch.data, batch.classes, batch.weight, batch.n_classes, state.sample.budget)
    rest = state.statistics.forget(bound_spec.family.observe(batch, kernels))
    return type(model)(
        bound_spec, replace(state, statistics=rest, sample=state.sample.forget(state.sample.in_same_groups(gone)))
    )


def _share_in_sample(state: State, batch: Batch) -> Floats:
    """Return the weight that rows have in what was fitted on the sample; 0 for rows outside it."""
    weight = np.ones(len(batch.classes)) if batch.weight is None else batch.weight
    sample = state.sample
    if sample is None:
        return np.zeros(len(weight))
    represented = sample.represented()
    scale = np.divide(state.rows, represented, out=np.zeros_like(state.rows), where=represented > 0)
    inside = row_hashes(batch.data) < sample.threshold[batch.classes]
    return np.where(inside, weight * scale[batch.classes], 0.0)


def report(result: OutOfFoldScores, labels: Array) -> Evaluation:
    """Return the metrics of out-of-fold scores, of optimistic scores, and of plain naive Bayes."""
    seen = result.seen
    groups = None if seen.blocks is None else seen.blocks.astype(np.uint64) + np.uint64(1)
    of = seen.batch.classes, seen.case_weight, labels, seen.multiplicity, groups
    return replace(
        Evaluation.of(result.log_probability, *of),
        optimistic=Evaluation.of(result.optimistic, *of),
        plain=None if result.plain is None else Evaluation.of(result.plain, *of),
    )
