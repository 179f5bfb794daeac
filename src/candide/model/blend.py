"""What is chosen or fitted by looking at rows again: pseudo-counts by leave-one-out, and the calibration.

Always from the sample of training rows that the state keeps, each scored with itself left out; so a model made in
memory, after a merge or on a cluster comes out the same. It is fitted when first needed, and again once the weight of
the rows has grown by a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..exceptions import ParameterError
from ..families import Batch
from ..kernels import Kernels
from ..kernels.data import Array, Floats
from .calibration import Calibration, calibrate, cross_fitted
from .evaluation import Report
from .folds import deal
from .leave_one_out import left_out_scores
from .plan import Plan
from .smoothing import Seen, by_leave_one_out
from .state import State

if TYPE_CHECKING:
    from .classifier import Classifier

# Growth of the weight after which it is fitted again.
_GROWN = 0.1


@dataclass(frozen=True)
class Blend:
    """The pseudo-count that was chosen, the calibration that was fitted, and on how much."""

    weight: float
    n_classes: int
    alpha: float | Floats | None = None
    calibration: Calibration | None = None

    def age(self, state: State) -> float:
        """How much the weight of the rows has changed since, as a share of what it was."""
        now = float(state.rows.sum())
        return abs(now - self.weight) / self.weight if self.weight > 0 else float(now > 0)

    def suits(self, state: State) -> bool:
        """Whether it can still be used: the classes are as many, and little was learned since."""
        return self.n_classes == len(state.classes) and (state.sample is None or self.age(state) <= _GROWN)


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
    return Blend(float(state.rows.sum()), len(state.classes), alpha, calibration)


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
    return Classifier(replace(plan, family=family, alpha=how, calibrate=None, target=None), state)
