"""Training rows scored by models that have not seen them, with all that was chosen and fitted: the honest figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..families import Batch
from ..families.left_out import refuse_strangers
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, chunks
from ..specs import BoundSpec
from ..stacking.calibration import calibrate, cross_fitted, normalised
from ..stacking.folds import N_FOLDS, deal_blocks, folds_of, rows_by_fold
from ..stacking.refinement import fold_scores, refined_without
from ..stacking.stacked_views import Blended
from ..stacking.token_views import TextBlended
from ..stacking.training_rows import Seen
from ..statistics import Sample
from ..statistics.hashing import group_hashes, row_hashes
from .blend import alphas, scores_left_out, seen_rows
from .evaluation import Report
from .leave_one_out import PriorWhileOut, blocked_folds, leave_one_out
from .state import State

if TYPE_CHECKING:
    from .classifier import Classifier

# Rows up to which a table's model is made again, whole, without each fold.
_MOST_MADE_AGAIN = 5_000
# Folds up to which a blend is made again for each.
_MOST_BLENDS = 10


class Honest(NamedTuple):
    """Log probabilities of training rows by models that never saw them, and by choices that never saw them."""

    seen: Seen
    log_probability: Floats
    optimistic: Floats  # the same with the choices made on all rows


def honest(model: Classifier, kernels: Kernels) -> Honest:
    """Every row scored with itself left out, and with all choices made again without its fold."""
    plan, state = model.plan, model.state
    seen = seen_rows(plan, state, "scoring rows left out (loo_, predict_set)")
    blend = model.blend
    if blend is not None and blend.views is not None:
        return _honest_views(model, blend.views, seen, kernels)
    if blend is None:
        scores, _ = scores_left_out(plan, state, seen, None, kernels)
        return Honest(seen, scores, scores)
    row, folds, copies = seen.dealt()
    seen = seen.take(row, copies)
    scores, amount = scores_left_out(plan, state, seen, blend.alpha, kernels)
    optimistic = scores if blend.calibration is None else blend.calibration.apply(scores, amount)
    return Honest(seen, cross_chosen(plan, state, seen, scores, folds, kernels), optimistic)


def _honest_views(model: Classifier, views: Blended | TextBlended, seen: Seen, kernels: Kernels) -> Honest:
    if isinstance(views, TextBlended) and model.plan.refine:
        return _honest_refined(model, views, seen, kernels)
    row, folds, copies = seen.dealt()
    if isinstance(views, Blended) and _is_small(model.state, seen):
        seen = seen.take(row, copies)
        return Honest(
            seen, _made_again(model, seen, folds, kernels), _optimistic(model, _left_out(model, seen, kernels))
        )
    few = views.few(seen)
    # Chosen before they are dealt out: rows evenly spaced may all be of one fold.
    seen = seen.take(few, seen.multiplicity[few])
    row, folds, copies = seen.dealt()
    scores, seen = _left_out(model, seen, kernels)[:, row], seen.take(row, copies)
    return Honest(seen, weighed_again(model.plan, views, seen, scores, folds), _optimistic(model, scores))


def _honest_refined(model: Classifier, views: TextBlended, seen: Seen, kernels: Kernels) -> Honest:
    """By models that have not seen a text; of many texts by refinements that have not, with the blend as it is.

    Copies, which are one row, leave together: a refinement would know a text by heart.
    """
    assert model.blend is not None
    assert model.blend.refinement is not None
    folds = folds_of(seen.batch.classes, seen.blocks, N_FOLDS)
    begun = fold_scores(model.likelihood, views, seen, kernels)
    optimistic = normalised(begun + model.blend.refinement.scores(seen.batch.data, kernels))
    if _is_small(model.state, seen) and folds.any() and not model.blend.lasting:
        return Honest(seen, _made_again(model, seen, folds, kernels), optimistic)
    return Honest(seen, normalised(refined_without(model.likelihood, seen, begun, folds, kernels)), optimistic)


def _is_small(state: State, seen: Seen) -> bool:
    """Whether all rows are there, and few enough that models are made again without each fold.

    Of more rows the weights alone are fitted again: there, the other choices hardly depend on a fold.
    """
    assert state.sample is not None
    everything = np.allclose(state.sample.represented(), state.rows, rtol=1e-9, atol=0.0)
    return everything and int(seen.multiplicity.sum()) <= _MOST_MADE_AGAIN


def _left_out(model: Classifier, seen: Seen, kernels: Kernels) -> Floats:
    views = _views(model)
    assert views is not None
    return views.judged(model.likelihood, seen, kernels)


def _views(model: Classifier) -> Blended | TextBlended | None:
    return None if model.blend is None else model.blend.views


def _optimistic(model: Classifier, scores: Floats) -> Floats:
    """Rows left out of all sums, by choices and weights that they had a part in."""
    assert model.blend is not None
    assert model.blend.views is not None
    calibration, out = model.blend.calibration, normalised(model.blend.views.left_out(scores))
    return out if calibration is None else calibration.apply(out, None)


def _made_again(model: Classifier, seen: Seen, folds: Array, kernels: Kernels) -> Floats:
    """By models that have not seen a row's fold: families, views, weights and all."""
    bare = type(model)(replace(model.plan, target=None), model.state)
    out = np.empty((len(folds), len(model.classes)))
    for here in rows_by_fold(folds):
        if len(here) == len(folds):  # all rows are copies of one: a model of none says nothing
            out[here] = -np.log(len(model.classes))
            continue
        rows = seen.batch.take(here).data
        out[here] = _without_fold(bare, seen, here, kernels).posterior(rows, kernels, logarithm=True)
    return _possible(out, float(model.state.rows.sum()))


