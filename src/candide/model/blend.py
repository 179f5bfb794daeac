"""What is chosen or fitted by looking at rows again: pseudo-counts by leave-one-out, and the calibration.

Always from the sample of training rows that the state keeps, each scored with itself left out; so a model made in
memory, after a merge or on a cluster comes out the same. It is fitted when first needed, and again once a tenth of the
weight was learned or forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..encoding.index import Index
from ..exceptions import InputError, ParameterError
from ..families import Batch
from ..families.left_out import refuse_strangers
from ..families.table_likelihood import TableLikelihood
from ..kernels import Kernels
from ..kernels.data import Array, Floats, chunks
from ..statistics import Sample
from ..statistics.hashing import row_hashes
from .calibration import Calibration, calibrate, cross_fitted, normalised
from .calibration.scaling import Scaling
from .evaluation import Report
from .folds import deal
from .leave_one_out import PriorWhileOut, blocked_folds, leave_one_out, left_out_scores, rows_by_fold
from .plan import Plan
from .smoothing import Seen, by_leave_one_out
from .state import State
from .views.blended import Blended, few_rows, fit_blended, left_out_views, weigh
from .views.make import make_views

if TYPE_CHECKING:
    from .classifier import Classifier

# Rows up to which families and views are chosen again for every fold.
_MOST_CHOSEN_AGAIN = 5_000
# Share of the weight that may be learned or forgotten before it is fitted again.
_CHANGED = 0.1


@dataclass(frozen=True)
class Blend:
    """The pseudo-count that was chosen, the calibration that was fitted; for which plan, and on how much."""

    plan: Plan
    classes: Index
    weight: float
    alpha: float | Floats | None = None
    calibration: Calibration | None = None
    views: Blended | None = None
    changed: float = 0.0  # weight of the rows learned and forgotten since

    @property
    def age(self) -> float:
        """How much was learned and forgotten since, as a share of what it saw."""
        return self.changed / self.weight if self.weight > 0 else float(self.changed > 0)

    def suits(self, plan: Plan, state: State) -> bool:
        """Whether it can still be used: made for such a plan and these classes, and little was learned since."""
        fresh = state.sample is None or self.age <= _CHANGED
        return fresh and self.classes == state.classes and self.plan.chooses_like(plan)

    def later(self, weight: float) -> Blend:
        """After rows of this weight were learned or forgotten."""
        return replace(self, changed=self.changed + weight)

    def discounted(self, factor: float) -> Blend:
        """After all weights were multiplied."""
        return replace(self, weight=self.weight * factor, changed=self.changed * factor)

    def among(self, classes: Index) -> Blend:
        """For other classes, where there are no rows to fit it again: a new class has no bias."""
        if classes == self.classes:
            return self
        if self.views is not None:
            raise InputError(
                f"the blend has weights for {self.classes.labels.tolist()}, and this model keeps no training rows to "
                f"fit others for {classes.labels.tolist()}; construct it with keep_sample=True, or with blend=None"
            )
        calibration, places = self.calibration, self.classes.positions_in(classes)
        if isinstance(calibration, Scaling) and calibration.bias is not None:
            bias = np.zeros(len(classes))
            bias[places[places >= 0]] = calibration.bias[places >= 0]
            calibration = replace(calibration, bias=bias)
        elif not (calibration is None or isinstance(calibration, Scaling)):
            raise InputError(
                f"calibrate={self.plan.calibrate!r} has a curve for each of {self.classes.labels.tolist()}, and this "
                f"model keeps no training rows to fit others for {classes.labels.tolist()}; construct it with "
                "keep_sample=True, or with calibrate='platt'"
            )
        return replace(self, classes=classes, calibration=calibration)


def fit_blend(model: Classifier, kernels: Kernels) -> Blend:
    """Choose and fit whatever the plan asks for."""
    plan, state = model.plan, model.state
    seen, alpha = seen_rows(plan, state, _what(plan)), None
    if plan.alpha == "loo":
        alpha = _alphas(plan, state, seen, [np.arange(len(seen.case_weight))], kernels)[0]
    calibration, views = None, None
    if plan.order is not None:
        seen, views, scores = _blended(model, seen, kernels)
    elif plan.calibrate is not None:
        scores, _ = _scores(plan, state, seen, alpha, kernels)
    if plan.calibrate is not None:
        amount = plan.family.amount(seen.batch.data)
        calibration = calibrate(plan.calibrate, scores, seen.batch.classes, seen.case_weight, amount, seen.multiplicity)
    return Blend(plan, state.classes, float(state.rows.sum()), alpha, calibration, views)


def _what(plan: Plan) -> str:
    """What looks at rows again."""
    if plan.order is not None:
        return "blend='auto'"
    return "alpha='loo'" if plan.calibrate is None else f"calibrate={plan.calibrate!r}"


def _blended(model: Classifier, seen: Seen, kernels: Kernels) -> tuple[Seen, Blended, Floats]:
    """The rows that weights were fitted on, the views with their weights, and the rows' log posteriors left out."""
    views, scores, rows = fit_blended(model.likelihood, seen, model.plan.order or 0, kernels)
    if len(rows) < len(seen.case_weight):
        seen = seen.take(rows, seen.multiplicity[rows])
    return seen, views, normalised(views.left_out(scores))


