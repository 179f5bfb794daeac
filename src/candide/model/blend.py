"""What is chosen or fitted by looking at rows again: pseudo-counts by leave-one-out, and the calibration.

Always from the sample of training rows that the state keeps, each scored with itself left out; so a model made in
memory, after a merge or on a cluster comes out the same. It is fitted when rows are learned, and again once a tenth of
the weight was learned or forgotten. Until then the sums of its views follow the rows; cuts, weights and curves stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import Columns
from ..data.index import Index
from ..exceptions import InputError, ParameterError, warn
from ..families import Batch, Family
from ..families.base import is_table
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..lazy_dataclass import dataclass
from ..specs import BoundSpec
from ..stacking.calibration import Calibration, calibrate, log_softmax
from ..stacking.calibration.scaling import Scaling
from ..stacking.folds import N_FOLDS, group_folds, make_folds, rows_by_fold
from ..stacking.refinement import Refinement, fit_refinement, out_of_fold_scores
from ..stacking.token_views import StackedTokenViews, fit_stacked_token_views
from ..stacking.training_rows import TrainingRows
from .state import State

if TYPE_CHECKING:
    from ..families.table import HeldOut
    from ..stacking.stacked_views import StackedViews
    from ..statistics import Sample
    from ..statistics.table import TableStatistics
    from .classifier import Classifier

# Blocks of rows that leave one after the other.
_MOST_BLOCKS = 50
# Share of the weight that may be learned or forgotten before it is fitted again.
_CHANGED = 0.1


@dataclass(frozen=True)
class Blend:
    """The pseudo-count that was chosen, the calibration that was fitted; for which plan, and on how much."""

    plan: BoundSpec
    classes: Index
    weight: float
    alpha: float | Floats | None = None
    calibration: Calibration | None = None
    views: StackedViews | StackedTokenViews | None = None
    refinement: Refinement | None = None
    changed: float = 0.0  # weight of the rows learned and forgotten since
    # The rows kept cannot tell it again, but for a refinement: the sums hold what was made of their labels.
    lasting: bool = False

    @property
    def age(self) -> float:
        """How much was learned and forgotten since, as a share of what it saw."""
        return self.changed / self.weight if self.weight > 0 else float(self.changed > 0)

    def suits(self, plan: BoundSpec, state: State) -> bool:
        """Whether it can still be used: made for such a plan and these classes, and little was learned since."""
        lasts = self.lasting and self.refinement is None
        return (lasts or state.sample is None or self.age <= _CHANGED) and self.fits(plan, state)

    def lasts_for(self, plan: BoundSpec, state: State) -> bool:
        """Whether its weights stay, though its refinement may be due."""
        return self.lasting and self.fits(plan, state)

    def fits(self, plan: BoundSpec, state: State) -> bool:
        """Whether it was made for such a plan and these classes."""
        return self.classes == state.classes and self.plan.chooses_like(plan)

    def later(self, weight: float) -> Blend:
        """After rows of this weight were learned or forgotten."""
        return replace(self, changed=self.changed + weight)

    def discounted(self, factor: float) -> Blend:
        """After all weights were multiplied."""
        views = self.views
        if not (views is None or isinstance(views, StackedTokenViews)):
            views = views.discounted(factor)
        return replace(self, weight=self.weight * factor, changed=self.changed * factor, views=views)

    def among(self, classes: Index) -> Blend:
        """For other classes, where there are no rows to fit it again: a new class has no bias."""
        if classes == self.classes:
            return self
        if self.views is not None:
            other = "" if isinstance(self.views, StackedTokenViews) else ", or with stacking=None"
            raise InputError(
                f"the blend has weights for {self.classes.labels.tolist()}, and this model keeps no training rows to "
                f"fit others for {classes.labels.tolist()}; construct it with keep_sample=True{other}"
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
    if not len(seen.case_weight) and state.rows.any():
        warn(
            f"{_what(plan)} looks at training rows again, and every one is larger than the room for those that are "
            f"kept ({plan.sample_bytes:,} bytes for each class); nothing was chosen or weighed, and there is no loo_; "
            "pass shorter rows, such as parts of a text"
        )
    if plan.alpha == "loo":
        alpha = alphas(plan, state, seen, [np.arange(len(seen.case_weight))], kernels)[0]
    calibration, views, refinement = None, None, None
    if plan.order is not None:
        everything = seen
        seen, views, scores = _blended(model, seen, kernels)
        if plan.refine and isinstance(views, StackedTokenViews):
            refinement = _refined(model, views, everything, kernels)
    elif plan.calibrate is not None:
        scores, _ = scores_left_out(plan, state, seen, alpha, kernels)
    if plan.calibrate is not None:
        amount = plan.family.amount(seen.batch.data)
        calibration = calibrate(plan.calibrate, scores, seen.batch.classes, seen.case_weight, amount, seen.multiplicity)
    return Blend(plan, state.classes, float(state.rows.sum()), alpha, calibration, views, refinement)


def with_refinement(model: Classifier, blend: Blend, kernels: Kernels) -> Blend:
    """The weights as they are, which last, and a refinement fitted again on the training texts kept."""
    assert isinstance(blend.views, StackedTokenViews)
    seen, weight = seen_rows(model.plan, model.state, "refine=True"), float(model.state.rows.sum())
    return replace(blend, refinement=_refined(model, blend.views, seen, kernels), weight=weight, changed=0.0)


def _refined(model: Classifier, views: StackedTokenViews, seen: TrainingRows, kernels: Kernels) -> Refinement:
    begun = out_of_fold_scores(model.likelihood, views, seen, kernels)
    return fit_refinement(model.likelihood, seen, begun, kernels)


def _what(plan: BoundSpec) -> str:
    """What looks at rows again."""
    if plan.order is not None:
        return "stacking='auto'"
    return "alpha='loo'" if plan.calibrate is None else f"calibrate={plan.calibrate!r}"


def _blended(
    model: Classifier, seen: TrainingRows, kernels: Kernels
) -> tuple[TrainingRows, StackedViews | StackedTokenViews, Floats]:
    """The rows that weights were fitted on, the views with their weights, and the rows' log posteriors left out."""
    views: StackedViews | StackedTokenViews
    if isinstance(model.likelihood, TextLikelihood):
        views, scores, rows = fit_stacked_token_views(model.likelihood, seen, kernels)
    else:
        from ..stacking.stacked_views import fit_stacked_views

        blended, scores, rows = fit_stacked_views(model.likelihood, seen, model.plan.order or 0, kernels)
        views = _with_bounds(blended, model.state)
    if len(rows) < len(seen.case_weight):
        seen = seen.take(rows, seen.multiplicity[rows])
    return seen, views, log_softmax(views.combine(scores))