def _without_fold(model: Classifier, seen: Seen, here: Array, kernels: Kernels) -> Classifier:
    """The model of all rows but those of a fold; copies, which are one row, stay so."""
    rest = np.delete(np.arange(len(seen.case_weight)), here)
    here, rest = (np.repeat(rows, seen.multiplicity[rows]) for rows in (here, rest))
    gone, left = seen.batch.take(here), seen.batch.take(rest)
    plan, state = model.plan, model.state
    statistics = state.statistics_with_copies().forget(plan.family.observe(gone, kernels))
    groups = None if seen.blocks is None else group_hashes(seen.blocks[rest], len(rest))
    kept = left.data, left.classes, left.weight, left.n_classes
    sample = Sample.of(*kept, plan.sample_bytes, groups=groups)
    return type(model)(plan, replace(state, statistics=statistics, sample=sample))


def _possible(log_probability: Floats, weight: float) -> Floats:
    """With half a row for a class all of whose rows were in one fold: infinitely wrong would be an odd figure."""
    if np.isfinite(log_probability).all():
        return log_probability
    least = 0.5 / max(weight, 1.0)
    return np.asarray(np.logaddexp(log_probability, np.log(least)) - np.log1p(least * log_probability.shape[1]))


def weighed_again(plan: BoundSpec, views: Blended | TextBlended, seen: Seen, scores: Floats, folds: Array) -> Floats:
    """By weights that a row's fold had no part in."""
    out = np.empty(scores.shape[1:])
    for here in rows_by_fold(folds):
        rest = np.setdiff1d(np.arange(len(folds)), here, assume_unique=True)
        # A single row has no others to weigh by, and is of the only class.
        again = views.weighed(scores[:, rest], seen.take(rest, seen.multiplicity[rest])) if len(rest) else views
        out[here] = again.left_out(scores[:, here])
    parts = seen.batch.classes, seen.case_weight, None, seen.multiplicity
    return cross_fitted(plan.calibrate, normalised(out), *parts, folds)


def cross_chosen(plan: BoundSpec, state: State, seen: Seen, scores: Floats, folds: Array, kernels: Kernels) -> Floats:
    """Log probabilities of training rows from their ``scores``, with all choices made again without each row's fold.

    The scores are those of rows left out one by one, or with the whole block that they are in; then folds hold whole
    blocks.
    """
    classes, weight, amount = seen.batch.classes, seen.case_weight, plan.family.amount(seen.batch.data)
    if plan.alpha != "loo":
        return cross_fitted(plan.calibrate, scores, classes, weight, amount, seen.multiplicity, folds)
    out, held = np.empty_like(scores), [folds == fold for fold in np.unique(folds)]
    others = [np.flatnonzero(~here) for here in held]
    # Fold by fold, because blocks may be many: each would be scored again for every α and column.
    alone = seen if seen.blocks is None else seen._replace(blocks=folds)
    for here, rest, alpha in zip(held, others, alphas(plan, state, alone, others, kernels), strict=True):
        scores, amount = scores_left_out(plan, state, seen, alpha, kernels)
        out[here] = _applied(plan, scores, amount, seen, rest)[here]
    return out


def _applied(plan: BoundSpec, scores: Floats, amount: Floats | None, seen: Seen, rows: Array) -> Floats:
    """All rows, calibrated by some of them."""
    if plan.calibrate is None:
        return scores
    part = scores[rows], seen.batch.classes[rows], seen.case_weight[rows]
    extra = None if amount is None else amount[rows], seen.multiplicity[rows]
    return calibrate(plan.calibrate, *part, *extra).apply(scores, amount)