def seen_rows(plan: Plan, state: State, what: str) -> Seen:
    """The training rows that were kept, for ``what`` needs them."""
    sample = state.sample
    if sample is None:
        raise ParameterError(
            f"{what} needs training rows to look at, and this model keeps none; construct it with keep_sample=True "
            "(merged models: all of them) and fit again"
        )
    data = plan.family.restored(sample.data, state.statistics)
    batch = Batch(data, sample.classes, sample.weight, len(state.classes))
    return Seen(batch, sample.case_weight(state.rows), sample.multiplicity)


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
        scores, _ = _scores(plan, state, seen, None, kernels)
        return Honest(seen, scores, scores)
    row, folds, copies = deal(seen.batch.classes, seen.multiplicity)
    seen = seen.take(row, copies)
    scores, amount = _scores(plan, state, seen, blend.alpha, kernels)
    optimistic = scores if blend.calibration is None else blend.calibration.apply(scores, amount)
    return Honest(seen, cross_chosen(plan, state, seen, scores, folds, kernels), optimistic)


def _honest_views(model: Classifier, views: Blended, seen: Seen, kernels: Kernels) -> Honest:
    """Families chosen, views made and weights fitted again without each row's fold.

    Of more rows than ``_MOST_CHOSEN_AGAIN`` the weights alone: there, the choices hardly depend on a fold.
    """
    few = few_rows(len(seen.case_weight), views.n_views * len(model.classes))
    whole = seen if len(few) == len(seen.case_weight) <= _MOST_CHOSEN_AGAIN else None
    # Chosen before they are dealt out: rows evenly spaced may all be of one fold.
    seen = seen.take(few, seen.multiplicity[few])
    row, folds, copies = deal(seen.batch.classes, seen.multiplicity)
    seen = seen.take(row, copies)
    share = seen.case_weight / seen.multiplicity
    scores = left_out_views(views, model.likelihood, seen.batch, share, kernels)
    out, optimistic = np.empty(scores.shape[1:]), normalised(views.left_out(scores))
    for fold in np.unique(folds):
        here, again = folds == fold, views
        if whole is not None:
            fold_rows = np.flatnonzero(here)
            gone = seen.take(fold_rows, seen.multiplicity[fold_rows])
            again, likelihood = _chosen_without(model, whole, gone, kernels)
            scores = left_out_views(again, likelihood, seen.batch, share, kernels)
        rest = np.flatnonzero(~here)
        again = replace(again, mixture=weigh(again, scores[:, rest], seen.take(rest, seen.multiplicity[rest])))
        out[here] = again.left_out(scores[:, here])
    parts = seen.batch.classes, seen.case_weight, None, seen.multiplicity
    result = cross_fitted(model.plan.calibrate, normalised(out), *parts, folds)
    if model.blend is not None and model.blend.calibration is not None:
        optimistic = model.blend.calibration.apply(optimistic, None)
    return Honest(seen, result, optimistic)


def _chosen_without(model: Classifier, seen: Seen, gone: Seen, kernels: Kernels) -> tuple[Blended, TableLikelihood]:
    """Views of all rows, by choices that some of them had no part in."""
    statistics, batch = model.state.statistics, gone.batch
    weight = gone.multiplicity * (1.0 if batch.weight is None else batch.weight)
    rest = statistics.without(model.plan.family.observe(batch._replace(weight=weight), kernels))
    likelihood: Any = model.plan.family.settle(rest).likelihood(statistics)
    return make_views(likelihood, seen, model.plan.order or 0, kernels), likelihood