def _with_bounds(views: StackedViews, state: State) -> StackedViews:
    """With what tells which rows are in the views, and with which weight, so that these can change later."""
    assert state.sample is not None
    represented = state.sample.represented()
    scale = np.divide(state.rows, represented, out=np.ones_like(represented), where=represented > 0)
    return replace(views, hash_bound=state.sample.threshold, scale=scale)


def seen_rows(plan: BoundSpec, state: State, what: str) -> TrainingRows:
    """The training rows that were kept, for ``what`` needs them; copies are one row of their weight."""
    sample = state.sample
    if sample is None:
        raise ParameterError(
            f"{what} needs training rows to look at, and this model keeps none; construct it with keep_sample=True "
            "(merged models: all of them) and fit again"
        )
    data = plan.family.restored(sample.data, state.statistics)
    places, weight, multiplicity = sample.observations
    if len(places) < data.n_rows:
        data = data.take(places)
    batch = Batch(data, sample.classes[places], weight, len(state.classes))
    seen = TrainingRows(batch, sample.observed_weight(state.rows), multiplicity, _blocks(sample, batch))
    order = _order(plan.family, batch)
    return seen if order is None else seen.take(order, multiplicity[order])


def _order(family: Family, batch: Batch) -> Array | None:
    """The order that rows would have in a sample without the columns that are not given; None if all are given.

    What is fitted on some of the rows takes them evenly spaced, so it depends on the order, which is that of hashes.
    """
    out = family.not_given if is_table(family) else frozenset()
    if not out:
        return None
    from ..statistics.hashing import row_hashes

    columns = tuple(column for j, column in enumerate(batch.data.columns) if j not in out)
    return np.lexsort((row_hashes(Columns(columns, batch.data.n_rows)), batch.classes))


def held_out(plan: BoundSpec, state: State, statistics: TableStatistics, kernels: Kernels) -> list[HeldOut]:
    """The rows kept in folds of whole groups, with the statistic of all other rows; empty where rows have no groups."""
    seen = seen_rows(plan, state, "a choice of families by groups")
    if seen.blocks is None:
        return []
    from ..families.table import HeldOut

    batch = seen.with_all_copies()
    folds = (batch.take(rows) for rows in rows_by_fold(make_folds(batch.classes, seen.blocks, N_FOLDS)))
    family: Any = plan.family
    return [HeldOut(fold, statistics.without(family.observe(fold, kernels))) for fold in folds]


def _blocks(sample: Sample, batch: Batch) -> Array | None:
    """Rows that leave together; where there are many groups, several are one block."""
    groups = sample.groups
    if groups is None or groups.max(initial=0) == 0:
        return None  # without the only group, nothing would be left
    return groups if groups.max() < _MOST_BLOCKS else group_folds(batch.classes, groups, _MOST_BLOCKS)


def alphas(
    plan: BoundSpec, state: State, seen: TrainingRows, subsets: list[Array], kernels: Kernels
) -> list[float | Floats]:
    from .smoothing import by_leave_one_out

    offset = _bare(plan, state, None).offset_for(state.rows)
    if seen.blocks is not None:
        # Each block would be scored again for every α and column.
        seen = seen._replace(blocks=group_folds(seen.batch.classes, seen.blocks))
    return by_leave_one_out(plan.family, state.statistics, seen, offset, subsets, kernels)


def scores_left_out(
    plan: BoundSpec,
    state: State,
    seen: TrainingRows,
    alpha: float | Floats | None,
    kernels: Kernels,
) -> tuple[Floats, Floats | None]:
    """Log posteriors with the row or its block left out, not calibrated, and how much evidence the rows hold."""
    from .leave_one_out import left_out_scores

    batch = seen.batch if seen.blocks is None else seen.with_all_copies()
    scores = left_out_scores(_bare(plan, state, alpha), batch, seen.blocks, kernels)
    return scores, plan.family.amount(seen.batch.data)


def _bare(plan: BoundSpec, state: State, alpha: float | Floats | None) -> Classifier:
    from .classifier import Classifier

    family = plan.family if alpha is None else plan.family.with_alpha(alpha)
    how = None if alpha is not None or plan.alpha == "loo" else plan.alpha
    prior = plan.prior.as_in_training if plan.corrects else plan.prior
    bare = replace(plan, family=family, prior=prior, alpha=how, calibrate=None, order=None, target=None)
    return Classifier(bare, state)
