"""What is chosen or fitted by looking at rows again: pseudo-counts by leave-one-out, and the calibration.

Always from the sample of training rows that the state keeps, each scored with itself left out; so a model made in
memory, after a merge or on a cluster comes out the same. It is fitted when first needed, and again once a tenth of the
weight was learned or forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..encoding.index import Index
from ..exceptions import InputError, ParameterError
from ..families import Batch
from ..kernels import Kernels
from ..kernels.data import Array, Floats
from .calibration import Calibration, calibrate, cross_fitted
from .calibration.scaling import Scaling
from .evaluation import Report
from .folds import deal
from .leave_one_out import left_out_scores
from .plan import Plan
from .smoothing import Seen, by_leave_one_out
from .state import State

if TYPE_CHECKING:
    from .classifier import Classifier

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


def fit_blend(plan: Plan, state: State, kernels: Kernels) -> Blend:
    """Choose and fit whatever the plan asks for."""
    what = "alpha='loo'" if plan.calibrate is None else f"calibrate={plan.calibrate!r}"
    seen, alpha = seen_rows(state, what), None
    if plan.alpha == "loo":
        alpha = _alphas(plan, state, seen, [np.arange(len(seen.case_weight))], kernels)[0]
    calibration = None
    if plan.calibrate is not None:
        scores, amount = _scores(plan, state, seen, alpha, kernels)
        calibration = calibrate(plan.calibrate, scores, seen.batch.classes, seen.case_weight, amount, seen.multiplicity)
    return Blend(plan, state.classes, float(state.rows.sum()), alpha, calibration)


def seen_rows(state: State, what: str) -> Seen:
    """The training rows that were kept, for ``what`` needs them."""
    sample = state.sample
    if sample is None:
        raise ParameterError(
            f"{what} needs training rows to look at, and this model keeps none; construct it with keep_sample=True "
            "(merged models: all of them) and fit again"
        )
    batch = Batch(sample.data, sample.classes, sample.weight, len(state.classes))
    return Seen(batch, sample.case_weight(state.rows), sample.multiplicity)


class Honest(NamedTuple):
    """Log probabilities of training rows by models that never saw them, and by choices that never saw them."""

    seen: Seen
    log_probability: Floats
    optimistic: Floats  # the same with the choices made on all rows


def honest(model: Classifier, kernels: Kernels) -> Honest:
    """Every row scored with itself left out, and with all choices made again without its fold."""
    plan, state = model.plan, model.state
    seen = seen_rows(state, "scoring rows left out (loo_, predict_set)")
    blend = model.blend
    if blend is None:
        scores, _ = _scores(plan, state, seen, None, kernels)
        return Honest(seen, scores, scores)
    row, folds, copies = deal(seen.batch.classes, seen.multiplicity)
    seen = seen.take(row, copies)
    scores, amount = _scores(plan, state, seen, blend.alpha, kernels)
    optimistic = scores if blend.calibration is None else blend.calibration.apply(scores, amount)
    return Honest(seen, cross_chosen(plan, state, seen, scores, folds, kernels), optimistic)


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
    prior = plan.prior if plan.calibrate is None else plan.prior.as_in_training
    return Classifier(replace(plan, family=family, prior=prior, alpha=how, calibrate=None, target=None), state)