def cross_chosen(plan: Plan, state: State, seen: Seen, scores: Floats, folds: Array, kernels: Kernels) -> Floats:
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
    for here, rest, alpha in zip(held, others, _alphas(plan, state, alone, others, kernels), strict=True):
        scores, amount = _scores(plan, state, seen, alpha, kernels)
        out[here] = _applied(plan, scores, amount, seen, rest)[here]
    return out


def left_out_posterior(model: Classifier, batch: Batch, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """log p(class | x) of rows that the model has learned, each with itself left out; what was fitted stays."""
    views = None if model.blend is None else model.blend.views
    if views is None:
        return model.calibrated(leave_one_out(model, batch, kernels, prior), batch.data)
    refuse_strangers(batch, model.state.statistics)
    share = _share_in_sample(model.state, batch)
    parts = []
    for begin, end, data in chunks(batch.data):
        weight = None if batch.weight is None else batch.weight[begin:end]
        part = Batch(data, batch.classes[begin:end], weight, batch.n_classes)
        parts.append(views.left_out(left_out_views(views, model.likelihood, part, share[begin:end], kernels)))
    return model.calibrated(normalised(np.concatenate(parts)), batch.data)


def folds_left_out(model: Classifier, batch: Batch, folds: Array, kernels: Kernels, prior: PriorWhileOut) -> Floats:
    """log p(class | x) of rows that the model has learned, each fold by a model without it.

    What was fitted stays, but for a blend, whose views have seen the fold: that is made again.
    """
    if model.blend is None or model.blend.views is None:
        return model.calibrated(blocked_folds(model, batch, folds, kernels, prior), batch.data)
    refuse_strangers(batch, model.state.statistics)
    out = np.empty((len(folds), len(model.classes)))
    for rows in rows_by_fold(folds):
        part = batch.take(rows)
        out[rows] = _without(model, part, kernels).posterior(part.data, kernels, logarithm=True)
    return out


def _without(model: Classifier, batch: Batch, kernels: Kernels) -> Classifier:
    """The model that has not seen these rows; classes stay, though they may have lost all theirs."""
    from .classifier import Classifier

    plan, state = model.plan, model.state
    seen_rows(plan, state, "blocked_folds of a blend")
    assert state.sample is not None
    gone = Sample.of(batch.data, batch.classes, batch.weight, batch.n_classes, plan.sample_bytes)
    rest = state.statistics.forget(plan.family.observe(batch, kernels))
    return Classifier(plan, replace(state, statistics=rest, sample=state.sample.forget(gone)))


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
    of = seen.batch.classes, seen.case_weight, labels, seen.multiplicity
    return replace(Report.of(result.log_probability, *of), optimistic=Report.of(result.optimistic, *of))


def _applied(plan: Plan, scores: Floats, amount: Floats | None, seen: Seen, rows: Array) -> Floats:
    """All rows, calibrated by some of them."""
    if plan.calibrate is None:
        return scores
    part = scores[rows], seen.batch.classes[rows], seen.case_weight[rows]
    extra = None if amount is None else amount[rows], seen.multiplicity[rows]
    return calibrate(plan.calibrate, *part, *extra).apply(scores, amount)


def _alphas(plan: Plan, state: State, seen: Seen, subsets: list[Array], kernels: Kernels) -> list[float | Floats]:
    offset = _bare(plan, state, None).offset_for(state.rows)
    return by_leave_one_out(plan.family, state.statistics, seen, offset, subsets, kernels)


def _scores(
    plan: Plan,
    state: State,
    seen: Seen,
    alpha: float | Floats | None,
    kernels: Kernels,
) -> tuple[Floats, Floats | None]:
    """Log posteriors with the row or its block left out, not calibrated, and how much evidence the rows hold."""
    scores = left_out_scores(_bare(plan, state, alpha), seen.batch, seen.blocks, kernels)
    return scores, plan.family.amount(seen.batch.data)


def _bare(plan: Plan, state: State, alpha: float | Floats | None) -> Classifier:
    from .classifier import Classifier

    family = plan.family if alpha is None else plan.family.with_alpha(alpha)
    how = None if alpha is not None or plan.alpha == "loo" else plan.alpha
    prior = plan.prior.as_in_training if plan.corrects else plan.prior
    bare = replace(plan, family=family, prior=prior, alpha=how, calibrate=None, order=None, target=None)
    return Classifier(bare, state)