def left_out_posterior(model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """log p(class | x) of rows that the model has learned, each with itself left out; what was fitted stays.

    Copies of a row leave with it, as far as the rows kept tell them from coincidences.
    """
    refuse_strangers(batch, model.state.statistics)
    if model.state.sample is not None:
        distinct, places = _without_copies(model.state.sample, batch)
        return _left_out_posterior(model, distinct, kernels, prior)[places]
    return _left_out_posterior(model, batch, kernels, prior)


def _without_copies(sample: Sample, batch: Batch) -> tuple[Batch, Array | slice]:
    """Rows with copies as one row that weighs as much as all of them, and where each row of the batch is among them."""
    if not sample.has_copies:
        return batch, slice(None)
    weight, place = sample.copied_weight(batch.classes, row_hashes(batch.data))
    rows = np.where(place < 0, np.arange(len(place)) + len(sample.classes), place)
    _, first, places = np.unique(rows, return_index=True, return_inverse=True)
    own = np.ones(len(place)) if batch.weight is None else batch.weight
    return batch._replace(weight=np.where(place < 0, own, weight)).take(first), places


def _left_out_posterior(model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    blend = model.blend
    if blend is not None and blend.refinement is not None:
        raise ParameterError(
            "refine=True fits a regression on all training texts at once, and leaving one out has no closed form; "
            "use blocked_folds, which fits it again for each fold, or loo_"
        )
    if blend is not None and isinstance(blend.views, Blended) and blend.changed and model.state.sample is not None:
        # Views without the rows learned since cannot leave them out.
        model = model.refitted(model.plan)
    views = _views(model)
    if views is None:
        return model.calibrated(leave_one_out(model, batch, kernels, prior), batch.data)
    share = _share_in_sample(model.state, batch)
    parts = []
    for begin, end, data in chunks(batch.data):
        weight = None if batch.weight is None else batch.weight[begin:end]
        part = Batch(data, batch.classes[begin:end], weight, batch.n_classes)
        parts.append(views.left_out(views.left_out_views(model.likelihood, part, share[begin:end], kernels)))
    return model.calibrated(normalised(np.concatenate(parts)), batch.data)


def folds_left_out(model: Classifier, batch: Batch, folds: Array, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """log p(class | x) of rows that the model has learned, each fold by a model without it.

    What was fitted stays, but for a blend, whose views have seen the fold: that is made again, and for many folds,
    which then leave several together.
    """
    if _views(model) is None:
        return model.calibrated(blocked_folds(model, batch, folds, kernels, prior), batch.data)
    refuse_strangers(batch, model.state.statistics)
    if len(np.unique(folds)) > _MOST_BLENDS:
        folds = deal_blocks(batch.classes, folds)
    out = np.empty((len(folds), len(model.classes)))
    for rows in rows_by_fold(folds):
        part = batch.take(rows)
        out[rows] = _without(model, part, kernels).posterior(part.data, kernels, logarithm=True)
    return out


def _without(model: Classifier, batch: Batch, kernels: Kernels) -> Classifier:
    """The model that has not seen these rows; classes stay, though they may have lost all theirs."""
    plan, state = model.plan, model.state
    seen_rows(plan, state, "blocked_folds of a blend")
    assert state.sample is not None
    gone = Sample.of(batch.data, batch.classes, batch.weight, batch.n_classes, plan.sample_bytes)
    rest = state.statistics.forget(plan.family.observe(batch, kernels))
    return type(model)(
        plan, replace(state, statistics=rest, sample=state.sample.forget(state.sample.in_same_groups(gone)))
    )


def _share_in_sample(state: State, batch: Batch) -> Floats:
    """The weight that rows have in what was made from the sample; 0 for those that are not in it."""
    weight = np.ones(len(batch.classes)) if batch.weight is None else batch.weight
    sample = state.sample
    if sample is None:
        return np.zeros(len(weight))
    represented = sample.represented()
    scale = np.divide(state.rows, represented, out=np.zeros_like(state.rows), where=represented > 0)
    inside = row_hashes(batch.data) < sample.threshold[batch.classes]
    return np.where(inside, weight * scale[batch.classes], 0.0)


def report(result: Honest, labels: Array) -> Report:
    """How good the model honestly is, with the optimistic figure beside it."""
    seen = result.seen
    groups = None if seen.blocks is None else seen.blocks.astype(np.uint64) + np.uint64(1)
    of = seen.batch.classes, seen.case_weight, labels, seen.multiplicity, groups
    return replace(Report.of(result.log_probability, *of), optimistic=Report.of(result.optimistic, *of))
